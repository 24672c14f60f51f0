// Package report prints documents for people: headings, paragraphs, tables, lists and code, as text
// for a terminal and as Markdown for GitHub. Only the printers escape text of manifests: in a
// terminal it moves no cursor, and in Markdown it is no markup.
package report

import (
	"fmt"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Document is a report. It is plain data.
type Document []Block

func (d *Document) Add(blocks ...Block) { *d = append(*d, blocks...) }

// Block is a part of a document: a [Heading], [Paragraph], [Quote], [List], [Facts], [Table] or [Code].
type Block interface{ isBlock() }

func (Heading) isBlock()   {}
func (Paragraph) isBlock() {}
func (Quote) isBlock()     {}
func (List) isBlock()      {}
func (Facts) isBlock()     {}
func (Table) isBlock()     {}
func (Code) isBlock()      {}

// Heading is a heading of a level, from 1.
type Heading struct {
	Level int
	Line  Line
}

// Paragraph is text that is wrapped.
type Paragraph Line

// Quote is literal lines, such as errors of the API server, that are not wrapped.
type Quote []string

// List is items with numbers or bullets.
type List struct {
	Numbered bool
	Items    []Item
}

// Item is a line, and the blocks below it.
type Item struct {
	Line   Line
	Blocks Document
}

// Facts are names, each with one or more texts.
type Facts []Fact

// Fact is a name, and texts about it.
type Fact struct {
	Name  string
	Texts []Line
}

// Table is rows with as many cells as there are columns.
type Table struct {
	Columns []Column
	Rows    [][]Line
}

// Column has a name, which may be empty. Cells of a Number column are aligned right.
type Column struct {
	Name   string
	Number bool
}

// Code is literal text in a language: "yaml", "sh", "cel", "mermaid". The text printer leaves out
// diagrams.
type Code struct{ Language, Text string }

// Line is text in a line, or a paragraph.
type Line []Span

// Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// Style is the style of a span.
type Style int

// The styles: plain text, a name or an expression, and emphasis.
const (
	Plain Style = iota
	Name
	Strong
)

// Text returns a line of plain text in the format of [fmt.Sprintf].
func Text(format string, args ...any) Line { return Line{{Text: fmt.Sprintf(format, args...)}} }

// N returns a name.
func N(name string) Span { return Span{name, Name} }

// S returns emphasized text.
func S(text string) Span { return Span{text, Strong} }

// Concat returns a line of spans, plain strings and other lines.
func Concat(parts ...any) Line {
	var l Line
	for _, p := range parts {
		switch p := p.(type) {
		case Span:
			l = append(l, p)
		case Line:
			l = append(l, p...)
		default:
			l = append(l, Span{Text: fmt.Sprint(p)})
		}
	}
	return l
}

// Join returns lines with a separator between them.
func Join(lines []Line, separator string) Line {
	var all Line
	for i, l := range lines {
		if i > 0 {
			all = append(all, Span{Text: separator})
		}
		all = append(all, l...)
	}
	return all
}

// String returns the line as text.
func (l Line) String() string {
	s := ""
	for _, span := range l {
		s += span.Text
	}
	return oneLine(diag.Escape(s))
}
