package crdpatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/rules"
)

// plain copies a declaration, without aliases and merge keys. Its scalars are strings,
// booleans and integers.
func plain(n *yaml.Node) *yaml.Node {
	switch n = yamltext.Resolve(n); n.Kind {
	case yaml.MappingNode:
		m := yamltext.MappingNode()
		for _, e := range yamltext.Entries(n) {
			m.Content = append(m.Content, yamledit.StringNode(e.Key.Value), plain(e.Value))
		}
		return m
	case yaml.SequenceNode:
		l := yamltext.ListNode()
		for _, item := range n.Content {
			l.Content = append(l.Content, plain(item))
		}
		return l
	}
	switch n.ShortTag() {
	case "!!bool":
		return yamltext.BoolNode(n.Value == "true")
	case "!!int":
		return yamltext.IntNode(n.Value)
	}
	return yamledit.StringNode(n.Value)
}

// ruleNode is a rule as it is written, its keys in the order of the API
// server, which is alphabetical.
func ruleNode(r rules.Rule) *yaml.Node {
	m := yamltext.MappingNode()
	add := func(key, value string) {
		if value != "" {
			m.Content = append(m.Content, yamledit.StringNode(key), yamledit.StringNode(value))
		}
	}
	add("fieldPath", r.FieldPath)
	add("message", r.Message)
	add("messageExpression", r.MessageExpression)
	if r.OptionalOldSelf {
		m.Content = append(m.Content, yamledit.StringNode("optionalOldSelf"), yamltext.BoolNode(true))
	}
	add("reason", string(r.Reason))
	add("rule", r.Rule)
	return m
}
