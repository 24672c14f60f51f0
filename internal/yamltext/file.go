package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.yaml.in/yaml/v3"
)

// File is a parsed stream of YAML or JSON documents. JSON documents need no separator between them.
type File struct {
	Src  []byte
	Docs []*Document // contiguous ranges that cover Src

	lines []line
}

// Document is one document of a stream.
type Document struct {
	// Start and End delimit the document in Src, including directives, document markers (--- and
	// ...) and surrounding comments.
	Start, End int
	// Root is the content, or nil if the document contains only comments. Line numbers refer to the
	// whole file. Columns are 1-based and count characters.
	Root *yaml.Node

	read    sync.Once
	data    []byte
	value   any
	readErr error
	once    sync.Once
	spans   map[*yaml.Node]span
	marks   map[*yaml.Node]int // offset of the ? of an explicit key
	walkErr error
}

// Read returns the result of read. Only the first call of Read calls read.
func (d *Document) Read(read func() (data []byte, value any, err error)) (data []byte, value any, err error) {
	d.read.Do(func() { d.data, d.value, d.readErr = read() })
	return d.data, d.value, d.readErr
}

var bom = []byte("\uFEFF")

// Parse parses a stream. Its errors are [*SyntaxError]s.
func Parse(src []byte) (*File, error) {
	f := &File{Src: src}
	if bytes.HasPrefix(src, []byte("\xFF\xFE")) || bytes.HasPrefix(src, []byte("\xFE\xFF")) {
		return nil, &SyntaxError{Line: 1, Column: 1, Msg: "the file is encoded as UTF-16, not UTF-8"}
	}
	if err := f.scanLines(); err != nil {
		return nil, err
	}
	for _, c := range f.split() {
		if docs := f.jsonDocuments(c); docs != nil {
			f.Docs = append(f.Docs, docs...)
			continue
		}
		d := &Document{Start: c.start, End: c.end}
		if !c.empty {
			root, err := f.parseChunk(c)
			if err != nil {
				return nil, err
			}
			d.Root = root
		}
		f.Docs = append(f.Docs, d)
	}
	return f, nil
}

// chunk is the source range of one document.
type chunk struct {
	start, end int
	text       int // start of the text, after a BOM
	line       int // number of preceding lines
	empty      bool
}

// split splits the source at document markers. yaml.v3 could read the stream, but one malformed
// document would hide the positions of all later documents. It also rejects bare documents after an
// end marker.
func (f *File) split() []chunk {
	var chunks []chunk
	cur := chunk{empty: true}
	begun := false      // cur has a marker or content: another marker ends it
	directives := false // cur has directives, which require a marker
	begin := func(i, start int) {
		cur = chunk{start: start, text: start, line: i, empty: true}
		begun, directives = false, false
		if bytes.HasPrefix(f.Src[start:], bom) {
			cur.text += len(bom)
			f.lines[i].text = cur.text
		}
	}
	flush := func(end int) {
		cur.end = end
		cur.empty = cur.empty && (begun || !directives)
		chunks = append(chunks, cur)
	}
	begin(0, 0)
	for i := range f.lines {
		next := len(f.Src)
		if i+1 < len(f.lines) {
			next = f.lines[i+1].start
		}
		start := f.lines[i].start
		text := f.Src[f.lines[i].text:next]
		if marked := bytes.TrimPrefix(text, bom); isMarker(marked, "---") {
			if begun || len(marked) < len(text) {
				flush(start)
				begin(i, start)
			}
			begun = true
			cur.empty = cur.empty && isSpaceOrComment(marked[3:])
			continue
		}
		if isMarker(text, "...") {
			cur.empty = cur.empty && isSpaceOrComment(text[3:])
			flush(next)
			begin(min(i+1, len(f.lines)-1), next)
			continue
		}
		switch {
		case isSpaceOrComment(text):
		case !begun && text[0] == '%':
			directives = true
		default:
			begun, cur.empty = true, false
		}
	}
	if cur.start < len(f.Src) || len(chunks) == 0 {
		flush(len(f.Src))
	}
	return chunks
}

// isMarker reports whether a line is a document marker.
func isMarker(text []byte, marker string) bool {
	return len(text) >= 3 && string(text[:3]) == marker && isBlankOrEnd(text, 3)
}

// isSpaceOrComment reports whether the rest of a line is blank or a comment.
func isSpaceOrComment(text []byte) bool {
	i := 0
	for isBlank(text, i) {
		i++
	}
	return i == len(text) || text[i] == '#' || breakLen(text, i) > 0
}

// parseChunk parses one document and adjusts its nodes to the lines of the file.
func (f *File) parseChunk(c chunk) (*yaml.Node, error) {
	if c.text > c.start && bytes.HasPrefix(f.Src[c.text:], bom) {
		return nil, &SyntaxError{Line: c.line + 1, Column: 1, Msg: "found a second byte order mark"}
	}
	text := f.Src[c.text:c.end]
	root, err := decode(text)
	if err != nil {
		return nil, f.locate(c, text, err)
	}
	for n := range All(root) {
		n.Line += c.line
	}
	return root, nil
}

// decode parses one document with yaml.v3. It rejects text after the document.
func decode(text []byte) (root *yaml.Node, err error) {
	Parses.Add(1)
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("invalid YAML: %v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(&more); err == nil {
		return nil, errTrailing
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}
