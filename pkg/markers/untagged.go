package markers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

// untagged returns the unions of KEP-1027's markers, in both versions of its text, as kube-openapi
// and OpenShift use them.
func (s *structure) untagged() []*draft {
	var whole *mark
	for i := range s.marks {
		if s.marks[i].kind == unionType {
			whole = &s.marks[i]
		}
	}
	discriminators, members, old := s.marked(discriminator), s.marked(member), s.marked(deprecated)
	tagged := s.marked(taggedMember, zeroOrOneMember, ifMode)
	if whole == nil { // with +union, all fields may be members
		tagged = append(tagged, s.marked(taggedDiscriminator, modeDiscriminator)...)
	}
	if len(members)+len(old) == 0 && len(tagged) > 0 {
		// Kubernetes' own types have +union and +unionDiscriminator alongside the tags of
		// validation-gen, which alone describe the union.
		for _, d := range discriminators {
			if !slices.ContainsFunc(s.marked(taggedDiscriminator, modeDiscriminator), func(t markedField) bool { return t.field == d.field }) {
				s.errorf(d.mark.pos, codes.NoMembers, "write +k8s:unionDiscriminator, as the members have +k8s:unionMember", "discriminator %s has no members", d.name)
			}
		}
		return nil
	}
	for _, m := range old {
		switch {
		case whole != nil:
			s.errorf(m.mark.pos, codes.BadMarker, "delete it: all fields of a +union struct are members", "%s is not allowed in a +union struct", m.mark.name)
		case len(members) > 0:
			s.errorf(m.mark.pos, codes.BadMarker, "write +unionMember for all members", "%s and +unionMember are in one struct", m.mark.name)
		}
	}
	switch {
	case len(members) > 0:
		return s.named(discriminators, members)
	case whole != nil:
		return s.whole(*whole, discriminators)
	case len(old)+len(discriminators) > 0:
		return []*draft{{discriminators: discriminators, members: old, cardinality: union.AtMostOne}}
	}
	return nil
}

// whole returns the union of a +union struct: all fields belong to it.
func (s *structure) whole(m mark, discriminators []markedField) []*draft {
	d := &draft{discriminators: discriminators, cardinality: union.AtMostOne}
	for _, f := range s.fields {
		switch {
		case f.inline:
			s.errorf(f.pos, codes.SpansStructs, "give the field a JSON name, or mark members with +unionMember instead of the struct with +union",
				"+union struct %s inlines %s, and a union may not span structs", s.id.Name, f.name)
		case f.json != "" && !slices.ContainsFunc(discriminators, func(p markedField) bool { return p.field == f }):
			d.members = append(d.members, markedField{f, mark{kind: unionType, name: "+union", pos: f.pos}})
		}
	}
	if len(discriminators)+len(d.members) == 0 {
		if !s.diags.HasErrors() {
			s.errorf(m.pos, codes.NoMembers, "add optional fields, or delete the marker", "+union struct %s has no members", s.id.Name)
		}
		return nil
	}
	return []*draft{d}
}

// named returns the unions of a struct with a marker on each member, which may name its
// discriminator.
func (s *structure) named(discriminators, members []markedField) []*draft {
	var drafts []*draft
	for _, d := range discriminators {
		drafts = append(drafts, &draft{discriminators: []markedField{d}})
	}
	rest := &draft{}
	for _, m := range members {
		switch {
		case m.mark.of != "":
			i := s.discriminatorOf(m, discriminators)
			if i < 0 {
				continue
			}
			if d := discriminators[i]; m.mark.of != d.json && m.mark.of != d.name {
				m.mark.value = &m.mark.of
			}
			drafts[i].members = append(drafts[i].members, m)
		case len(discriminators) == 1:
			drafts[0].members = append(drafts[0].members, m)
		default:
			rest.members = append(rest.members, m)
		}
	}
	if s.diags.HasErrors() {
		return nil
	}
	if len(rest.members) == 0 {
		return drafts
	}
	// There is no discriminator, or there are several, and these members name none of them.
	rest.discriminators = discriminators
	return []*draft{rest}
}

// discriminatorOf returns the index of the discriminator that a member names by JSON name, else by
// Go name, else by one of its values. It returns -1 after an error.
func (s *structure) discriminatorOf(m markedField, discriminators []markedField) int {
	for _, is := range []func(markedField) bool{
		func(d markedField) bool { return d.json == m.mark.of },
		func(d markedField) bool { return d.name == m.mark.of },
	} {
		if i := slices.IndexFunc(discriminators, is); i >= 0 {
			return i
		}
	}
	if i := s.discriminatorWith(m, discriminators); i >= 0 {
		return i
	}
	is := func(f *field) bool { return f.json == m.mark.of || f.name == m.mark.of }
	if s.apart(m, discriminator, func(d markedField) bool { return is(d.field) }) {
		return -1
	}
	hint := cmp.Or(s.nested(nil, []markerKind{discriminator}, []markerKind{member, deprecated}), "mark the discriminator with +unionDiscriminator")
	if path := s.pathTo(m.mark.of); path != nil {
		hint = s.declaring(path)
	} else if i := slices.IndexFunc(s.fields, is); i >= 0 {
		hint = fmt.Sprintf("mark field %s with +unionDiscriminator", s.fields[i].name)
	} else if len(discriminators) > 0 {
		var names []string
		for _, d := range discriminators {
			names = append(names, "+unionMember="+d.json)
		}
		hint = "write " + strings.Join(names, " or ")
	}
	s.errorf(m.mark.pos, codes.UnknownDiscriminator, hint, "member %s names %q, which is not a discriminator of %s", m.name, m.mark.of, s.id.Name)
	return -1
}

// discriminatorWith returns the index of the only discriminator that can have the value in the
// marker, such as HTTP in +unionMember=HTTP, or -1. A single discriminator can also have the
// member's own name as a value.
func (s *structure) discriminatorWith(m markedField, discriminators []markedField) int {
	found := -1
	for i, d := range discriminators {
		own := len(discriminators) == 1 && (strings.EqualFold(m.mark.of, m.name) || strings.EqualFold(m.mark.of, m.json))
		if !own && !slices.Contains(s.values(d.field).known, m.mark.of) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
