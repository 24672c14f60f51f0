package yamltext

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

type span struct{ start, end int }

// Span returns the byte range of a node of d. The range includes anchor and tag. It excludes a
// trailing comment and the line break. The range of an omitted value is empty and follows the
// indicator or key of the value.
//
// A literal or folded scalar ends with the text of its last line. If trailing line breaks are kept
// (|+), it ends before the last of them.
func (f *File) Span(d *Document, n *yaml.Node) (start, end int, err error) {
	d.once.Do(func() { f.walk(d) })
	s, ok := d.spans[n]
	switch {
	case ok:
		return s.start, s.end, nil
	case d.walkErr != nil:
		return 0, 0, d.walkErr
	}
	return 0, 0, errors.New("the node is not part of the document")
}

// EntrySpan returns the byte range of the entry whose key is mapping.Content[i]: from the start of
// the key, or of the ? before it, to the end of the value.
func (f *File) EntrySpan(d *Document, mapping *yaml.Node, i int) (start, end int, err error) {
	if mapping == nil || mapping.Kind != yaml.MappingNode || i < 0 || i%2 != 0 || i+1 >= len(mapping.Content) {
		return 0, 0, errors.New("no such entry")
	}
	key := mapping.Content[i]
	if start, _, err = f.Span(d, key); err != nil {
		return 0, 0, err
	}
	if mark, ok := d.marks[key]; ok {
		start = mark
	}
	_, end, err = f.Span(d, mapping.Content[i+1])
	return start, end, err
}

// walk computes the spans of all nodes of a document.
func (f *File) walk(d *Document) {
	d.spans = map[*yaml.Node]span{}
	d.marks = map[*yaml.Node]int{}
	if d.Root == nil {
		return
	}
	w := &walker{f: f, d: d, src: f.Src[:d.End], pos: d.Start}
	w.mark.line, w.mark.column = f.Position(d.Start)
	if w.hasPrefix(string(bom)) {
		w.pos += len(bom)
	}
	w.mark.pos = w.pos
	d.walkErr = w.document()
}

// walker follows the nodes of a document through its text.
type walker struct {
	f    *File
	d    *Document
	src  []byte
	pos  int // all bytes before it are accounted for
	mark struct{ pos, line, column int }
}

func (w *walker) hasPrefix(s string) bool {
	return len(w.src)-w.pos >= len(s) && string(w.src[w.pos:w.pos+len(s)]) == s
}

// position returns the line and column of an offset. It continues from the previous offset, so that
// a walk over a very long line takes linear time.
func (w *walker) position(pos int) (line, column int) {
	m := &w.mark
	if pos < m.pos {
		return w.f.Position(pos)
	}
	for m.pos < pos {
		if n := breakLen(w.src, m.pos); n > 0 {
			m.pos, m.line, m.column = m.pos+n, m.line+1, 1
			continue
		}
		if w.src[m.pos]&0xC0 != 0x80 {
			m.column++
		}
		m.pos++
	}
	return m.line, m.column
}

// startsAt reports whether yaml.v3 records pos as the position of a node.
func (w *walker) startsAt(pos int, n *yaml.Node) bool {
	line, column := w.position(pos)
	return n.Line == line && n.Column == column
}

func (w *walker) fail(n *yaml.Node, format string, args ...any) error {
	line, column := w.position(w.pos)
	return fmt.Errorf("the text of the node at %d:%d could not be found: %s at %d:%d",
		n.Line, n.Column, fmt.Sprintf(format, args...), line, column)
}

// document walks the root and the text before and after it.
func (w *walker) document() error {
	root := w.d.Root
	for {
		w.pos = scanSpace(w.src, w.pos)
		if !w.hasPrefix("%") {
			break
		}
		w.pos = scanToBreak(w.src, w.pos)
	}
	if isMarker(w.src[w.pos:], "---") && !w.startsAt(w.pos, root) {
		w.pos += 3
	}
	if err := w.node(root, context{indent: -1}); err != nil {
		return err
	}
	w.pos = scanSpace(w.src, w.pos)
	if isMarker(w.src[w.pos:], "...") {
		w.pos = scanSpace(w.src, w.pos+3)
	}
	if w.pos != len(w.src) {
		return w.fail(root, "unexpected text")
	}
	return nil
}

// node walks one node.
func (w *walker) node(n *yaml.Node, in context) error {
	before := w.pos
	w.pos = scanSpace(w.src, w.pos)
	found := w.pos < len(w.src) && w.startsAt(w.pos, n)
	if isEmpty(n) && !(found && (w.src[w.pos] == '&' || w.src[w.pos] == '!')) {
		w.pos = before
		w.d.spans[n] = span{before, before}
		return nil
	}
	if !found {
		return w.fail(n, "something else")
	}
	start := w.pos
	// A block mapping begins at its first key. The anchor and tag there belong to the key. The same
	// is true for a pair in a flow sequence.
	bare := n.Kind == yaml.MappingNode && len(n.Content) > 0 &&
		n.Content[0].Line == n.Line && n.Content[0].Column == n.Column
	if !bare {
		if err := w.properties(n, in); err != nil {
			return err
		}
	}
	var err error
	switch n.Kind {
	case yaml.ScalarNode:
		err = w.scalar(n, in)
	case yaml.AliasNode:
		err = w.alias(n)
	case yaml.MappingNode:
		err = w.mapping(n, in, bare)
	case yaml.SequenceNode:
		err = w.sequence(n, in)
	default:
		err = w.fail(n, "unknown kind %d", n.Kind)
	}
	if err == nil {
		w.d.spans[n] = span{start, w.pos}
	}
	return err
}

// isEmpty reports whether a scalar has no text.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&quotedStyle == 0
}

// properties skips a node's anchor and tag, and the space after them. An empty scalar ends with its
// properties.
func (w *walker) properties(n *yaml.Node, in context) error {
	start, anchor, tag := w.pos, n.Anchor == "", false
	for end := w.pos; ; end = w.pos {
		next := scanSpace(w.src, end)
		switch {
		case next == len(w.src):
		case len(n.Content) > 0 && w.startsAt(next, n.Content[0]): // the properties belong to the first key
		case w.src[next] == '&' && !anchor:
			w.pos = next
			if !w.hasPrefix("&" + n.Anchor) {
				return w.fail(n, "another anchor")
			}
			w.pos += 1 + len(n.Anchor)
			anchor = true
			continue
		case w.src[next] == '!' && !tag && (next == start || !isEmpty(n) || w.inside(next, in)):
			for w.pos = next; !isBlankOrEnd(w.src, w.pos); {
				w.pos++
			}
			tag = true
			continue
		}
		if !anchor {
			return w.fail(n, "no anchor")
		}
		if !isEmpty(n) {
			w.pos = next
		}
		return nil
	}
}

// inside reports whether text at pos can belong to a node in a block. Otherwise it is the next
// entry of the block.
func (w *walker) inside(pos int, in context) bool {
	_, column := w.position(pos)
	return in.flow || column-1 > in.indent
}
