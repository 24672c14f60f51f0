package infer

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// textOf returns the text of a constant that a rule compares a property with.
func textOf(constant any) string {
	for _, t := range []union.ValueType{union.StringValue, union.BooleanValue, union.IntegerValue} {
		if text := t.Text(constant); text != "" {
			return text
		}
	}
	return ""
}

// compares reports whether a discriminator at a path may have a constant as value, or "".
func (o *candidateObject) compares(path []string, constant any) bool {
	slot, ok := o.slot(path...)
	if !ok {
		return false
	}
	t := o.typeOf(slot)
	return constant == any("") || t.Text(constant) != ""
}

// typeOf returns the type of a property as a discriminator.
func (o *candidateObject) typeOf(slot int) union.ValueType {
	s := o.property(slot)
	t, _ := union.ValueTypeOf(&s)
	return t
}

// unsetValue returns the value of u that an unset discriminator means, or "": the conditions accept the
// same members with both.
func (g *group) unsetValue(u *union.Union, members []reading, accepted func(v value, slots ...int) bool) string {
	alike := func(a, b value) bool {
		var selected []int
		for _, r := range members {
			if slices.Contains(r.selected, b.text) {
				selected = append(selected, r.slot)
			}
			if accepted(a, r.slot) != accepted(b, r.slot) {
				return false
			}
		}
		return accepted(a) == accepted(b) && accepted(a, selected...) == accepted(b, selected...)
	}
	for _, v := range g.values {
		if len(u.MembersOf(v.text)) == 0 {
			continue
		}
		unset, differs := false, false
		for _, w := range g.values {
			if w.text == "" {
				unset, differs = true, differs || !alike(w, v)
			}
		}
		if unset && !differs {
			return v.text
		}
	}
	return ""
}
