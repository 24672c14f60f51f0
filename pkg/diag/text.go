package diag

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text writes the list, in its order, for people to read:
//
//	crd.yaml:41:5: error: UC203: union member "tsl" is not a property of this object
//	 |     tsl: TLS
//	 | ....^
//	 hint: write "tls" (declared at crd.yaml:33:9)
//	 path: spec.backend
//	 see crd.yaml:33:9: declared here
//
// The source line is shown if source, which may be nil, returns a file that has it; a long line is
// cut around the column. Hint, path and related positions are shown if they are set. Control
// characters of the input are escaped or replaced, except tabs in the source line.
func Text(w io.Writer, l List, source func(file string) []byte) error {
	return printText(w, l, source, func(_ style, s string) string { return s })
}

// ColorText is [Text] with escape sequences (ECMA-48) for terminals: positions are bold, severities
// colored, and carets green.
func ColorText(w io.Writer, l List, source func(file string) []byte) error {
	return printText(w, l, source, func(as style, s string) string { return "\x1b[" + string(as) + "m" + s + "\x1b[0m" })
}

// style is a parameter of ECMA-48's SGR sequence.
type style string

const (
	bold   style = "1"
	pointy style = "32" // green
)

// styleOf has the styles of severities: red, yellow and cyan.
var styleOf = map[Severity]style{Error: "1;31", Warning: "33", Info: "36"}

func printText(w io.Writer, l List, source func(file string) []byte, show func(as style, s string) string) error {
	buf := bufio.NewWriter(w)
	lines := lineIndex{source: source}
	for _, d := range l {
		place, kind, message := d.head()
		if place != "" {
			fmt.Fprintf(buf, "%s: ", show(bold, place))
		}
		fmt.Fprintf(buf, "%s: %s\n", show(styleOf[d.Severity], kind), message)
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

// inline puts a text on one line: line breaks become spaces, and the rest is escaped.
func inline(s string) string { return Escape(oneLine.Replace(s)) }

var oneLine = strings.NewReplacer("\n", " ", "\t", " ", "\r", "")

// Escape makes a text of several lines from an untrusted source safe to print. It escapes the
// characters that would make a terminal do more than show them, and the starts of commands to CI
// systems: "::" at the start of a line, and "##[", "##vso[" and the like anywhere.
func Escape(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, string(utf8.RuneError))) {
		if start := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(start, "::") {
			line = strings.TrimSuffix(line, start) + `\u003a` + start[1:]
		}
		b.WriteString(spelled(anyCommand.ReplaceAllString(line, `\u0023$1`)))
	}
	return b.String()
}

// spelled escapes unprintable characters except line breaks and tabs.
func spelled(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) && r != '\n' && r != '\t' {
			for _, unit := range utf16.Encode([]rune{r}) { // as in JSON
				fmt.Fprintf(&b, "\\u%04x", unit)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Starts of commands of Azure Pipelines and TeamCity, and of old commands of GitHub Actions.
var (
	anyCommand = regexp.MustCompile(`#(#\w*\[)`)
	command    = regexp.MustCompile(`^##\w*\[`)
)

// indented indents every line of a text but the first.
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

// unprintable reports whether a character would move the cursor, reorder the text around it, or
// otherwise make a terminal do more than show it. Invisible characters are unprintable, too, except
// those that join or separate letters.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}
