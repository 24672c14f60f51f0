package union

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// Group is an alternative of a union: a member or, without a discriminator, several members that are
// set together.
type Group struct {
	// Name is the name of the only member, or else the names of all members, joined by "+".
	Name string
	// Members are the indices of the members.
	Members []int
}

// Groups returns the alternatives of the union in declared order. The members of a group have its
// name in Values. The caller owns the result.
func (u *Union) Groups() []Group {
	var l []Group
	at := map[string]int{}
	for i, m := range u.Members {
		name := m.Name
		if u.Discriminator == "" && len(m.Values) > 0 {
			name = m.Values[0]
		}
		if _, ok := at[name]; !ok {
			at[name] = len(l)
			l = append(l, Group{Name: name})
		}
		l[at[name]].Members = append(l[at[name]].Members, i)
	}
	return l
}

// Grouped reports whether the union has groups of several members.
func (u *Union) Grouped() bool {
	return u.Discriminator == "" && slices.ContainsFunc(u.Members, func(m Member) bool { return len(m.Values) > 0 })
}

// GroupNames returns the names of the groups.
func (u *Union) GroupNames() []string {
	var l []string
	for _, g := range u.Groups() {
		l = append(l, g.Name)
	}
	return l
}

// Require returns the members of the group that have to be set if any of them is.
func (u *Union) Require(g Group) []int {
	if len(g.Members) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(g.Members), func(i int) bool { return len(u.Members[i].Required()) == 0 })
}

// GroupName returns the name of a group. A property name with a "+" cannot be a member, because CEL
// cannot express it.
func GroupName(members ...string) string { return strings.Join(members, "+") }

// setGroups returns the alternatives with the conditions that they are set.
func (s at) setGroups() []choice {
	var l []choice
	for _, g := range s.Groups() {
		l = append(l, choice{g.Name, s.anyOf(g.Members)})
	}
	return l
}

// anyOf returns the condition that one of the members is present.
func (s at) anyOf(members []int) Expr {
	if len(members) == 1 {
		return s.set(members[0])
	}
	var l []Expr
	for _, i := range members {
		l = append(l, s.set(i))
	}
	return or(l...)
}

// incomplete returns the conditions that a member is absent while its group requires it.
func (u *Union) incomplete() Clauses {
	s := at{Union: u}
	var l Clauses
	for _, g := range u.Groups() {
		for _, i := range u.Require(g) {
			l = append(l, Clause{Violation{Required, i}, and(s.anyOf(g.Members), not(s.set(i)))})
		}
	}
	return l
}

// PresentGroups returns the groups of which a member is present.
func (u *Union) PresentGroups(s State) []Group {
	return slices.DeleteFunc(u.Groups(), func(g Group) bool {
		return !slices.ContainsFunc(g.Members, func(i int) bool { return s.Present[i] })
	})
}

// groupOf reads a list of properties in a list of members.
func groupOf(v yamltext.ConfigValue) []fieldValues {
	words := v.Words()
	if len(words) < 2 {
		v.Errorf("write the name of the property", "a group has several properties")
		return nil
	}
	var names []string
	for _, w := range words {
		names = append(names, w.Text)
	}
	var l []fieldValues
	for _, w := range words {
		l = append(l, fieldValues{name: w, group: GroupName(names...)})
	}
	return l
}

// groupsNode writes the members, with a list for each group.
func groupsNode(u *Union) *yaml.Node {
	if !u.Grouped() {
		return namesNode(u.Members)
	}
	list := yamltext.ListNode()
	for _, g := range u.Groups() {
		if names := u.NamesOf(g.Members); len(names) == 1 {
			list.Content = append(list.Content, yamltext.StringNode(names[0]))
		} else {
			list.Content = append(list.Content, yamltext.StringsNode(names...))
		}
	}
	return list
}
