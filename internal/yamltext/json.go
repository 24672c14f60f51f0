package yamltext

import (
	"bytes"
	"encoding/json"
	"regexp"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

// jsonEscape matches an escape, and in its group what readers of YAML do not know of
// JSON's: surrogates, whole pairs first, and \/.
var jsonEscape = regexp.MustCompile(`(?s)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\/)|\\.`)

// hasJSONEscapes reports whether a document is JSON, so that kubectl reads it as such,
// and has escapes that YAML has not.
func hasJSONEscapes(document []byte) bool {
	if !bytes.Contains(document, []byte(`\u`)) && !bytes.Contains(document, []byte(`\/`)) || !json.Valid(bytes.TrimPrefix(document, bom)) {
		return false
	}
	for _, m := range jsonEscape.FindAllSubmatchIndex(document, -1) {
		if m[2] >= 0 {
			return true
		}
	}
	return false
}

// replaceJSONEscapes puts something else in place of the escapes that YAML has not.
func replaceJSONEscapes(text []byte, by func(escape []byte) []byte) []byte {
	return jsonEscape.ReplaceAllFunc(text, func(escape []byte) []byte {
		if jsonEscape.FindSubmatch(escape)[1] == nil {
			return escape
		}
		return by(escape)
	})
}

// sameLength returns the text of such a document as YAML: with other strings, but
// everything at its place.
func sameLength(text []byte) []byte {
	return replaceJSONEscapes(text, func(escape []byte) []byte { return bytes.Repeat([]byte(`\\`), len(escape)/2) })
}

// sameStrings returns the text of such a document as YAML with the same strings. Half a
// pair is U+FFFD.
func sameStrings(text []byte) []byte {
	return replaceJSONEscapes(text, func(escape []byte) []byte {
		var s string
		_ = json.Unmarshal([]byte(`"`+string(escape)+`"`), &s) // it is valid
		return []byte(s)
	})
}

// restore gives the scalars of a JSON document, read with other strings, those that they
// have in its text.
func restore(root *yaml.Node, text []byte) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0 {
			token, err := decoder.Token()
			if err != nil {
				return // there are as many strings as such scalars
			}
			if s, ok := token.(string); ok {
				n.Value = s
				break
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
}

// JSON returns what kubectl reads in a document. It is not strict about keys that occur
// twice.
func JSON(document []byte) ([]byte, error) { return toJSON(document, sigs.YAMLToJSON) }

func toJSON(document []byte, read func([]byte) ([]byte, error)) ([]byte, error) {
	if hasJSONEscapes(document) {
		document = sameStrings(document)
	}
	return read(document)
}
