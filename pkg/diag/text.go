package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text writes the list, in its order, for people to read:
//
//	crd.yaml:41:5: error: UC203: union member "tsl" is not a property of this object
//	 |     tsl: TLS
//	 | ....^
//	 hint: write "tls" (declared at crd.yaml:33:9)
//	 path: spec.versions[0].schema.openAPIV3Schema.properties.spec
//	 see crd.yaml:33:9: declared here
//
// The source line is shown when source, which may be nil, returns a file that has it;
// a long one is cut around the column. Hint, path and related places appear where
// they are set. Control characters never reach the output.
func Text(w io.Writer, l List, source func(file string) []byte) error {
	return printText(w, l, source, func(_ style, s string) string { return s })
}

// ColorText is [Text] with the escape sequences (ECMA-48) that make a terminal show
// places in bold, severities in their colours, and carets in green.
func ColorText(w io.Writer, l List, source func(file string) []byte) error {
	return printText(w, l, source, func(as style, s string) string { return "\x1b[" + string(as) + "m" + s + "\x1b[0m" })
}

// style is how a part of the text is shown: the parameter of ECMA-48's SGR.
type style string

const (
	bold   style = "1"
	pointy style = "32" // green
)

// styleOf are the styles of severities: red, yellow and cyan.
var styleOf = map[Severity]style{Error: "1;31", Warning: "33", Info: "36"}

func printText(w io.Writer, l List, source func(file string) []byte, show func(as style, s string) string) error {
	buf := bufio.NewWriter(w)
	lines := lineIndex{source: source}
	for _, d := range l {
		place, kind, message := d.head()
		fmt.Fprintf(buf, "%s: %s: %s\n", show(bold, Escape(place)), show(styleOf[d.Severity], kind), message)
		if line, ok := lines.find(d.Pos); ok {
			text, caret := line.excerpt()
			fmt.Fprintf(buf, " | %s\n", text)
			if d.Pos.Col > 0 {
				fmt.Fprintf(buf, " | %s\n", show(pointy, caret))
			}
		}
		if d.Hint != "" {
			fmt.Fprintf(buf, " hint: %s\n", indented(d.Hint, "       "))
		}
		if d.Path != "" {
			fmt.Fprintf(buf, " path: %s\n", inline(d.Path))
		}
		for _, r := range d.Related {
			fmt.Fprintf(buf, " see %s: %s\n", inline(r.Pos.String()), inline(r.Message))
		}
	}
	return buf.Flush()
}

// inline makes a text fit for the middle of a line: line breaks become spaces,
// and what could confuse a terminal is spelled out.
func inline(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r == '\r':
		default:
			escape(&b, r)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, r rune) {
	if unprintable(r) {
		fmt.Fprintf(b, "\\u%04x", r)
		return
	}
	b.WriteRune(r)
}

// Escape makes a text of several lines fit to be printed, whoever wrote what is in
// it: what would make a terminal do more than show it is spelled out, and so is
// the start of a line that a CI system would take for a command (GitHub's "::",
// Azure's "##[").
func Escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, string(utf8.RuneError))) {
		if start := strings.TrimLeft(line, " \t"); strings.HasPrefix(start, "::") || strings.HasPrefix(start, "##[") {
			fmt.Fprintf(&b, "%s\\u%04x", line[:len(line)-len(start)], start[0])
			line = start[1:]
		}
		for _, r := range line {
			if r == '\n' || r == '\t' {
				b.WriteRune(r)
			} else {
				escape(&b, r)
			}
		}
	}
	return b.String()
}

// indented puts an indent before every line of a text but the first.
func indented(s, indent string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = inline(line)
		if i > 0 && lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// unprintable reports whether a character would move the cursor, reorder the
// text around it, or otherwise make a terminal do more than show it.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Bidi_Control, r)
}
