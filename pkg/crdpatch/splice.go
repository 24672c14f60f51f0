package crdpatch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// text editing: what to cut to take an entry out of a collection, and where and
// how to put one in, so that one undoes the other to the byte.

// span is a range of bytes.
type span struct{ start, end int }

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// entries returns the ranges of the entries of a mapping, or of the items of a
// sequence.
func (d *document) entries(n *yaml.Node) ([]span, error) {
	var l []span
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i+step <= len(n.Content); i += step {
		var s span
		var err error
		if step == 2 {
			s.start, s.end, err = d.EntrySpan(d.Document, n, i)
		} else {
			s.start, s.end, err = d.Span(d.Document, n.Content[i])
		}
		if err != nil {
			return nil, err
		}
		l = append(l, s)
	}
	return l, nil
}

// cut returns the range to delete to take a run of entries, first to last, out
// of collection n: whole lines in block style, with one comma in flow style.
func (d *document) cut(n *yaml.Node, first, last int) (span, error) {
	l, err := d.entries(n)
	if err != nil {
		return span{}, err
	}
	s := span{l[first].start, l[last].end}
	if isFlow(n) {
		switch {
		case last+1 < len(l):
			s.end = l[last+1].start
		case first > 0:
			s.start = l[first-1].end
		}
		return s, nil
	}
	if n.Kind == yaml.SequenceNode {
		s.start = d.dash(s.start)
	}
	line := d.lineStart(s.start)
	if len(bytes.TrimLeft(d.Src[line:s.start], " ")) > 0 {
		return span{}, fmt.Errorf("something precedes it on its line")
	}
	return span{line, d.lineEnd(s.end)}, nil
}

// dash is the offset of the - before a block sequence's item.
func (d *document) dash(item int) int { return bytes.LastIndexByte(d.Src[:item], '-') }

// indentation is how far the entries of a block collection are indented.
func (d *document) indentation(n *yaml.Node, l []span) int {
	at := l[0].start
	if n.Kind == yaml.SequenceNode {
		at = d.dash(at)
	}
	return at - d.lineStart(at)
}

func (d *document) lineStart(at int) int { return bytes.LastIndexByte(d.Src[:at], '\n') + 1 }

// lineEnd is the offset after the line break of the line that holds at.
func (d *document) lineEnd(at int) int {
	if i := bytes.IndexByte(d.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.Src)
}

// newline is the line break in use.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lines joins whole lines.
func (d *document) lines(l []string) string {
	nl := newline(d.Src)
	return strings.Join(l, nl) + nl
}

