package report

import (
	"bytes"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Report is the result of a command.
type Report struct {
	Data        any       // for programs, with the tags of JSON
	Document    Document  // for people
	Diagnostics diag.List // if the result has positions in files
}

// Document is a report as plain data.
type Document []Block

func (d *Document) Add(blocks ...Block) { *d = append(*d, blocks...) }

// Heading adds a heading of parts as in [Concat].
func (d *Document) Heading(level int, parts ...any) { d.Add(Heading{level, Concat(parts...)}) }

// Say adds a paragraph of parts as in [Concat].
func (d *Document) Say(parts ...any) { d.Add(Paragraph(Concat(parts...))) }

// Block is a part of a document: a [Heading], [Paragraph], [Quote], [List], [Facts], [Table] or [Code].
type Block interface{ print(p printer) }

// printer prints blocks in one format.
type printer interface {
	heading(Heading)
	paragraph(Paragraph)
	quote(Quote)
	list(List)
	facts(Facts)
	table(Table)
	code(Code)
}

func (b Heading) print(p printer)   { p.heading(b) }
func (b Paragraph) print(p printer) { p.paragraph(b) }
func (b Quote) print(p printer)     { p.quote(b) }
func (b List) print(p printer)      { p.list(b) }
func (b Facts) print(p printer)     { p.facts(b) }
func (b Table) print(p printer)     { p.table(b) }
func (b Code) print(p printer)      { p.code(b) }

// Heading is a heading. The levels start at 1.
type Heading struct {
	Level int
	Line  Line
}

// Paragraph is text that printers wrap.
type Paragraph Line

// Quote is literal lines that printers do not wrap, such as errors of the API server.
type Quote []string

// List is a list of items with numbers or bullets.
type List struct {
	Numbered bool
	Items    []Item
}

// Add adds an item of parts as in [Concat].
func (l *List) Add(parts ...any) { l.Items = append(l.Items, Item{Line: Concat(parts...)}) }

// Item is a line with the blocks below it.
type Item struct {
	Line   Line
	Blocks Document
}

// Facts is a list of names with one or more texts each.
type Facts []Fact

// Fact is a name with one or more texts.
type Fact struct {
	Name  string
	Texts []Line
}

// Table has rows with one cell for each column.
type Table struct {
	Columns []Column
	Rows    [][]Line
}

// Row adds a row. Each cell is a part as in [Concat].
func (t *Table) Row(cells ...any) {
	var row []Line
	for _, c := range cells {
		row = append(row, Concat(c))
	}
	t.Rows = append(t.Rows, row)
}

// Column has a name, which may be empty. Number columns are aligned right.
type Column struct {
	Name   string
	Number bool
}

// Code is literal text in a language: "yaml", "sh", "cel", "mermaid". The text printer omits
// diagrams.
type Code struct{ Language, Text string }

// Example returns resources for pasting: the creation of an object, or an object with its updates. It
// omits those that are nil. Very long ones, which only show a cost, are cut: JSON has them whole.
func Example(objects ...map[string]any) Code {
	text := ""
	for i, object := range slices.DeleteFunc(objects, func(o map[string]any) bool { return o == nil }) {
		if i == 1 {
			text = "# stored\n" + text
		}
		if i > 0 {
			text += "---\n# updated to\n"
		}
		text += string(excerpt(object))
	}
	return Code{Language: "yaml", Text: text}
}

// excerpt returns the beginning of an object as YAML.
func excerpt(object map[string]any) []byte {
	const most = 60
	text, _ := yaml.Marshal(object) // it is JSON
	lines := bytes.SplitAfter(text, []byte("\n"))
	if left := len(lines) - most; left > most {
		text = fmt.Appendf(bytes.Join(lines[:most], nil), "# and %d more lines; --format json has all of them\n", left)
	}
	return text
}

// Line is the text of a line or paragraph.
type Line []Span

// Span is text in one style.
type Span struct {
	Text   string
	Style  Style
	target string // of a Reference
}

// Style is the style of a span.
type Style int

// The styles: plain text, a name or expression, emphasized text, and a link to the heading with this
// text.
const (
	Plain Style = iota
	Name
	Strong
	Reference
)

// N returns a span with a name.
func N(name string) Span { return Span{name, Name, ""} }

// S returns a span of emphasized text.
func S(text string) Span { return Span{text, Strong, ""} }

// Link returns a span that refers to a heading, which comes after a number of headings with the same
// text.
func Link(heading Line, before int) Span {
	target := anchor(heading.String())
	if before > 0 {
		target += fmt.Sprintf("-%d", before)
	}
	return Span{heading.String(), Reference, target}
}

// Concat returns a line that joins spans, plain strings and other lines.
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

// String returns the line as text.
func (l Line) String() string {
	s := ""
	for _, span := range l {
		s += span.Text
	}
	return oneLine(diag.Escape(s))
}
