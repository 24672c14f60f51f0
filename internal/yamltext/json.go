package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigs "sigs.k8s.io/yaml"
)

// JSON is not a subset of YAML in practice: it has its own escapes, keys of any length, and streams
// without separators. This package therefore reads JSON documents as JSON, like kubectl.

// isJSON reports whether a document is a JSON object or array.
func isJSON(document []byte) bool {
	document = bytes.TrimPrefix(document, bom)
	return beginsJSON(document) && json.Valid(document)
}

func beginsJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// jsonDocuments returns the documents of a chunk that is a stream of JSON objects and arrays. For
// other chunks it returns nil.
func (f *File) jsonDocuments(c chunk) []*Document {
	text := f.Src[c.text:c.end]
	if !beginsJSON(text) {
		return nil
	}
	r := jsonReader{w: walker{f: f, src: f.Src}}
	r.w.mark.pos = c.text
	r.w.mark.line, r.w.mark.column = f.Position(c.text)
	var docs []*Document
	end := c.start
	for values := json.NewDecoder(bytes.NewReader(text)); ; {
		var value json.RawMessage
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil || !beginsJSON(value) {
			return nil
		}
		start := c.text + int(values.InputOffset()) - len(value)
		if len(docs) > 0 { // the rest of the last line belongs to a document, unless another document begins there
			if i := bytes.IndexByte(f.Src[end:start], '\n'); i >= 0 {
				end += i + 1
			} else {
				end = start
			}
			docs[len(docs)-1].End = end
		}
		r.base, r.text, r.tokens = start, value, json.NewDecoder(bytes.NewReader(value))
		r.tokens.UseNumber()
		docs = append(docs, &Document{Start: end, Root: r.next()})
		end = start + len(value)
	}
	docs[len(docs)-1].End = c.end
	return docs
}

// FromJSON converts a JSON object or array to nodes. They keep the order of keys and the quotes of
// strings, and have no positions.
func FromJSON(data []byte) (*yaml.Node, error) {
	if !isJSON(data) {
		return nil, errors.New("not a JSON object or array")
	}
	f, err := Parse(data)
	if err != nil {
		return nil, err
	}
	for n := range All(f.Docs[0].Root) {
		n.Style &^= yaml.FlowStyle
		n.Line, n.Column = 0, 0
	}
	return f.Docs[0].Root, nil
}

// jsonReader converts valid JSON to nodes.
type jsonReader struct {
	w      walker // computes positions
	base   int    // offset of the text in the file
	text   []byte
	tokens *json.Decoder
}

// next returns the next node, or nil at the end of a collection.
func (r *jsonReader) next() *yaml.Node {
	start := int(r.tokens.InputOffset())
	token, err := r.tokens.Token()
	if err != nil {
		return nil // end of input: the text is valid
	}
	for bytes.IndexByte([]byte(" \t\r\n,:"), r.text[start]) >= 0 {
		start++
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = r.w.position(r.base + start)
	switch v := token.(type) {
	case json.Delim:
		switch v {
		case '{':
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		case '[':
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		default:
			return nil
		}
		n.Style = yaml.FlowStyle
		for c := r.next(); c != nil; c = r.next() {
			n.Content = append(n.Content, c)
		}
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case json.Number:
		n.Value = v.String()
		n.Tag = n.ShortTag()
	}
	return n
}

// JSON returns the JSON that kubectl reads from a document. It accepts duplicate keys.
func JSON(document []byte) ([]byte, error) {
	if !isJSON(document) {
		return sigs.YAMLToJSON(document)
	}
	var v any
	if err := utiljson.Unmarshal(bytes.TrimPrefix(document, bom), &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
