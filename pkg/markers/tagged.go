package markers

import (
	"cmp"
	"go/types"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

// tagged returns the unions of validation-gen's +k8s:unionMember and +k8s:zeroOrOneOfMember, in the
// order of their first member or discriminator.
func (s *structure) tagged() []draft {
	type key struct {
		kind markerKind
		name string
	}
	var order []key
	drafts := map[key]*draft{}
	at := func(k markerKind, name string) *draft {
		id := key{k, name}
		if drafts[id] == nil {
			drafts[id] = &draft{name: name, emptyIsUnset: true, cardinality: union.ExactlyOne}
			order = append(order, id)
		}
		return drafts[id]
	}
	for _, p := range s.marked(taggedDiscriminator, taggedMember, zeroOrOneMember) {
		if p.mark.kind == taggedDiscriminator {
			d := at(taggedMember, p.mark.of)
			d.discriminators = append(d.discriminators, p)
			continue
		}
		s.nilable(p)
		d := at(p.mark.kind, p.mark.of)
		d.members = append(d.members, p)
	}
	var l []draft
	for _, id := range order {
		d := drafts[id]
		if id.kind == zeroOrOneMember || len(d.discriminators) > 0 {
			// An unset discriminator only means that no member is selected.
			d.cardinality = union.AtMostOne
		}
		s.together(id.kind, d)
		l = append(l, *d)
	}
	return l
}

// together reports a named union that continues in an inlined struct. validation-gen sees two
// unions there, which is hardly intended unless each is complete.
func (s *structure) together(k markerKind, u *draft) {
	if u.name == "" || len(u.members) == 0 {
		return // a discriminator without members is reported as such
	}
	for _, other := range s.family((*structure).inner) {
		var first *markedField
		complete := false
		for _, p := range other.marked(taggedDiscriminator, taggedMember, zeroOrOneMember) {
			if p.mark.of == u.name && (p.mark.kind == k || p.mark.kind == taggedDiscriminator && k == taggedMember) {
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
func (s *structure) modes() []draft {
	var order []string
	drafts := map[string]*draft{}
	for _, p := range s.marked(modeDiscriminator, ifMode) {
		d := drafts[p.mark.of]
		if d == nil {
			d = &draft{name: p.mark.of, emptyIsUnset: true, cardinality: union.AtMostOne}
			drafts[p.mark.of] = d
			order = append(order, p.mark.of)
		}
		if p.mark.kind == modeDiscriminator {
			d.discriminators = append(d.discriminators, p)
			continue
		}
		if !slices.ContainsFunc(d.members, func(m markedField) bool { return m.field == p.field }) {
			s.nilable(p)
		}
		d.members = append(d.members, p)
	}
	var l []draft
	for _, name := range order {
		d := drafts[name]
		if len(d.discriminators) == 0 {
			s.modeless(d)
			continue
		}
		l = append(l, *d)
	}
	return l
}

// modeless reports modes without a discriminator.
func (s *structure) modeless(u *draft) {
	m := u.members[0]
	for _, other := range s.relatives() {
		for _, d := range other.marked(modeDiscriminator) {
			if d.mark.of == u.name {
				related(s.errorf(m.mark.pos, codes.SpansStructs, "move the discriminator and its members into one struct",
					"member %s is in %s, its discriminator %s is in %s", m.name, s.id.Name, d.name, other.id.Name), d.mark.pos, "the discriminator")
				return
			}
		}
	}
	hint := cmp.Or(s.nested(nil, []markerKind{modeDiscriminator}, []markerKind{ifMode}), "mark the field with the mode with +k8s:modeDiscriminator")
	s.errorf(m.mark.pos, codes.UnknownDiscriminator, hint,
		"member %s has modes, and %s has no discriminator for them", m.name, s.id.Name)
}

// mode adds the mode of one ifMode marker to a member.
func (s *structure) mode(out *union.Member, m markedField, taken map[string]markedField) {
	value := *m.mark.value
	own := m.json + "\x00" + value // cannot collide with the values of members
	other, ok := taken[own]
	taken[own] = m
	if ok {
		if other.mark.mode != m.mark.mode {
			related(s.errorf(m.mark.pos, codes.Contradiction, "delete one of the two", "mode %q of %s is both %s and %s", value, m.name, other.mark.mode, m.mark.mode),
				other.mark.pos, "the first")
		}
		return
	}
	if m.mark.mode == "forbidden" {
		return // like every mode that no marker names
	}
	if m.mark.mode == "optional" {
		out.Optional = append(out.Optional, value)
	}
	s.take(out, m, value, taken)
}

// emptiness returns the values, besides null, that validation-gen treats as unset: the zero values
// of types that are not pointers.
func emptiness(t types.Type) union.Emptiness {
	switch t := types.Unalias(t).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return union.EmptyString
		}
		switch {
		case t.Info()&types.IsBoolean != 0:
			return union.EmptyBoolean
		case t.Info()&types.IsInteger != 0:
			return union.EmptyInteger
		case t.Info()&types.IsFloat != 0:
			return union.EmptyNumber
		}
	case *types.Slice, *types.Map:
		return union.EmptyCollection
	}
	return union.PresentWhenEmpty
}
