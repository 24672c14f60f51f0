package yamltext

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Written returns the source text of a scalar if the node determines it. It returns "" for scalars
// with several possible texts, such as text with white space, and for scalars with an anchor or a
// tag.
func Written(n *yaml.Node) string {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.ContainsFunc(n.Value, odd) {
		return ""
	}
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		return "'" + strings.ReplaceAll(n.Value, "'", "''") + "'"
	case n.Style&yaml.DoubleQuotedStyle == 0:
		return n.Value
	case strings.ContainsAny(n.Value, `"\`):
		return ""
	}
	return `"` + n.Value + `"`
}

// simple reports whether every scalar style writes a text unchanged.
func simple(s string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_./-", r)
	}
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, odd)
}

// Respelt returns the replacement for a text from Written that gives the scalar the value s. Quotes
// are kept. The result is "" if s is not simple.
func Respelt(written, s string) string {
	if written == "" || !simple(s) {
		return ""
	}
	if quote := written[:1]; quote == `"` || quote == "'" {
		return quote + s + quote
	}
	if n := StringNode(s); n.Style != 0 {
		return `"` + s + `"`
	}
	return s
}
