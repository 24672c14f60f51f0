package krm

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// lookup returns the value at a key of mapping n, or nil.
func lookup(n *yaml.Node, key string) *yaml.Node {
	_, v, _, _ := yamltext.Lookup(n, key)
	return v
}

// word returns the scalar at the end of a path of keys, or "".
func word(n *yaml.Node, path ...string) string {
	for _, key := range path {
		n = lookup(n, key)
	}
	if n == nil || n.Kind != yaml.ScalarNode || isNull(n) {
		return ""
	}
	return n.Value
}

func isNull(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// same reports whether two trees have the same meaning, for yaml.v3 and for kubectl. It ignores
// style and comments.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Value != b.Value || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && a.Style != b.Style && isString(a) != isString(b) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// isString reports whether a scalar is a string for both yaml.v3 and kubectl, which reads a plain
// on, y or yes as a boolean.
func isString(n *yaml.Node) bool {
	if n.ShortTag() != "!!str" {
		return false
	}
	_, err := yamltext.String(n)
	return err == nil
}

// care selects modifications of a tree before encoding.
type care int

const (
	unfolded    care = 1 << iota // folded scalars become literal ones
	uncommented                  // comments are omitted
	quoted                       // strings are in double quotes, and nothing is in flow style
)

// careful returns a modified copy of a tree, or the tree itself if c is zero.
func careful(n *yaml.Node, c care) *yaml.Node {
	if c == 0 {
		return n
	}
	m := *n
	if c&uncommented != 0 {
		m.HeadComment, m.LineComment, m.FootComment = "", "", ""
	}
	if c&unfolded != 0 && n.Style&yaml.FoldedStyle != 0 {
		m.Style = n.Style&^yaml.FoldedStyle | yaml.LiteralStyle
	}
	if c&quoted != 0 {
		m.Style, m.Anchor = n.Style&yaml.TaggedStyle, ""
		if n.Kind == yaml.ScalarNode && isString(n) {
			m.Style |= yaml.DoubleQuotedStyle
		}
	}
	m.Content = nil
	for _, child := range n.Content {
		m.Content = append(m.Content, careful(child, c))
	}
	return &m
}
