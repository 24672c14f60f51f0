package union

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// Node returns the union as an item of x-kubernetes-unions: with the keys that a
// zero value does not stand for, in the order of the documentation. Parsing and
// resolving it gives a union of the same meaning. A union that is only to be
// written, not resolved, may leave out what the schema decides: Cardinality,
// Values; and Change, for the default. The caller owns the node; it has
// no positions.
func (u *Union) Node() *yaml.Node {
	m := yamltext.MappingNode()
	for _, k := range keys {
		if value := k.write(u); value != nil {
			m.Content = append(m.Content, yamltext.StringNode(k.name), value)
		}
	}
	return m
}

// byMemberNode writes a map from members to one or more values.
func byMemberNode(members []Member, values func(Member) []string) *yaml.Node {
	node := yamltext.MappingNode()
	for _, m := range members {
		l := values(m)
		value := yamltext.StringsNode(l...)
		if len(l) == 1 {
			value = value.Content[0]
		}
		node.Content = append(node.Content, yamltext.StringNode(m.Name), value)
	}
	return node
}

// wordNode writes a string; "" is not written.
func wordNode(s string) *yaml.Node {
	if s == "" {
		return nil
	}
	return yamltext.StringNode(s)
}

// wordsNode writes the names of members; an empty list is not written.
func wordsNode(members []Member) *yaml.Node {
	if len(members) == 0 {
		return nil
	}
	return yamltext.StringsNode((&Union{Members: members}).MemberNames()...)
}

// those returns the members for which is holds.
func (u *Union) those(is func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(u.Members), func(m Member) bool { return !is(m) })
}
