package clientschema

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// branch is one of the forms of a union object: what its discriminator is, which members
// are set, and which are not. Others may be or not.
type branch struct {
	title string
	// The discriminator has one of values; is set, and none of others; or is unset. Without
	// a discriminator it is none of these.
	values, others []string
	unset          bool

	set, clear []int
}

// branches returns the forms in which a union object of a schema is legal: each state that
// union.Violations accepts has one of them, and only one.
func branches(u *union.Union, n node) []branch {
	discriminator := at(n, u, u.Discriminator)
	values, enum := discriminator["enum"].([]any)
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
		if u.Cardinality == union.AtMostOne {
			l = append(l, branch{title: "none", clear: all})
		}
		for i := range all {
			b := only(i)
			if u.Cardinality == union.AtLeastOne { // whatever is not the first
				b.clear = all[:i]
			}
			l = append(l, b)
		}
		return l
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
	neverUnset := enum && !slices.Contains(values, any("")) && !slices.Contains(fallbacks(n, u), "") && !nullable(n, u, u.Discriminator)
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

// fallbacks are the values of the discriminator where one of the properties that lead to it
// is left out, for each in turn; "" is unset.
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
		text, _ := value.(string)
		l = append(l, text)
	}
	return l
}

// nullable reports whether something that leads to the discriminator or member of a name, or
// that itself, may be null.
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
