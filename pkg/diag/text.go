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
//	crd.yaml:41:5: UC203: union member "tsl" is not a property of this object
//	 |     tsl: TLS
//	 | ....^
//	 hint: write "tls" (declared at crd.yaml:33:9)
//	 path: spec.versions[0].schema.openAPIV3Schema.properties.spec
//	 see crd.yaml:33:9: declared here
//
// The severity stands before the message unless it is [Error]. The source line
// is shown when source, which may be nil, returns a file that has it; a long
// one is cut around the column. Hint, path and related places appear where
// they are set. Control characters never reach the output.
func Text(w io.Writer, l List, source func(file string) []byte) error {
	buf := bufio.NewWriter(w)
	lines := lineIndex{source: source}
	for _, d := range l {
		fmt.Fprintln(buf, d)
		if line, ok := lines.find(d.Pos); ok {
			text, caret := excerpt(line, d.Pos.Col)
			fmt.Fprintf(buf, " | %s\n", text)
			if caret != "" {
				fmt.Fprintf(buf, " | %s\n", caret)
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
		case unprintable(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
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
