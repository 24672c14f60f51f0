package union

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
)

// variant leaves out the members that this variant of the CRD lacks. Feature gates and release
// channels generate several CRDs from one Go type, so a declaration may name a member of which
// the schema has neither the property nor a value. If either looks misspelt or renamed, or no
// member would be left, the member stays and is an error.
func (r *resolver) variant() {
	_, discriminator := Property(r.schema, r.d.discriminator().Text)
	if discriminator == nil || len(discriminator.Enum) == 0 {
		return
	}
	enum := EnumStrings(discriminator)
	var declared []string
	for _, f := range r.d.fields {
		for _, v := range f.values {
			declared = append(declared, v.Text)
		}
	}
	unused := except(enum, declared)
	if r.undeclared(unused) {
		return
	}
	absent := func(f fieldValues) bool {
		path, property := Property(r.schema, f.name.Text)
		return property == nil && len(f.values) > 0 &&
			english.Closest(f.name.Text, except(r.siblings(path), r.d.Properties())) == "" &&
			!slices.ContainsFunc(f.values, func(v word) bool {
				return v.Text == "" || slices.Contains(enum, v.Text) || r.strings() && english.Closest(v.Text, unused) != ""
			})
	}
	var left, missing []fieldValues
	for _, f := range r.fields {
		if absent(f) {
			missing = append(missing, f)
		} else {
			left = append(left, f)
		}
	}
	if len(left) == 0 {
		return
	}
	for _, f := range missing {
		var values []string
		for _, v := range f.values {
			if quoted := fmt.Sprintf("%q", v.Text); !slices.Contains(values, quoted) {
				values = append(values, quoted)
				r.absentValues = append(r.absentValues, v.Text)
			}
		}
		r.absentMembers = append(r.absentMembers, f.name.Text)
		r.diags = append(r.diags, diag.New(codes.AbsentMember, f.name.Pos,
			"member %q is left out: the schema has neither the property nor %s in the enum of %q", f.name.Text, english.List(values, "or"), r.d.discriminator().Text).At(r.d.Path).
			Hinted("nothing to do if this variant of the CRD lacks the member; else add the property and the value"))
	}
	for i, f := range left {
		remaining := slices.DeleteFunc(slices.Clone(f.values), func(v word) bool { return slices.Contains(r.absentValues, v.Text) })
		if len(remaining) > 0 {
			left[i].values = remaining
		}
	}
	r.fields = left
}

// undeclared reports whether one of the values has the name of a property that is not declared:
// such a member may have been renamed.
func (r *resolver) undeclared(values []string) bool {
	for name := range r.schema.Properties {
		if !slices.Contains(r.d.Properties(), name) && slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, name) }) {
			return true
		}
	}
	return false
}

// except returns the names of l that are not in names.
func except(l, names []string) []string {
	return slices.DeleteFunc(slices.Clone(l), func(name string) bool { return slices.Contains(names, name) })
}
