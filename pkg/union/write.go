package union

import (
	"maps"
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
	add := func(key string, value *yaml.Node) { m.Content = append(m.Content, yamltext.StringNode(key), value) }
	flag := func(key string, set bool) {
		if set {
			add(key, yamltext.BoolNode(true))
		}
	}
	words := func(key string, l []string) {
		if len(l) > 0 {
			add(key, yamltext.StringsNode(l...))
		}
	}
	if u.Name != "" {
		add("name", yamltext.StringNode(u.Name))
	}
	switch {
	case u.OfItems():
		members := yamltext.ListNode()
		for _, m := range u.Members {
			members.Content = append(members.Content, itemNode(m.Item))
		}
		add("members", members)
	case u.Discriminator == "":
		words("members", u.MemberNames())
	default:
		add("discriminator", yamltext.StringNode(u.Discriminator))
		fields := yamltext.MappingNode()
		for _, f := range u.Members {
			fields.Content = append(fields.Content, yamltext.StringNode(f.Name), oneOrMore(f.Values))
		}
		add("fields-to-discriminateBy", fields)
	}
	flag("deduceInvalidDiscriminator", u.Deduce)
	if u.Cardinality != 0 {
		add("cardinality", yamltext.StringNode(u.Cardinality.String()))
	}
	if optional := u.optionalMembers(); optional != nil {
		add("optionalMembers", optional)
	}
	words("emptyIsUnset", u.names(func(f Member) bool { return f.Empty != PresentWhenEmpty }))
	if u.ForbidUnmapped {
		add("unmappedValues", yamltext.StringNode("Forbid"))
	}
	switch {
	case u.Change == 0, u.Change == Allow && u.Discriminator == "": // the default
	case u.Change == AllowedChanges:
		table := yamltext.MappingNode()
		for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
			table.Content = append(table.Content, yamltext.StringNode(from), yamltext.StringsNode(u.Allowed[from]...))
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

// optionalMembers is a list when its members are optional for all of their values,
// else a map; nil when no member is optional.
func (u *Union) optionalMembers() *yaml.Node {
	optional := u.names(func(f Member) bool { return len(f.Optional) > 0 })
	if len(optional) == 0 {
		return nil
	}
	if !slices.ContainsFunc(u.Members, func(f Member) bool { return len(f.Optional) > 0 && len(f.Required()) > 0 }) {
		return yamltext.StringsNode(optional...)
	}
	m := yamltext.MappingNode()
	for _, f := range u.Members {
		if len(f.Optional) > 0 {
			m.Content = append(m.Content, yamltext.StringNode(f.Name), oneOrMore(f.Optional))
		}
	}
	return m
}

// oneOrMore is a string, or a list of several.
func oneOrMore(values []string) *yaml.Node {
	if len(values) == 1 {
		return yamltext.StringNode(values[0])
	}
	return yamltext.StringsNode(values...)
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
