package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// Text is a document whose text is edited: its methods say what to cut to take an
// entry out of a collection, and where and how to put one in, so that one undoes the
// other to the byte. What they return is for [yamltext.Apply].
type Text struct {
	*yamltext.File
	*yamltext.Document
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// IsFlow reports whether a collection is written in flow style.
func IsFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// Entries returns the ranges of the entries of a mapping, or of the items of a
// sequence.
func (d Text) Entries(n *yaml.Node) ([]Span, error) {
	var l []Span
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i := 0; i+step <= len(n.Content); i += step {
		var s Span
		var err error
		if step == 2 {
			s.Start, s.End, err = d.EntrySpan(d.Document, n, i)
		} else {
			s.Start, s.End, err = d.Span(d.Document, n.Content[i])
		}
		if err != nil {
			return nil, err
		}
		l = append(l, s)
	}
	return l, nil
}

// Cut returns the range to delete to take a run of entries, first to last, out
// of collection n: whole lines in block style, with one comma in flow style.
func (d Text) Cut(n *yaml.Node, first, last int) (Span, error) {
	l, err := d.Entries(n)
	if err != nil {
		return Span{}, err
	}
	s := Span{l[first].Start, l[last].End}
	if IsFlow(n) {
		switch {
		case last+1 < len(l):
			s.End = l[last+1].Start
		case first > 0:
			s.Start = l[first-1].End
		}
		return s, nil
	}
	if n.Kind == yaml.SequenceNode {
		s.Start = d.dash(s.Start)
	}
	line := d.LineStart(s.Start)
	if len(bytes.TrimLeft(d.Src[line:s.Start], " ")) > 0 {
		return Span{}, fmt.Errorf("something precedes it on its line")
	}
	return Span{line, d.LineEnd(s.End)}, nil
}

// dash is the offset of the - before a block sequence's item.
func (d Text) dash(item int) int { return bytes.LastIndexByte(d.Src[:item], '-') }

// Indentation is how far the entries of a block collection are indented.
func (d Text) Indentation(n *yaml.Node, l []Span) int {
	at := l[0].Start
	if n.Kind == yaml.SequenceNode {
		at = d.dash(at)
	}
	return at - d.LineStart(at)
}

// LineStart is the offset of the first byte of the line that holds at.
func (d Text) LineStart(at int) int { return bytes.LastIndexByte(d.Src[:at], '\n') + 1 }

// LineEnd is the offset after the line break of the line that holds at.
func (d Text) LineEnd(at int) int {
	if i := bytes.IndexByte(d.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.Src)
}

// Newline is the line break in use.
func Newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Lines joins whole lines.
func (d Text) Lines(l []string) string {
	nl := Newline(d.Src)
	return strings.Join(l, nl) + nl
}

// Replace returns the edits that take entries, given in ascending order, out of mapping n,
// and put others in. All changes to the entries of a mapping belong in one call: in flow
// style an entry that is taken out takes along a comma. The mapping becomes {} when no entry
// is left.
func (d Text) Replace(n *yaml.Node, out []int, in ...Entry) ([]yamltext.Edit, error) {
	l, err := d.Entries(n)
	if err != nil || len(out)+len(in) == 0 {
		return nil, err
	}
	if len(out) == 0 {
		put, err := d.Put(n, in...)
		return []yamltext.Edit{put}, err
	}
	run, all := firstRun(out), len(out) == len(l)
	first, last := l[out[0]], l[out[run-1]]
	var edits []yamltext.Edit
	switch {
	case IsFlow(n) && len(in) > 0:
		edits, out, in = append(edits, yamltext.Edit{Start: first.Start, End: last.End, New: d.flow(n, l, in)}), out[run:], nil
	case IsFlow(n):
	case all && len(in) > 0:
		indent := d.Indentation(n, l)
		return []yamltext.Edit{{Start: first.Start, End: d.LineEnd(last.End), New: d.block(indent, in)[indent:]}}, nil
	case all:
		if before := bytes.TrimRight(d.Src[:first.Start], " \r\n"); bytes.HasSuffix(before, []byte(":")) {
			return []yamltext.Edit{{Start: len(before), End: last.End, New: " {}"}}, nil
		}
		return []yamltext.Edit{{Start: first.Start, End: last.End, New: "{}"}}, nil
	case out[0] == 0 && len(bytes.TrimLeft(d.Src[d.LineStart(first.Start):first.Start], " ")) > 0:
		// The first entries stand behind the dash of a list's item: the next entry moves there.
		end := d.LineEnd(last.End)
		end += len(d.Src[end:]) - len(bytes.TrimLeft(d.Src[end:], " \r\n"))
		edits, out = append(edits, yamltext.Edit{Start: first.Start, End: end}), out[run:]
	}
	cuts, err := d.CutRuns(n, out)
	if edits = append(edits, cuts...); err != nil || len(in) == 0 {
		return edits, err
	}
	put, err := d.Put(n, in...)
	return append(edits, put), err
}

// firstRun is how many of the first indices follow each other.
func firstRun(indices []int) int {
	n := 1
	for n < len(indices) && indices[n] == indices[0]+n {
		n++
	}
	return n
}

// Put returns the edit that adds entries at the end of collection n, a mapping
// or a sequence.
func (d Text) Put(n *yaml.Node, in ...Entry) (yamltext.Edit, error) {
	l, err := d.Entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	start, _, err := d.Span(d.Document, n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if !IsFlow(n) {
		at := d.LineEnd(l[len(l)-1].End)
		return yamltext.Edit{Start: at, End: at, New: d.block(d.Indentation(n, l), in)}, nil
	}
	if len(l) == 0 {
		at := start + bytes.IndexAny(d.Src[start:], "{[") + 1
		return yamltext.Edit{Start: at, End: at, New: d.flow(n, l, in)}, nil
	}
	at := l[len(l)-1].End
	return yamltext.Edit{Start: at, End: at, New: d.Broken(d.LayoutOf(n, l).comma()) + d.flow(n, l, in)}, nil
}

// block renders entries as lines in block style.
func (d Text) block(indent int, in []Entry) string {
	var lines []string
	for _, e := range in {
		lines = append(lines, e.Block(indent)...)
	}
	return d.Lines(lines)
}

// flow renders entries for flow collection n, which has entries l.
func (d Text) flow(n *yaml.Node, l []Span, in []Entry) string {
	lay := d.LayoutOf(n, l)
	var texts []string
	for _, e := range in {
		e.Plain = e.Plain && plain(n)
		texts = append(texts, e.Flow(lay))
	}
	return d.Broken(strings.Join(texts, lay.comma()))
}

// plain reports whether the keys of a mapping have no quotes.
func plain(n *yaml.Node) bool {
	return len(n.Content) > 0 && n.Content[0].Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// Broken returns text with the line breaks in use.
func (d Text) Broken(text string) string { return strings.ReplaceAll(text, "\n", Newline(d.Src)) }

// LayoutOf tells how a flow collection with entries l is laid out: on lines of
// their own, if the last one starts a line that the collection does not.
func (d Text) LayoutOf(n *yaml.Node, l []Span) Layout {
	blank := func(at int) (string, bool) {
		before := string(d.Src[d.LineStart(at):at])
		return before, strings.Trim(before, " \t") == ""
	}
	if len(l) == 0 {
		return Layout{Tight: d.Tight()}
	}
	indent, multiline := blank(l[len(l)-1].Start)
	start, end, err := d.Span(d.Document, n)
	if !multiline || len(l) == 1 && d.LineStart(l[0].Start) == d.LineStart(start) {
		return Layout{Tight: d.Tight()}
	}
	unit := "  "
	if outer, alone := blank(end - 1); err == nil && alone && strings.HasPrefix(indent, outer) && len(outer) < len(indent) {
		unit = indent[len(outer):]
	}
	return Layout{indent: indent, unit: unit}
}

// Tight reports whether the document is written without spaces.
func (d Text) Tight() bool {
	root := d.Root
	if !IsFlow(root) || len(root.Content) == 0 {
		return false
	}
	_, end, err := d.Span(d.Document, root.Content[0])
	return err == nil && bytes.HasPrefix(d.Src[end:], []byte(":")) && len(bytes.TrimLeft(d.Src[end+1:end+2], " \t\r\n")) > 0
}

// ReplaceEntry returns the edit that puts entries, if any, where another one, at
// index i of mapping n, is cut out. cutting is what d.cut returned for it.
func (d Text) ReplaceEntry(n *yaml.Node, i int, cutting Span, entries []Entry) (yamltext.Edit, error) {
	if len(entries) == 0 {
		return yamltext.Edit{Start: cutting.Start, End: cutting.End}, nil
	}
	l, err := d.Entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	old := l[i]
	if !IsFlow(n) {
		return yamltext.Edit{Start: cutting.Start, End: cutting.End, New: d.block(d.Indentation(n, l), entries)}, nil
	}
	text := d.flow(n, l, entries)
	return yamltext.Edit{Start: cutting.Start, End: cutting.End,
		New: string(d.Src[cutting.Start:old.Start]) + text + string(d.Src[old.End:cutting.End])}, nil
}

// CutRuns returns the edits that take entries of a collection out, given in ascending
// order: one for those that follow each other.
func (d Text) CutRuns(n *yaml.Node, indices []int) ([]yamltext.Edit, error) {
	var cuts []yamltext.Edit
	for len(indices) > 0 {
		run := firstRun(indices)
		cut, err := d.Cut(n, indices[0], indices[run-1])
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, yamltext.Edit{Start: cut.Start, End: cut.End})
		indices = indices[run:]
	}
	return cuts, nil
}

// SetValue returns the edit that gives the entry at an index of mapping n another value.
func (d Text) SetValue(n *yaml.Node, index int, value *yaml.Node) (yamltext.Edit, error) {
	start, end, err := d.Span(d.Document, n.Content[2*index+1])
	text := JSON(value)
	if !IsFlow(n) && value.Kind == yaml.ScalarNode {
		text = Scalar(value)
	}
	if start == end { // a null that is not written
		text = " " + text
		if !bytes.HasSuffix(bytes.TrimRight(d.Src[:start], " "), []byte(":")) {
			text = ":" + text
		}
	}
	return yamltext.Edit{Start: start, End: end, New: text}, err
}

// AfterKey is the range from after the colon of a key to the end of its value.
func (d Text) AfterKey(key, value *yaml.Node) (Span, error) {
	_, end, err := d.Span(d.Document, key)
	if err != nil {
		return Span{}, err
	}
	_, last, err := d.Span(d.Document, value)
	if err != nil {
		return Span{}, err
	}
	colon := bytes.IndexByte(d.Src[end:last], ':')
	if colon < 0 {
		return Span{}, errors.New("the key has no colon")
	}
	return Span{end + colon + 1, last}, nil
}

// DashOf is how much a list in block style is indented below its key.
func (d Text) DashOf(key, value *yaml.Node) (int, bool) {
	if value.Kind != yaml.SequenceNode || IsFlow(value) || value.Anchor != "" {
		return 0, false
	}
	k, _, err := d.Span(d.Document, key)
	if err != nil {
		return 0, false
	}
	v, _, err := d.Span(d.Document, value)
	if err != nil || d.LineStart(k) == d.LineStart(v) {
		return 0, false
	}
	dash := v - d.LineStart(v) - (k - d.LineStart(k))
	return dash, dash >= 0 // a key after ? may be further right than its list
}

// FirstDash is how much the first list in block style at n or below is indented.
func (d Text) FirstDash(n *yaml.Node, depth int) (int, bool) {
	if depth > 64 {
		return 0, false
	}
	for i, v := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			if dash, ok := d.DashOf(n.Content[i-1], v); ok {
				return dash, true
			}
		}
		if dash, ok := d.FirstDash(v, depth+1); ok {
			return dash, true
		}
	}
	return 0, false
}

// Apply is [yamltext.Apply] for edits that also add lines at the end of a text whose
// last line has no line break; then that of the result has none.
func Apply(src []byte, edits []yamltext.Edit) ([]byte, error) {
	nl := Newline(src)
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return yamltext.Apply(src, edits)
	}
	edits = slices.Clone(edits)
	for i, e := range edits {
		if e.Start == len(src) && strings.HasSuffix(e.New, nl) {
			edits[i].New = nl + strings.TrimSuffix(e.New, nl)
		}
	}
	return yamltext.Apply(src, edits)
}
