package product

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// branch is one of the legal forms of a union object: the value of its discriminator, the members
// that are set, and the members that are clear. The form leaves all other members open.
type branch struct {
	title string
	// The discriminator has one of values, or is set to a value not in others, or is unset. Without
	// a discriminator, all three are empty.
	values, others []string
	unset          bool

	set, clear []int
}

// branches returns the legal forms of a union object. Each legal state (see
// [union.Union.Violations]) has exactly one of these forms.
func branches(u *union.Union, n node) []branch {
	discriminator := schemaOf(n, u, u.Discriminator)
	values, enum := discriminator["enum"].([]any)
	enum = enum || u.Type == union.BooleanValue
	all := make([]int, len(u.Members))
	for i := range all {
		all[i] = i
	}
	but := func(kept ...int) []int {
		return slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(kept, i) })
	}
	only := func(i int) branch { return branch{title: u.Members[i].Name, set: []int{i}, clear: but(i)} }
	var l []branch
	if u.Discriminator == "" {
		return groupBranches(u)
	}
	for _, c := range u.Classes() {
		l = append(l, branch{title: strings.Join(c.Values, ", "), values: c.Values, set: c.Required, clear: but(c.Members...)})
	}
	if !u.ForbidUnmapped {
		mapped := u.MemberValues()
		rest := slices.DeleteFunc(slices.Clone(u.Values), func(v string) bool { return v == "" || slices.Contains(mapped, v) })
		switch {
		case !enum:
			l = append(l, branch{title: "other", others: append(mapped, ""), clear: all})
		case len(rest) > 0:
			l = append(l, branch{title: strings.Join(rest, ", "), values: rest, clear: all})
		}
	}
	neverUnset := u.Unset != "" || enum && !slices.Contains(values, any("")) && !slices.Contains(fallbacks(n, u), "") && !nullable(n, u, u.Discriminator)
	if u.Cardinality == union.ExactlyOne || neverUnset {
		return l
	}
	l = append(l, branch{title: "unset", unset: true, clear: all})
	if u.Deduce {
		for i := range all {
			b := only(i)
			b.unset = true
			l = append(l, b)
		}
	}
	return l
}

// fallbacks returns, for each property on the path to the discriminator, the value of the
// discriminator if an object omits this property. "" is unset.
func fallbacks(n node, u *union.Union) []string {
	path := u.Path(u.Discriminator).Properties()
	var l []string
	for i, name := range path {
		n = property(n, name)
		value, s := n["default"], n
		for _, name := range path[i+1:] {
			s = property(s, name)
			if object, ok := value.(node); ok {
				if value, ok = object[name]; !ok {
					value = s["default"]
				}
			}
		}
		l = append(l, u.ValueOf(value))
	}
	return l
}

// nullable reports whether the discriminator or member with a name may be null, or a property on
// the path to it.
func nullable(n node, u *union.Union, name string) bool {
	return slices.ContainsFunc(u.Path(name).Properties(), func(name string) bool {
		n = property(n, name)
		return nullIsUnset(n)
	})
}

// takes reports whether the discriminator may have a value.
func (b branch) takes(value string) bool {
	return slices.Contains(b.values, value) || len(b.others) > 0 && !slices.Contains(b.others, value)
}
