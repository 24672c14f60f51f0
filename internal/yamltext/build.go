package yamltext

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// StringNode returns a scalar that every YAML reader reads as s, quoted only if necessary.
func StringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if _, err := String(n); err != nil || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// BoolNode returns a boolean node.
func BoolNode(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

// IntNode returns the node of a decimal integer.
func IntNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: text}
}

// MappingNode returns a mapping. content has keys and values in turn.
func MappingNode(content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: content}
}

// ListNode returns a list.
func ListNode(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// StringsNode returns a list of strings in flow style.
func StringsNode(items ...string) *yaml.Node {
	n := ListNode()
	n.Style = yaml.FlowStyle
	for _, s := range items {
		n.Content = append(n.Content, StringNode(s))
	}
	return n
}
