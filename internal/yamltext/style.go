package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EditedText is a document whose text is edited. Its methods return ranges and edits for [Apply]
// that remove entries from a collection or add them. Removing an added entry restores every byte.
type EditedText struct {
	*File
	*Document
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// IsFlow reports whether a collection is written in flow style.
func IsFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// Entries returns the ranges of the entries of a mapping or the items of a sequence.
func (d EditedText) Entries(n *yaml.Node) ([]Span, error) {
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

// Cut returns the range to delete for removing the entries first to last from collection n: whole
// lines in block style, and the entries with one comma in flow style.
func (d EditedText) Cut(n *yaml.Node, first, last int) (Span, error) {
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

// dash returns the offset of the dash before an item of a block sequence.
func (d EditedText) dash(item int) int { return bytes.LastIndexByte(d.Src[:item], '-') }

// Indentation returns the indentation of the entries of a block collection.
func (d EditedText) Indentation(n *yaml.Node, l []Span) int {
	at := l[0].Start
	if n.Kind == yaml.SequenceNode {
		at = d.dash(at)
	}
	return at - d.LineStart(at)
}

// LineStart returns the offset of the first byte of the line that contains at.
func (d EditedText) LineStart(at int) int { return bytes.LastIndexByte(d.Src[:at], '\n') + 1 }

// LineEnd returns the offset after the line break of the line that contains at.
func (d EditedText) LineEnd(at int) int {
	if i := bytes.IndexByte(d.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.Src)
}

// Newline returns the line break that src uses.
func Newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Lines joins whole lines.
func (d EditedText) Lines(l []string) string {
	nl := Newline(d.Src)
	return strings.Join(l, nl) + nl
}

// Replace returns the edits that remove entries from mapping n, given in ascending order, and add
// new entries. All changes to a mapping must be in one call, because in flow style each removed
// entry takes a comma with it. A mapping without entries becomes {}.
func (d EditedText) Replace(n *yaml.Node, out []int, in ...NewEntry) ([]Edit, error) {
	l, err := d.Entries(n)
	if err != nil || len(out)+len(in) == 0 {
		return nil, err
	}
	if len(out) == 0 {
		put, err := d.Put(n, in...)
		return []Edit{put}, err
	}
	run, all := firstRun(out), len(out) == len(l)
	first, last := l[out[0]], l[out[run-1]]
	var edits []Edit
	switch {
	case IsFlow(n) && len(in) > 0:
		edits, out, in = append(edits, Edit{Start: first.Start, End: last.End, New: d.flow(n, l, in)}), out[run:], nil
	case IsFlow(n):
	case all && len(in) > 0:
		indent := d.Indentation(n, l)
		return []Edit{{Start: first.Start, End: d.LineEnd(last.End), New: d.block(indent, in)[indent:]}}, nil
	case all:
		if before := bytes.TrimRight(d.Src[:first.Start], " \r\n"); bytes.HasSuffix(before, []byte(":")) {
			return []Edit{{Start: len(before), End: last.End, New: " {}"}}, nil
		}
		return []Edit{{Start: first.Start, End: last.End, New: "{}"}}, nil
	case out[0] == 0 && len(bytes.TrimLeft(d.Src[d.LineStart(first.Start):first.Start], " ")) > 0:
		// The first entries follow the dash of a list item. The next entry moves to this position.
		end := d.LineEnd(last.End)
		end += len(d.Src[end:]) - len(bytes.TrimLeft(d.Src[end:], " \r\n"))
		edits, out = append(edits, Edit{Start: first.Start, End: end}), out[run:]
	}
	cuts, err := d.CutRuns(n, out)
	if edits = append(edits, cuts...); err != nil || len(in) == 0 {
		return edits, err
	}
	put, err := d.Put(n, in...)
	return append(edits, put), err
}

// firstRun returns the number of consecutive indices at the start.
func firstRun(indices []int) int {
	n := 1
	for n < len(indices) && indices[n] == indices[0]+n {
		n++
	}
	return n
}

// Put returns the edit that adds entries at the end of collection n, a mapping or a sequence.
func (d EditedText) Put(n *yaml.Node, in ...NewEntry) (Edit, error) {
	l, err := d.Entries(n)
	if err != nil {
		return Edit{}, err
	}
	start, _, err := d.Span(d.Document, n)
	if err != nil {
		return Edit{}, err
	}
	if !IsFlow(n) {
		at := d.LineEnd(l[len(l)-1].End)
		return Edit{Start: at, End: at, New: d.block(d.Indentation(n, l), in)}, nil
	}
	if len(l) == 0 {
		at := start + bytes.IndexAny(d.Src[start:], "{[") + 1
		return Edit{Start: at, End: at, New: d.flow(n, l, in)}, nil
	}
	at := l[len(l)-1].End
	return Edit{Start: at, End: at, New: d.Broken(d.LayoutOf(n, l).comma()) + d.flow(n, l, in)}, nil
}

// block renders entries as lines in block style.
func (d EditedText) block(indent int, in []NewEntry) string {
	var lines []string
	for _, e := range in {
		lines = append(lines, e.Block(indent)...)
	}
	return d.Lines(lines)
}

// flow renders entries for flow collection n, whose current entries are l.
func (d EditedText) flow(n *yaml.Node, l []Span, in []NewEntry) string {
	lay := d.LayoutOf(n, l)
	var texts []string
	for _, e := range in {
		e.Plain = e.Plain && plain(n)
		texts = append(texts, e.Flow(lay))
	}
	return d.Broken(strings.Join(texts, lay.comma()))
}

// plain reports whether the keys of a mapping are unquoted.
func plain(n *yaml.Node) bool {
	return len(n.Content) > 0 && n.Content[0].Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// Broken returns text with the line breaks of the document.
func (d EditedText) Broken(text string) string { return strings.ReplaceAll(text, "\n", Newline(d.Src)) }

// LayoutOf returns the layout of a flow collection with entries l. The entries are on separate
// lines if the last entry starts a line and the collection does not start on that line.
func (d EditedText) LayoutOf(n *yaml.Node, l []Span) Layout {
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

// Tight reports whether the document is compact JSON.
func (d EditedText) Tight() bool {
	root := d.Root
	if !IsFlow(root) || len(root.Content) == 0 {
		return false
	}
	_, end, err := d.Span(d.Document, root.Content[0])
	return err == nil && bytes.HasPrefix(d.Src[end:], []byte(":")) && len(bytes.TrimLeft(d.Src[end+1:end+2], " \t\r\n")) > 0
}

// ReplaceEntry returns the edit that replaces the entry at index i of mapping n with entries, which
// may be empty. cutting is the result of Cut for the entry.
func (d EditedText) ReplaceEntry(n *yaml.Node, i int, cutting Span, entries ...NewEntry) (Edit, error) {
	if len(entries) == 0 {
		return Edit{Start: cutting.Start, End: cutting.End}, nil
	}
	l, err := d.Entries(n)
	if err != nil {
		return Edit{}, err
	}
	old := l[i]
	if !IsFlow(n) {
		return Edit{Start: cutting.Start, End: cutting.End, New: d.block(d.Indentation(n, l), entries)}, nil
	}
	text := d.flow(n, l, entries)
	return Edit{Start: cutting.Start, End: cutting.End,
		New: string(d.Src[cutting.Start:old.Start]) + text + string(d.Src[old.End:cutting.End])}, nil
}

// CutRuns returns the edits that remove entries from a collection, given in ascending order, with
// one edit for each run of consecutive entries.
func (d EditedText) CutRuns(n *yaml.Node, indices []int) ([]Edit, error) {
	var cuts []Edit
	for len(indices) > 0 {
		run := firstRun(indices)
		cut, err := d.Cut(n, indices[0], indices[run-1])
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, Edit{Start: cut.Start, End: cut.End})
		indices = indices[run:]
	}
	return cuts, nil
}

// SetValue returns the edit that replaces the value of the entry at an index of mapping n.
func (d EditedText) SetValue(n *yaml.Node, index int, value *yaml.Node) (Edit, error) {
	start, end, err := d.Span(d.Document, n.Content[2*index+1])
	text := JSONOnOneLine(value)
	if !IsFlow(n) && value.Kind == yaml.ScalarNode {
		text = ScalarText(value)
	}
	if start == end { // an implicit null
		text = " " + text
		if !bytes.HasSuffix(bytes.TrimRight(d.Src[:start], " "), []byte(":")) {
			text = ":" + text
		}
	}
	return Edit{Start: start, End: end, New: text}, err
}

// AfterKey returns the range from the colon after a key to the end of its value.
func (d EditedText) AfterKey(key, value *yaml.Node) (Span, error) {
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

// Literal returns the range of the lines of a literal block scalar without an anchor.
func (d EditedText) Literal(value *yaml.Node) (Span, error) {
	start, end, err := d.Span(d.Document, value)
	if err != nil {
		return Span{}, err
	}
	if d.Src[start] == '!' {
		for bytes.IndexByte([]byte(" \t\r\n"), d.Src[start]) < 0 {
			start++
		}
		for d.Src[start] != '|' {
			if d.Src[start] == '#' {
				start = d.LineEnd(start)
			} else {
				start++
			}
		}
	}
	if start = d.LineEnd(start); start >= end {
		return Span{}, errors.New("the block scalar is empty")
	}
	return Span{start, end}, nil
}

// DashOf returns the indentation of a block sequence relative to its key.
func (d EditedText) DashOf(key, value *yaml.Node) (int, bool) {
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

// FirstDash returns the indentation of the first block sequence at n or below.
func (d EditedText) FirstDash(n *yaml.Node, depth int) (int, bool) {
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

// ApplyLines is [Apply] for edits that may add lines after a last line without a line break.
// The result then has no final line break, either.
func ApplyLines(src []byte, edits []Edit) ([]byte, error) {
	nl := Newline(src)
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return Apply(src, edits)
	}
	edits = slices.Clone(edits)
	for i, e := range edits {
		if e.Start == len(src) && strings.HasSuffix(e.New, nl) {
			edits[i].New = nl + strings.TrimSuffix(e.New, nl)
		}
	}
	return Apply(src, edits)
}
