package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Markdown returns the document in GitHub's Markdown, for pull requests and step summaries. Text is
// shown literally: it is never markup, and stays in its table cell.
func (d Document) Markdown() string {
	var p markdownPrinter
	p.blocks(d)
	return p.String()
}

type markdownPrinter struct {
	strings.Builder
	indent string
}

func (p *markdownPrinter) line(s string) { p.WriteString(strings.TrimRight(p.indent+s, " ") + "\n") }

func (p *markdownPrinter) blocks(d Document) {
	for i, b := range d {
		if i > 0 {
			p.line("")
		}
		b.print(p)
	}
}

func (p *markdownPrinter) heading(b Heading) {
	p.line(strings.Repeat("#", b.Level) + " " + b.Line.markdown())
}

func (p *markdownPrinter) paragraph(b Paragraph) { p.line(Line(b).markdown()) }

func (p *markdownPrinter) quote(b Quote) {
	for i, s := range b {
		if i > 0 {
			p.line(">")
		}
		p.line("> " + escaped(s))
	}
}

func (p *markdownPrinter) list(b List) {
	for i, item := range b.Items {
		mark := "- "
		if b.Numbered {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		p.item(mark, item)
	}
}

func (p *markdownPrinter) item(mark string, item Item) {
	p.line(mark + item.Line.markdown())
	was := p.indent
	p.indent += strings.Repeat(" ", len(mark))
	for _, b := range item.Blocks {
		if _, list := b.(List); !list {
			p.line("")
		}
		b.print(p)
	}
	p.indent = was
}

func (p *markdownPrinter) facts(b Facts) {
	for _, f := range b {
		if len(f.Texts) == 1 {
			p.line("- " + f.Name + ": " + f.Texts[0].markdown())
			continue
		}
		l := List{}
		for _, text := range f.Texts {
			l.Add(text)
		}
		p.item("- ", Item{Concat(f.Name, ":"), Document{l}})
	}
}

func (p *markdownPrinter) table(b Table) {
	head, rule := "|", "|"
	for _, c := range b.Columns {
		head += " " + escaped(c.Name) + " |"
		if c.Number {
			rule += "--:|"
		} else {
			rule += "---|"
		}
	}
	p.line(strings.ReplaceAll(head, "|  |", "| |"))
	p.line(rule)
	for _, row := range b.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = strings.TrimSpace(c.markdown())
		}
		p.line("| " + strings.Join(cells, " | ") + " |")
	}
}

func (p *markdownPrinter) code(b Code) {
	longest, run := 2, 0
	for _, c := range []byte(b.Text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	p.line(fence + b.Language)
	for line := range strings.Lines(b.Text) {
		p.line(diag.Escape(strings.TrimRight(line, "\n")))
	}
	p.line(fence)
}

func (l Line) markdown() string {
	var b strings.Builder
	for i, span := range l {
		switch text := span.Text; {
		case span.Style == Name:
			b.WriteString(name(text))
		case span.Style == Strong:
			b.WriteString("**" + escaped(text) + "**")
		case span.Style == Reference:
			b.WriteString("[" + escaped(text) + "](#" + span.target + ")")
		default:
			b.WriteString(escapedIn(text, i == 0))
		}
	}
	return b.String()
}

// anchor returns the anchor that GitHub gives to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// escaped returns a text on one line. Characters with a meaning in Markdown get a backslash.
// Characters with a meaning in HTML become entities. So do vertical bars, which end table cells,
// and characters that GitHub interprets even after a backslash (formulas, mentions, links).
func escaped(s string) string { return escapedIn(oneLine(s), true) }

// escapedIn escapes text in a line or, with start, at the start of a line.
func escapedIn(s string, start bool) string {
	s = escapes.Replace(strings.Join(strings.FieldsFunc(diag.Escape(s), func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }), " "))
	if start && s != "" && strings.ContainsRune("+-=>", rune(s[0])) {
		s = `\` + s
	}
	return s
}

var escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`,
	"|", "&#124;", "<", "&lt;", "&", "&amp;", "$", "&#36;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;")

// name returns a text on one line as code. In backticks, a vertical bar would end a table cell, and
// renderers differ about backslashes before it. A text with such characters becomes an HTML
// element.
func name(s string) string {
	s = oneLine(diag.Escape(s))
	switch {
	case s == "":
		return ""
	case !strings.ContainsAny(s, "`|\\"):
		return "`" + s + "`"
	}
	return "<code>" + escaped(s) + "</code>"
}
