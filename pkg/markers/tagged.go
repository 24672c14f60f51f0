package markers

import (
	"cmp"
	"go/types"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

// tagged returns the unions of validation-gen's +k8s:unionMember and +k8s:zeroOrOneOfMember, in the
// order of their first member or discriminator.
func (s *structure) tagged() (l []*draft) {
	for _, p := range s.marked(taggedDiscriminator, taggedMember, zeroOrOneMember) {
		if p.mark.kind == taggedDiscriminator {
			d := draftOf(&l, taggedMember, p.mark.of)
			d.discriminators = append(d.discriminators, p)
			continue
		}
		s.nilable(p)
		d := draftOf(&l, p.mark.kind, p.mark.of)
		d.members = append(d.members, p)
	}
	for _, d := range l {
		d.cardinality = union.ExactlyOne
		if d.kind == zeroOrOneMember || len(d.discriminators) > 0 {
			// An unset discriminator only means that no member is selected.
			d.cardinality = union.AtMostOne
		}
		s.together(d)
	}
	return l
}

// draftOf returns the draft with a kind of members and a name. It adds the draft to the list if
// necessary.
func draftOf(l *[]*draft, kind markerKind, name string) *draft {
	for _, d := range *l {
		if d.kind == kind && d.name == name {
			return d
		}
	}
	d := &draft{kind: kind, name: name, emptyIsUnset: true, cardinality: union.AtMostOne}
	*l = append(*l, d)
	return d
}

// together reports a named union that continues in an inlined struct. validation-gen sees two
// unions there, which is hardly intended unless each is complete.
func (s *structure) together(u *draft) {
	if u.name == "" || len(u.members) == 0 {
		return // a discriminator without members is reported as such
	}
	for _, other := range s.family((*structure).inner) {
		var first *markedField
		complete := false
		for _, p := range other.marked(taggedDiscriminator, taggedMember, zeroOrOneMember) {
			if p.mark.of == u.name && (p.mark.kind == u.kind || p.mark.kind == taggedDiscriminator && u.kind == taggedMember) {
				if first == nil {
					first = &p
				}
				complete = complete || p.mark.kind == taggedDiscriminator
			}
		}
		if first != nil && !(complete && len(u.discriminators) > 0) {
			m := u.members[0]
			related(s.errorf(m.mark.pos, codes.SpansStructs, "move the fields of the union into one struct, or name the unions differently",
				"union %q has fields in %s and in %s, which it inlines", u.name, s.id.Name, other.id.Name), first.mark.pos, "the other part")
			return
		}
	}
}

// nilable reports members that validation-gen cannot handle: a struct that is not a pointer is
// always set.
func (s *structure) nilable(p markedField) {
	switch types.Unalias(p.typ).Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Basic:
	default:
		s.errorf(p.mark.pos, codes.BadMarker, "make it a pointer", "%s is on %s, whose type %s is always set: a member is a pointer, map, list, string, number or boolean",
			p.mark.name, p.name, typeName(p.typ))
	}
}

// modes returns the unions of +k8s:modeDiscriminator and +k8s:ifMode.
func (s *structure) modes() (l []*draft) {
	for _, p := range s.marked(modeDiscriminator, ifMode) {
		d := draftOf(&l, ifMode, p.mark.of)
		if p.mark.kind == modeDiscriminator {
			d.discriminators = append(d.discriminators, p)
			continue
		}
		if !slices.ContainsFunc(d.members, func(m markedField) bool { return m.field == p.field }) {
			s.nilable(p)
		}
		d.members = append(d.members, p)
	}
	return slices.DeleteFunc(l, s.modeless)
}

// modeless reports modes without a discriminator.
func (s *structure) modeless(u *draft) bool {
	if len(u.discriminators) > 0 {
		return false
	}
	m := u.members[0]
	if !s.apart(m, modeDiscriminator, func(d markedField) bool { return d.mark.of == u.name }) {
		hint := cmp.Or(s.nested(nil, []markerKind{modeDiscriminator}, []markerKind{ifMode}), "mark the field with the mode with +k8s:modeDiscriminator")
		s.errorf(m.mark.pos, codes.UnknownDiscriminator, hint,
			"member %s has modes, and %s has no discriminator for them", m.name, s.id.Name)
	}
	return true
}

// apart reports a member whose discriminator is in a struct that s inlines, or that inlines s. It
// returns false if there is no such discriminator.
func (s *structure) apart(m markedField, kind markerKind, is func(markedField) bool) bool {
	for _, other := range s.relatives() {
		for _, d := range other.marked(kind) {
			if is(d) {
				related(s.errorf(m.mark.pos, codes.SpansStructs, "move the discriminator and its members into one struct",
					"member %s is in %s, its discriminator %s is in %s", m.name, s.id.Name, d.name, other.id.Name), d.mark.pos, "the discriminator")
				return true
			}
		}
	}
	return false
}

// mode adds the mode of one ifMode marker to a member.
func (s *structure) mode(m *choice, i int) {
	mode := m.modes[i]
	for _, other := range m.modes[:i] {
		if *other.value != *mode.value {
			continue
		}
		if other.mode != mode.mode {
			related(s.errorf(mode.pos, codes.Contradiction, "delete one of the two", "mode %q of %s is both %s and %s", *mode.value, m.name, other.mode, mode.mode),
				other.pos, "the first")
		}
		return
	}
	if mode.mode == "forbidden" {
		return // like every mode that no marker names
	}
	m.take(*mode.value, mode.pos)
	if mode.mode == "optional" {
		m.optional = append(m.optional, m.values[len(m.values)-1])
	}
}

// unsetWhenZero reports whether validation-gen treats the zero value of a field as unset, besides
// null: types that are not pointers. A union can do the same if the schema has the value.
func (f *field) unsetWhenZero(at *apiextensionsv1.JSONSchemaProps) bool {
	switch types.Unalias(f.typ).Underlying().(type) {
	case *types.Basic, *types.Slice, *types.Map:
		prop := at.Properties[f.json]
		empty := union.EmptinessOf(&prop)
		return empty != union.PresentWhenEmpty && empty != union.EmptyObject
	}
	return false
}
