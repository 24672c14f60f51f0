package rules

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// variableOf returns a variable whose members are the groups of the union.
func variableOf(u *union.Union, e cel.Expr) variable {
	if !u.Grouped() {
		return variable{u: u, Expr: e}
	}
	folded := *u
	folded.Members = nil
	for _, g := range u.Groups() {
		folded.Members = append(folded.Members, union.Member{Name: g.Name})
	}
	return variable{u: &folded, Expr: e, whole: u, groups: u.Groups()}
}

// wholly returns the variable with the members of groups as its members.
func (o variable) wholly() variable {
	if o.whole != nil {
		o.u, o.whole, o.groups = o.whole, nil, nil
	}
	return o
}

// old returns oldSelf for the same members.
func (o variable) old() variable {
	o.Expr = cel.Var("oldSelf")
	return o
}

// position returns the property for errors about member i, or "" for a group of several.
func (o variable) position(i int) string {
	if o.whole != nil && len(o.groups[i].Members) > 1 {
		return ""
	}
	return o.u.Members[i].Name
}

// complete returns the statements that groups have the members that they require: one for each
// group or, if each is set, one for each member.
func (o variable) complete(each bool) []statement {
	var l []statement
	u := o.wholly().u
	for _, g := range o.groups {
		required := u.Require(g)
		switch {
		case each:
			for _, i := range required {
				others := slices.DeleteFunc(slices.Clone(g.Members), func(j int) bool { return j == i })
				holds := cel.If(o.wholly().any(others), o.wholly().present(i), cel.True)
				l = append(l, state(u, holds, ReasonRequired, u.Members[i].Name, requiredWith(u, []int{i}, others), union.Required))
			}
		case len(required) > 0:
			at := ""
			if len(required) == 1 {
				at = u.Members[required[0]].Name
			}
			l = append(l, state(u, o.together(g, required), ReasonRequired, at, incomplete(u, g, required), union.Required))
		}
	}
	return l
}

// together tests that a group has the members that it requires, or none of its members.
func (o variable) together(g union.Group, required []int) cel.Expr {
	present := o.wholly().present
	if len(required) < len(g.Members) {
		others := g.Members
		if len(required) == 1 {
			others = optional(g, required)
		}
		return cel.If(o.wholly().any(others), cel.And(cel.Each(required, present)...), cel.True)
	}
	var l []cel.Expr
	for k, i := range required[1:] {
		l = append(l, present(required[k]).Eq(present(i)))
	}
	return cel.And(l...)
}

// optional returns the other members of a group.
func optional(g union.Group, required []int) []int {
	return slices.DeleteFunc(slices.Clone(g.Members), func(i int) bool { return slices.Contains(required, i) })
}

// incomplete returns the message of a group that lacks a required member.
func incomplete(u *union.Union, g union.Group, required []int) string {
	if len(required) == len(g.Members) {
		return conjoined(u.NamesOf(required), "and") + " must be set together"
	}
	if len(required) == 1 {
		return requiredWith(u, required, optional(g, required))
	}
	return requiredWith(u, required, g.Members)
}

func requiredWith(u *union.Union, required, others []int) string {
	is := "is"
	if len(required) > 1 {
		is = "are"
	}
	return fmt.Sprintf("%s %s required when %s is set", conjoined(u.NamesOf(required), "and"), is, conjoined(u.NamesOf(others), "or"))
}