// put returns the edit that adds an entry at the end of collection n, a mapping
// or a sequence. empty says how an empty flow collection is filled.
func (d *document) put(n *yaml.Node, e entry) (yamltext.Edit, error) {
	l, err := d.entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	start, _, err := d.Span(d.Document, n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if !isFlow(n) {
		at := d.lineEnd(l[len(l)-1].end)
		return yamltext.Edit{Start: at, End: at, New: d.lines(e.block(d.indentation(n, l)))}, nil
	}
	if len(l) == 0 {
		at := start + bytes.IndexAny(d.Src[start:], "{[") + 1
		return yamltext.Edit{Start: at, End: at, New: e.flow(layout{tight: d.tight()})}, nil
	}
	at, lay := l[len(l)-1].end, d.layout(n, l)
	return yamltext.Edit{Start: at, End: at, New: d.broken(lay.comma() + e.flow(lay))}, nil
}

// broken returns text with the line breaks in use.
func (d *document) broken(text string) string { return strings.ReplaceAll(text, "\n", newline(d.Src)) }

// layout tells how a flow collection with entries l is laid out: on lines of
// their own, if the last one starts a line that the collection does not.
func (d *document) layout(n *yaml.Node, l []span) layout {
	blank := func(at int) (string, bool) {
		before := string(d.Src[d.lineStart(at):at])
		return before, strings.Trim(before, " \t") == ""
	}
	indent, multiline := blank(l[len(l)-1].start)
	start, end, err := d.Span(d.Document, n)
	if !multiline || len(l) == 1 && d.lineStart(l[0].start) == d.lineStart(start) {
		return layout{tight: d.tight()}
	}
	unit := "  "
	if outer, alone := blank(end - 1); err == nil && alone && strings.HasPrefix(indent, outer) && len(outer) < len(indent) {
		unit = indent[len(outer):]
	}
	return layout{indent: indent, unit: unit}
}

// tight reports whether the document is written without spaces.
func (d *document) tight() bool {
	root := d.Root
	if !isFlow(root) || len(root.Content) == 0 {
		return false
	}
	_, end, err := d.Span(d.Document, root.Content[0])
	return err == nil && bytes.HasPrefix(d.Src[end:], []byte(":")) && len(bytes.TrimLeft(d.Src[end+1:end+2], " \t\r\n")) > 0
}

// replaceEntry returns the edit that puts entries, if any, where another one, at
// index i of mapping n, is cut out. cutting is what d.cut returned for it.
func (d *document) replaceEntry(n *yaml.Node, i int, cutting span, entries []entry) (yamltext.Edit, error) {
	if len(entries) == 0 {
		return yamltext.Edit{Start: cutting.start, End: cutting.end}, nil
	}
	l, err := d.entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	old := l[i]
	if !isFlow(n) {
		var lines []string
		for _, e := range entries {
			lines = append(lines, e.block(d.indentation(n, l))...)
		}
		return yamltext.Edit{Start: cutting.start, End: cutting.end, New: d.lines(lines)}, nil
	}
	lay := d.layout(n, l)
	var texts []string
	for _, e := range entries {
		texts = append(texts, e.flow(lay))
	}
	text := d.broken(strings.Join(texts, lay.comma()))
	return yamltext.Edit{Start: cutting.start, End: cutting.end,
		New: string(d.Src[cutting.start:old.start]) + text + string(d.Src[old.end:cutting.end])}, nil
}

// cutRuns returns the edits that take entries of a collection out, given in ascending
// order: one for those that follow each other.
func (d *document) cutRuns(n *yaml.Node, indices []int) ([]yamltext.Edit, error) {
	var cuts []yamltext.Edit
	for i := 0; i < len(indices); {
		j := i
		for j+1 < len(indices) && indices[j+1] == indices[j]+1 {
			j++
		}
		cut, err := d.cut(n, indices[i], indices[j])
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, yamltext.Edit{Start: cut.start, End: cut.end})
		i = j + 1
	}
	return cuts, nil
}

// afterKey is the range from after the colon of a key to the end of its value.
func (d *document) afterKey(key, value *yaml.Node) (span, error) {
	_, end, err := d.Span(d.Document, key)
	if err != nil {
		return span{}, err
	}
	_, last, err := d.Span(d.Document, value)
	if err != nil {
		return span{}, err
	}
	colon := bytes.IndexByte(d.Src[end:last], ':')
	if colon < 0 {
		return span{}, errors.New("the key has no colon")
	}
	return span{end + colon + 1, last}, nil
}

// dashOf is how much a list in block style is indented below its key.
func (d *document) dashOf(key, value *yaml.Node) (int, bool) {
	if value.Kind != yaml.SequenceNode || isFlow(value) || value.Anchor != "" {
		return 0, false
	}
	k, _, err := d.Span(d.Document, key)
	if err != nil {
		return 0, false
	}
	v, _, err := d.Span(d.Document, value)
	if err != nil || d.lineStart(k) == d.lineStart(v) {
		return 0, false
	}
	return v - d.lineStart(v) - (k - d.lineStart(k)), true
}

// firstDash is how much the first list in block style at n or below is indented.
func (d *document) firstDash(n *yaml.Node, depth int) (int, bool) {
	if depth > 64 {
		return 0, false
	}
	for i, v := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			if dash, ok := d.dashOf(n.Content[i-1], v); ok {
				return dash, true
			}
		}
		if dash, ok := d.firstDash(v, depth+1); ok {
			return dash, true
		}
	}
	return 0, false
}
