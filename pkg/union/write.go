package union

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// Node returns the union as an item of x-kubernetes-unions: with the keys that a
// zero value does not stand for, in the order of the documentation. Parsing and
// resolving it gives a union of the same meaning. A union that is only to be
// written, not resolved, may leave out what the schema decides: Cardinality,
// Values; and Change, for the default. The caller owns the node; it has
// no positions.
func (u *Union) Node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	add := func(key string, value *yaml.Node) { m.Content = append(m.Content, yamltext.StringNode(key), value) }
	flag := func(key string, set bool) {
		if set {
			add(key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
		}
	}
	words := func(key string, l []string) {
		if len(l) > 0 {
			add(key, sequence(l))
		}
	}
	if u.Name != "" {
		add("name", yamltext.StringNode(u.Name))
	}
	if u.Discriminator == "" {
		words("members", u.MemberNames())
	} else {
		add("discriminator", yamltext.StringNode(u.Discriminator))
		fields := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, f := range u.Members {
			value := sequence(f.Values)
			if len(f.Values) == 1 {
				value = yamltext.StringNode(f.Values[0])
			}
			fields.Content = append(fields.Content, yamltext.StringNode(f.Name), value)
		}
		add("fields-to-discriminateBy", fields)
	}
	flag("deduceInvalidDiscriminator", u.Deduce)
	if u.Cardinality != 0 {
		add("cardinality", yamltext.StringNode(u.Cardinality.String()))
	}
	words("optionalMembers", u.names(func(f Member) bool { return f.Optional }))
	words("emptyIsUnset", u.names(func(f Member) bool { return f.Empty != PresentWhenEmpty }))
	if u.ForbidUnmapped {
		add("unmappedValues", yamltext.StringNode("Forbid"))
	}
	switch {
	case u.Change == 0, u.Change == Allow && u.Discriminator == "": // the default
	case u.Change == AllowedChanges:
		table := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
			table.Content = append(table.Content, yamltext.StringNode(from), sequence(u.Allowed[from]))
		}
		add("allowedChanges", table)
	default:
		add("discriminatorChange", yamltext.StringNode(u.Change.String()))
	}
	flag("ratchet", u.Ratchet)
	if u.Replace {
		add("handWrittenRules", yamltext.StringNode("Replace"))
	}
	return m
}

// names are those of the members that is holds for.
func (u *Union) names(is func(Member) bool) []string {
	var l []string
	for _, f := range u.Members {
		if is(f) {
			l = append(l, f.Name)
		}
	}
	return l
}

func sequence(l []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, s := range l {
		n.Content = append(n.Content, yamltext.StringNode(s))
	}
	return n
}
