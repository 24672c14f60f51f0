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
// Values, Implied; and Change, for the default. The caller owns the node; it has
// no positions.
func (u *Union) Node() *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	add := func(key string, value *yaml.Node) { m.Content = append(m.Content, scalar(key), value) }
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
		add("name", scalar(u.Name))
	}
	if u.Discriminator == "" {
		words("members", u.MemberNames())
	} else {
		add("discriminator", scalar(u.Discriminator))
		fields := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, f := range u.Members {
			value := sequence(f.Values)
			if len(f.Values) == 1 {
				value = scalar(f.Values[0])
			}
			fields.Content = append(fields.Content, scalar(f.Name), value)
		}
		add("fields-to-discriminateBy", fields)
	}
	flag("deduceInvalidDiscriminator", u.Deduce)
	if u.Cardinality != 0 {
		add("cardinality", scalar(u.Cardinality.String()))
	}
	words("optionalMembers", u.names(func(f Member) bool { return f.Optional }))
	words("emptyIsUnset", u.names(func(f Member) bool { return f.Empty != PresentWhenEmpty }))
	if u.ForbidUnmapped {
		add("unmappedValues", scalar("Forbid"))
	}
	switch u.Change {
	case 0:
	case AllowedChanges:
		table := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
			table.Content = append(table.Content, scalar(from), sequence(u.Allowed[from]))
		}
		add("allowedChanges", table)
	default:
		add("discriminatorChange", scalar(u.Change.String()))
	}
	flag("ratchet", u.Ratchet)
	if u.Replace {
		add("handWrittenRules", scalar("Replace"))
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
		n.Content = append(n.Content, scalar(s))
	}
	return n
}

// scalar is a string that every reader of YAML takes for one: quoted where a
// reader of YAML 1.1 would not.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if _, err := yamltext.String(n); err != nil || s == "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
