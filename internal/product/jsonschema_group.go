package product

import (
	"github.com/unioncel/unioncel/pkg/union"
)

// groupBranches returns the legal forms of a union without a discriminator. The first group that is
// set determines the form and, with AtLeastOne, every later group of several members.
func groupBranches(u *union.Union) []branch {
	groups := u.Groups()
	var l []branch
	if u.Cardinality == union.AtMostOne {
		none := branch{title: "none"}
		for _, g := range groups {
			none.clear = append(none.clear, g.Members...)
		}
		l = append(l, none)
	}
	var before []int
	for i, g := range groups {
		forms := groupForms(u, g)
		for j := range forms {
			forms[j].clear = append(forms[j].clear, before...)
		}
		for _, later := range groups[i+1:] {
			switch {
			case u.Cardinality != union.AtLeastOne:
				forms = combined(forms, []branch{{clear: later.Members}})
			case len(later.Members) > 1:
				forms = combined(forms, append([]branch{{clear: later.Members}}, groupForms(u, later)...))
			}
		}
		l = append(l, forms...)
		before = append(before, g.Members...)
	}
	return l
}

// groupForms returns the forms of a group that is set: all required members are set or, if it
// requires none, its first member that is set determines the form.
func groupForms(u *union.Union, g union.Group) []branch {
	if required := u.Require(g); len(required) > 0 {
		return []branch{{title: g.Name, set: required}}
	}
	var l []branch
	for k, i := range g.Members {
		l = append(l, branch{title: u.Members[i].Name, set: []int{i}, clear: append([]int{}, g.Members[:k]...)})
	}
	return l
}

// combined returns each form of a with each form of b.
func combined(a, b []branch) []branch {
	var l []branch
	for _, x := range a {
		for _, y := range b {
			title := x.title
			if y.title != "" {
				title += ", " + y.title
			}
			l = append(l, branch{
				title: title,
				set:   append(append([]int{}, x.set...), y.set...), clear: append(append([]int{}, x.clear...), y.clear...),
			})
		}
	}
	return l
}
