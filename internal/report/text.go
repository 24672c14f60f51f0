package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
)

// width is the maximum width of lines that can be wrapped.
const width = 100

func oneLine(s string) string { return english.OneLine(s) }

// Text returns the document for a terminal.
func (d Document) Text() string {
	var p textPrinter
	p.blocks(d)
	return p.String()
}

type textPrinter struct {
	strings.Builder
	indent string
	item   bool // in a list
}

// line prints a line and trims trailing spaces.
func (p *textPrinter) line(s string) { p.WriteString(strings.TrimRight(p.indent+s, " ") + "\n") }

// indented prints content with a deeper indentation.
func (p *textPrinter) indented(indent string, content func()) {
	was := p.indent
	p.indent += indent
	content()
	p.indent = was
}

func (p *textPrinter) blocks(d Document) {
	d = slices.DeleteFunc(slices.Clone(d), func(b Block) bool { code, ok := b.(Code); return ok && code.Language == "mermaid" })
	for i, b := range d {
		if i > 0 && !p.item && !attached(d[i-1]) {
			p.line("")
		}
		b.print(p)
	}
}

// attached reports whether the next block follows without an empty line in between.
func attached(before Block) bool {
	if h, ok := before.(Heading); ok {
		return h.Level > 2
	}
	p, ok := before.(Paragraph)
	return ok && strings.HasSuffix(Line(p).String(), ":")
}

func (p *textPrinter) heading(b Heading)     { p.line(b.Line.String()) }
func (p *textPrinter) paragraph(b Paragraph) { p.wrap("", Line(b).String()) }

func (p *textPrinter) quote(b Quote) {
	for _, s := range b {
		p.line("  " + oneLine(diag.Escape(s)))
	}
}

func (p *textPrinter) list(b List) {
	for i, item := range b.Items {
		mark := "- "
		if b.Numbered {
			mark = fmt.Sprintf("%*d. ", len(fmt.Sprint(len(b.Items))), i+1)
		}
		p.wrap(mark, item.Line.String())
		if len(item.Blocks) > 0 {
			was := p.item
			p.item = true
			p.indented(strings.Repeat(" ", len(mark)), func() { p.blocks(item.Blocks) })
			p.item = was
		}
	}
}

func (p *textPrinter) facts(b Facts) {
	t := Table{Columns: make([]Column, 2)}
	for _, f := range b {
		name := f.Name
		for _, text := range f.Texts {
			t.Row(name, text)
			name = ""
		}
	}
	p.table(t)
}

func (p *textPrinter) table(b Table) {
	rows := [][]string{}
	head := make([]string, len(b.Columns))
	named := false
	for i, c := range b.Columns {
		head[i] = strings.ToUpper(c.Name)
		named = named || c.Name != ""
	}
	if named {
		rows = append(rows, head)
	}
	for _, row := range b.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.String()
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(b.Columns))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	last := len(b.Columns) - 1
	for _, row := range rows {
		prefix := ""
		for i, c := range row[:last] {
			prefix += padded(c, widths[i], b.Columns[i].Number) + "  "
		}
		p.wrap(prefix, padded(row[last], widths[last], b.Columns[last].Number))
	}
}

func (p *textPrinter) code(b Code) {
	indent := "    "
	if p.item {
		indent = "  "
	}
	p.indented(indent, func() {
		for line := range strings.Lines(b.Text) {
			p.line(diag.Escape(strings.TrimRight(line, "\n")))
		}
	})
}

// padded pads a cell to a width.
func padded(s string, to int, right bool) string {
	fill := strings.Repeat(" ", max(0, to-utf8.RuneCountInString(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// wrap prints words after a prefix. It aligns further lines with the first word.
func (p *textPrinter) wrap(prefix, text string) {
	p.indented(prefix, func() {
		room := max(width-utf8.RuneCountInString(p.indent), width/3)
		line := ""
		for i, word := range strings.Split(strings.TrimRight(text, " "), " ") {
			switch {
			case i == 0:
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room:
				p.line(line)
				p.indent = strings.Repeat(" ", utf8.RuneCountInString(p.indent))
				line = word
			default:
				line += " " + word
			}
		}
		p.line(line)
	})
}
