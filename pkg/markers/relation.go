package markers

import (
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// relations declares the presence relations of +k8s:dependentRequired and +k8s:dependentForbidden,
// which name other properties of the struct.
func (s *structure) relations() {
	u := declared{Union: union.Union{Cardinality: union.AnyNumber}, spots: map[spot]diag.Pos{}}
	member := func(f *field, at diag.Pos) *union.Member {
		i := slices.IndexFunc(u.Members, func(m union.Member) bool { return m.Name == f.json })
		if i < 0 {
			i = len(u.Members)
			out := union.Member{Name: f.json, Empty: emptiness(f.typ)}
			s.emptyOf(&u, &out, markedField{field: f})
			u.Members = append(u.Members, out)
			u.spots[spot{"members", f.json}] = at
		}
		return &u.Members[i]
	}
	for _, p := range s.marked(dependentRequired, dependentForbidden) {
		name := *p.mark.value
		other := s.property(name)
		if other == nil {
			s.errorf(p.mark.pos, codes.UnknownMember, spelling.Hint(name, s.propertyNames(), "name the property as in JSON"), "%s names %q, which is not a property of %s", p.mark.name, name, s.id.Name)
			continue
		}
		for _, each := range []*field{p.field, other} {
			s.nilable(markedField{each, p.mark})
			if each.required {
				s.errorf(p.mark.pos, codes.MemberAlwaysSet, "delete the marker, or make the field optional", "%s relates %s to %s, but %s is always set", p.mark.name, p.name, other.name, each.name)
			}
		}
		m := member(p.field, p.mark.pos)
		l := &m.Requires
		if p.mark.kind == dependentForbidden {
			l = &m.Forbids
		}
		switch {
		case other == p.field:
			s.errorf(p.mark.pos, codes.Contradiction, "delete it", "%s relates %s to itself", p.mark.name, p.name)
		case slices.Contains(*l, name):
			s.errorf(p.mark.pos, codes.DuplicateValue, "delete one of them", "%s names %q twice", p.mark.name, name)
		default:
			*l = append(*l, name)
		}
		member(other, p.mark.pos)
		if u.at.Line == 0 {
			u.at = p.mark.pos
		}
	}
	if len(u.Members) > 0 {
		s.unions = append(s.unions, u)
	}
}

// propertyNames returns the properties of the struct.
func (s *structure) propertyNames() (l []string) {
	for _, f := range s.fields {
		if f.json != "" {
			l = append(l, f.json)
		}
	}
	return l
}
