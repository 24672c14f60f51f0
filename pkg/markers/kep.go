package markers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

// kep are the markers of KEP-1027, in both versions of its text, as kube-openapi and OpenShift use
// them.
var kep = table{
	"union":              {role: whole},
	"unionDiscriminator": {role: discriminator, members: "+unionMember"},
	"unionMember":        {role: member},
	"unionDeprecated":    {role: member, cardinality: union.AtMostOne},
}

// ofKEP returns the unions of KEP-1027's markers.
func (s *structure) ofKEP() []*declaration {
	discriminators, members := s.marked(kep, discriminator), s.marked(kep, member)
	all := slices.IndexFunc(s.marks, func(m mark) bool { return m.role == whole })
	others := append(s.marked(tags, discriminator), s.marked(modes, discriminator)...)
	tagged := append(s.marked(tags, member), s.marked(modes, inMode)...)
	if len(members) == 0 && (len(tagged) > 0 || all < 0 && len(others) > 0) { // with +union, all fields may be members
		// Kubernetes' own types have +union and +unionDiscriminator alongside the tags of
		// validation-gen, which alone describe the union.
		return s.marking(slices.DeleteFunc(discriminators, func(d mark) bool {
			return slices.ContainsFunc(others, func(o mark) bool { return o.field == d.field })
		}), nil)
	}
	if len(members) == 0 && all >= 0 {
		return s.everyField(s.marks[all], discriminators)
	}
	for _, m := range members {
		other := func(o mark) bool { return o.cardinality == 0 }
		if m.cardinality != 0 && (all >= 0 || slices.ContainsFunc(members, other)) {
			s.misused(m, "write +unionMember for all members, or only +union if all fields are members",
				" is alongside +union or +unionMember, whose unions differ")
		}
	}
	return s.marking(discriminators, members)
}

// everyField returns the union of a +union struct: all fields belong to it.
func (s *structure) everyField(m mark, discriminators []mark) []*declaration {
	d := &declaration{at: m.pos, discriminators: discriminators, cardinality: union.AtMostOne}
	for _, f := range s.fields {
		switch {
		case f.inline:
			s.errorf(f.pos, codes.SpansStructs, "give the field a JSON name, or mark members with +unionMember instead of the struct with +union",
				"+union struct %s inlines %s, and a union may not span structs", s.id.Name, f.name)
		case f.json != "" && !slices.ContainsFunc(discriminators, func(d mark) bool { return d.field == f }):
			d.members = append(d.members, mark{definition: m.definition, name: m.name, field: f, pos: f.pos})
		}
	}
	return []*declaration{d}
}

// marking returns the unions of a struct with a marker on each member, which may name its
// discriminator.
func (s *structure) marking(discriminators, members []mark) (l []*declaration) {
	for _, d := range discriminators {
		l = append(l, &declaration{discriminators: []mark{d}})
	}
	// There is no discriminator, or there are several, and these members name none of them.
	rest := &declaration{discriminators: discriminators}
	for _, m := range members {
		u := rest
		switch {
		case m.of != "":
			i := s.discriminatorOf(m, discriminators)
			if i < 0 {
				continue
			}
			if d := discriminators[i].field; m.of != d.json && m.of != d.name {
				m.value = &m.of
			}
			u = l[i]
		case len(discriminators) == 1:
			u = l[0]
		}
		u.members = append(u.members, m)
		u.cardinality = cmp.Or(u.cardinality, m.cardinality)
	}
	switch {
	case s.diags.HasErrors():
		return nil
	case len(rest.members) > 0:
		return []*declaration{rest}
	}
	return l
}

// discriminatorOf returns the index of the discriminator that a member names by JSON name, else by
// Go name, else by one of its values, such as HTTP in +unionMember=HTTP. A single discriminator can
// also have the member's own name as a value. It returns -1 after an error.
func (s *structure) discriminatorOf(m mark, discriminators []mark) int {
	own := len(discriminators) == 1 && (strings.EqualFold(m.of, m.field.name) || strings.EqualFold(m.of, m.field.json))
	for _, is := range []func(d mark) bool{
		func(d mark) bool { return d.field.json == m.of },
		func(d mark) bool { return d.field.name == m.of },
		func(d mark) bool { return own || slices.Contains(s.values(d.field).known, m.of) },
	} {
		found := slices.DeleteFunc(slices.Clone(discriminators), func(d mark) bool { return !is(d) })
		if len(slices.CompactFunc(found, func(a, b mark) bool { return a.field == b.field })) == 1 {
			return slices.IndexFunc(discriminators, is)
		}
	}
	is := func(f *field) bool { return f.json == m.of || f.name == m.of }
	if s.apart(m, func(_ *structure, o mark) bool { return o.role == discriminator && kep.has(o) && is(o.field) }) {
		return -1
	}
	hint := "mark the discriminator with +unionDiscriminator"
	if path, _ := union.Property(s.schema(), m.of); len(path) > 1 {
		hint = declareOnStruct
	} else if i := slices.IndexFunc(s.fields, is); i >= 0 {
		hint = fmt.Sprintf("mark field %s with +unionDiscriminator", s.fields[i].name)
	} else if len(discriminators) > 0 {
		var names []string
		for _, d := range discriminators {
			names = append(names, "+unionMember="+d.field.json)
		}
		hint = "write " + strings.Join(names, " or ")
	}
	s.errorf(m.pos, codes.UnknownDiscriminator, hint, "member %s names %q, which is not a discriminator of %s", m.field.name, m.of, s.id.Name)
	return -1
}
