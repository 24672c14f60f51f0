package crdpatch

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// text editing: what to cut to take an entry out of a collection, and where and
// how to put one in, so that one undoes the other to the byte.

// span is a range of bytes.
type span struct{ start, end int }

// textOf is a document's text, for planning edits.
type textOf struct {
	*yamltext.File
	doc *yamltext.Document
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// entries returns the ranges of the entries of a mapping, or of the items of a
// sequence.
func (t textOf) entries(n *yaml.Node) ([]span, error) {
	var l []span
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i+step <= len(n.Content); i += step {
		var s span
		var err error
		if step == 2 {
			s.start, s.end, err = t.EntrySpan(t.doc, n, i)
		} else {
			s.start, s.end, err = t.Span(t.doc, n.Content[i])
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
func (t textOf) cut(n *yaml.Node, first, last int) (span, error) {
	l, err := t.entries(n)
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
		s.start = t.dash(s.start)
	}
	line := t.lineStart(s.start)
	if len(bytes.TrimLeft(t.Src[line:s.start], " ")) > 0 {
		return span{}, fmt.Errorf("something stands before it on its line")
	}
	return span{line, t.lineEnd(s.end)}, nil
}

// dash is the offset of the - before a block sequence's item.
func (t textOf) dash(item int) int { return bytes.LastIndexByte(t.Src[:item], '-') }

// indentation is how far the entries of a block collection are indented.
func (t textOf) indentation(n *yaml.Node, l []span) int {
	at := l[0].start
	if n.Kind == yaml.SequenceNode {
		at = t.dash(at)
	}
	return at - t.lineStart(at)
}

func (t textOf) lineStart(at int) int { return bytes.LastIndexByte(t.Src[:at], '\n') + 1 }

// lineEnd is the offset behind the line break of the line that holds at.
func (t textOf) lineEnd(at int) int {
	if i := bytes.IndexByte(t.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.Src)
}

// newline is the line break in use.
func (t textOf) newline() string {
	if i := bytes.IndexByte(t.Src, '\n'); i > 0 && t.Src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lines joins whole lines.
func (t textOf) lines(l []string) string {
	nl := t.newline()
	return strings.Join(l, nl) + nl
}

// put returns the edit that adds an entry at the end of collection n, a mapping
// or a sequence. empty says how an empty flow collection is filled.
func (t textOf) put(n *yaml.Node, e entry) (yamltext.Edit, error) {
	l, err := t.entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	start, _, err := t.Span(t.doc, n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if !isFlow(n) {
		at := t.lineEnd(l[len(l)-1].end)
		return yamltext.Edit{Start: at, End: at, New: t.lines(e.block(t.indentation(n, l)))}, nil
	}
	if len(l) == 0 {
		at := start + bytes.IndexAny(t.Src[start:], "{[") + 1
		return yamltext.Edit{Start: at, End: at, New: e.flow(layout{tight: t.tight()})}, nil
	}
	at, lay := l[len(l)-1].end, t.layout(n, l)
	return yamltext.Edit{Start: at, End: at, New: t.broken(lay.comma() + e.flow(lay))}, nil
}

// broken returns text with the line breaks in use.
func (t textOf) broken(text string) string { return strings.ReplaceAll(text, "\n", t.newline()) }

// layout tells how a flow collection with entries l is laid out: on lines of
// their own, if the last one starts a line that the collection does not.
func (t textOf) layout(n *yaml.Node, l []span) layout {
	blank := func(at int) (string, bool) {
		before := string(t.Src[t.lineStart(at):at])
		return before, strings.Trim(before, " \t") == ""
	}
	indent, multiline := blank(l[len(l)-1].start)
	if !multiline || len(l) == 1 && t.lineStart(l[0].start) == t.lineStart(t.Offset(n.Line, n.Column)) {
		return layout{tight: t.tight()}
	}
	_, end, err := t.Span(t.doc, n)
	unit := "  "
	if outer, alone := blank(end - 1); err == nil && alone && strings.HasPrefix(indent, outer) && len(outer) < len(indent) {
		unit = indent[len(outer):]
	}
	return layout{indent: indent, unit: unit}
}

// tight reports whether the document is written without spaces.
func (t textOf) tight() bool {
	root := t.doc.Root
	if !isFlow(root) || len(root.Content) == 0 {
		return false
	}
	_, end, err := t.Span(t.doc, root.Content[0])
	return err == nil && bytes.HasPrefix(t.Src[end:], []byte(":")) && len(bytes.TrimLeft(t.Src[end+1:end+2], " \t\r\n")) > 0
}

// replaceEntry returns the edit that puts entries, if any, where another one, at
// index i of mapping n, is cut out. cutting is what t.cut returned for it.
func (t textOf) replaceEntry(n *yaml.Node, i int, cutting span, entries []entry) (yamltext.Edit, error) {
	if len(entries) == 0 {
		return yamltext.Edit{Start: cutting.start, End: cutting.end}, nil
	}
	l, err := t.entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	old := l[i]
	if !isFlow(n) {
		var lines []string
		for _, e := range entries {
			lines = append(lines, e.block(t.indentation(n, l))...)
		}
		return yamltext.Edit{Start: cutting.start, End: cutting.end, New: t.lines(lines)}, nil
	}
	lay := t.layout(n, l)
	var texts []string
	for _, e := range entries {
		texts = append(texts, e.flow(lay))
	}
	text := t.broken(strings.Join(texts, lay.comma()))
	return yamltext.Edit{Start: cutting.start, End: cutting.end,
		New: string(t.Src[cutting.start:old.start]) + text + string(t.Src[old.end:cutting.end])}, nil
}
