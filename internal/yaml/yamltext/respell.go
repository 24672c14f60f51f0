package yamltext

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Written returns the text of a scalar in the source, as far as the node tells: "" for
// what may be written in several ways, such as a text with white space, and for one with
// an anchor or a tag.
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

// simple reports whether every style of scalars writes a text as it is.
func simple(s string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_./-", r)
	}
	return s != "" && s[0] != '-' && !strings.ContainsFunc(s, odd)
}

// Respelt returns what to write in place of a text that Written returned so that it means
// s, in the same quotes if there are any; "" when s is not simple.
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
