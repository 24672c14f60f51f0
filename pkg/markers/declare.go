package markers

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// declared is a union of a struct.
type declared struct {
	union.Union
	at    diag.Pos
	spots map[spot]diag.Pos
	// marked reports whether a field has an emptyKey or optionalKey marker of unioncel.
	marked bool
	// guessed has the Go name of each member whose value no marker sets, by member name; from has
	// the values that the discriminator can take.
	guessed map[string]string
	from    *values
	// optional has the markers that list the values for which a member is optional.
	optional map[string]mark
	// keys are unioncel's own markers. If there are no other markers, alone is their
	// declaration.
	keys  []mark
	alone *union.Declaration
	// list is the list field whose items are the members; empty if the members are properties.
	list string
}

// spot is a member or a value that a key of the declaration names. The key is "members" for all
// members, the key of an own marker for the members with that marker, and valuesKey for values.
type spot struct{ key, name string }

// draft is a union whose parts have been found but not checked.
type draft struct {
	kind           markerKind // of validation-gen's members
	name           string
	discriminators []markedField
	members        []markedField
	// cardinality is zero if the schema decides. AtMostOne lets the discriminator be unset, unless
	// the schema requires it.
	cardinality union.Cardinality
	// emptyIsUnset means that members are unset when validation-gen treats them as unset.
	emptyIsUnset bool
}

func (s *structure) declare() {
	if !s.placed() {
		return
	}
	drafts := slices.Concat(s.tagged(), s.modes(), s.untagged())
	s.mixed(drafts)
	for _, d := range drafts {
		s.common(d)
		s.finish(d)
	}
	s.overlaps(drafts)
	s.relations()
	s.kubebuilder()
	s.own()
	s.ofItems()
	slices.SortStableFunc(s.unions, func(a, b declared) int { return comparePos(a.at, b.at) })
}

// placed checks that the markers can be read and are on types and fields that can have them. It
// reports whether there are any.
func (s *structure) placed() bool {
	wrong := func(m mark, message, hint string) {
		if m.problem == nil && m.kind.kubebuilder() {
			return // controller-gen reports it
		}
		s.diags = append(s.diags, markDiagnostic(m, &misuse{message, hint}))
	}
	found := 0
	for _, m := range s.marks {
		found++
		switch {
		case m.problem != nil || m.kind != unionType && m.kind != own && !m.kind.kubebuilder():
			wrong(m, m.name+" describes a field, but is on a type", "put it on a field of a struct")
		case len(s.fields) == 0:
			wrong(m, m.name+" is on "+s.id.Name+", which is not a struct with fields", "put it on the struct whose fields are the members")
		}
	}
	for _, f := range s.fields {
		for _, m := range f.marks {
			found++
			switch {
			case m.problem != nil || m.kind == unionType:
				wrong(m, m.name+" describes a struct, but is on a field", "put it on the type; for a field write +unionMember")
			case m.kind.kubebuilder():
				wrong(m, "", "")
			case f.inline:
				wrong(m, m.name+" is on the inlined field "+f.name+", which is not a property", "mark the fields of the inlined struct")
			case f.json == "":
				wrong(m, m.name+" is on "+f.name+", which has no JSON name", `give the field a tag such as json:"x,omitempty", or delete the marker`)
			default:
				continue
			}
		}
	}
	return found > 0 && !s.diags.HasErrors()
}

// common checks the constraints that all dialects share, and reports at most one error per member.
func (s *structure) common(u *draft) {
	for i, m := range u.members {
		switch {
		case slices.ContainsFunc(u.members[:i], func(o markedField) bool { return o.field == m.field }): // another mode of the same field
		case slices.ContainsFunc(u.discriminators, func(d markedField) bool { return d.field == m.field }):
			s.errorf(m.mark.pos, codes.DiscriminatorIsMember, "delete one of the two markers",
				"field %s is both the discriminator and a member of a union", m.name)
		case m.both:
			s.errorf(m.mark.pos, codes.Contradiction, "delete the marker that makes it required", "member %s is marked both optional and required", m.name)
		case m.required:
			s.errorf(m.mark.pos, codes.MemberAlwaysSet, "add +optional, or omitempty to its JSON tag: only the union decides which member is set",
				"member %s is required", m.name)
		}
	}
	if len(u.discriminators) == 0 {
		return
	}
	d := u.discriminators[0]
	for _, other := range u.discriminators[1:] {
		related(s.errorf(other.mark.pos, codes.TwoDiscriminators, twoDiscriminatorsHint(other.mark),
			"%s and %s are both the discriminator of a union of %s", d.name, other.name, s.id.Name), d.mark.pos, "the first discriminator")
	}
	if basicInfo(pointee(d.typ))&(types.IsString|types.IsBoolean|types.IsInteger) == 0 {
		s.errorf(d.mark.pos, codes.DiscriminatorNotString, "give it a string, boolean or integer type", "discriminator %s is not a string, boolean or integer, but %s", d.name, typeName(d.typ))
	}
	if len(u.members) == 0 {
		s.memberless(u, d)
	}
}

// mixed reports members that are left without a discriminator because the discriminator of the
// struct is in another dialect.
func (s *structure) mixed(drafts []*draft) {
	for _, u := range drafts {
		if len(u.discriminators) > 0 || len(u.members) != 1 {
			continue
		}
		m := u.members[0]
		for _, other := range drafts {
			if len(other.discriminators) == 0 || other.discriminators[0].mark.kind.tagged() == m.mark.kind.tagged() {
				continue
			}
			d := other.discriminators[0]
			related(s.errorf(m.mark.pos, codes.BadMarker, "write "+memberMarker(d.mark)+" instead",
				"%s makes %s a union by itself: discriminator %s has %s, of another dialect", m.mark.name, m.name, d.name, d.mark.name), d.mark.pos, "the discriminator")
			break
		}
	}
}

// memberMarker returns the marker for the members of a discriminator.
func memberMarker(d mark) string {
	switch {
	case d.kind == taggedDiscriminator && d.of != "":
		return fmt.Sprintf("+k8s:unionMember(union: %q)", d.of)
	case d.kind == taggedDiscriminator:
		return "+k8s:unionMember"
	case d.kind == modeDiscriminator && d.of != "":
		return fmt.Sprintf(`+k8s:ifMode(modality: %q, mode: "A")=+k8s:required`, d.of)
	case d.kind == modeDiscriminator:
		return `+k8s:ifMode("A")=+k8s:required`
	}
	return "+unionMember"
}

func twoDiscriminatorsHint(m mark) string {
	switch m.kind {
	case taggedDiscriminator:
		return `name the unions: +k8s:unionDiscriminator(union: "x") with +k8s:unionMember(union: "x")`
	case modeDiscriminator:
		return `name the groups: +k8s:modeDiscriminator(modality: "x") with +k8s:ifMode(modality: "x", mode: "A")`
	}
	return "delete one, or name the discriminator in every member: +unionMember=<discriminator>"
}

// memberless reports a discriminator without members, which may be in an inlined struct by mistake.
// In validation-gen's dialect members may be added later: the union is then declared, with a
// warning because a marker may be missing.
func (s *structure) memberless(u *draft, d markedField) {
	kinds := map[markerKind][]markerKind{
		discriminator: {member, deprecated}, taggedDiscriminator: {taggedMember}, modeDiscriminator: {ifMode},
	}[d.mark.kind]
	for _, other := range s.relatives() {
		i := slices.IndexFunc(other.marked(kinds...), func(p markedField) bool {
			return p.mark.of == u.name && len(other.marked(d.mark.kind)) == 0
		})
		if i >= 0 {
			p := other.marked(kinds...)[i]
			related(s.errorf(d.mark.pos, codes.SpansStructs, "move the discriminator and its members into one struct",
				"discriminator %s is in %s, its members are in %s", d.name, s.id.Name, other.id.Name), p.mark.pos, "a member")
			return
		}
	}
	nested := s.nested(d.field, kinds, []markerKind{d.mark.kind})
	said := s.errorf(d.mark.pos, codes.NoMembers, cmp.Or(nested, memberHint(d.mark)), "discriminator %s has no members", d.name)
	switch alone := !slices.ContainsFunc(s.fields, func(f *field) bool { return f != d.field && (f.json != "" || f.inline) }); {
	case alone && nested != "":
		said.Severity = diag.Warning
	case alone:
		// No field could be a member yet, so there is nothing to enforce.
		said.Severity, said.Hint = diag.Info, "add optional fields when there are any"
	case d.mark.kind.tagged() && len(s.marked(member, deprecated)) == 0: // no members in another dialect
		said.Severity = diag.Warning
	}
}

func memberHint(m mark) string {
	if m.kind.tagged() {
		return "mark the members with " + memberMarker(m)
	}
	return "mark the members with +unionMember, or the struct with +union when all other fields are members"
}

// finish turns a draft into a union.
func (s *structure) finish(d *draft) {
	if len(d.members) == 0 && (len(d.discriminators) == 0 || !d.discriminators[0].mark.kind.tagged()) {
		return // common has reported it
	}
	u := declared{Union: union.Union{Name: d.name, Cardinality: d.cardinality}, spots: map[spot]diag.Pos{}, guessed: map[string]string{}, optional: map[string]mark{}}
	if len(d.discriminators) > 0 {
		u.at = d.discriminators[0].mark.pos
		u.Discriminator = d.discriminators[0].json
		u.from = s.values(d.discriminators[0].field)
	} else {
		u.at = d.members[0].mark.pos
	}
	taken := map[string]markedField{}
	for _, m := range d.members {
		if i := slices.IndexFunc(u.Members, func(o union.Member) bool { return o.Name == m.json }); i >= 0 && m.mark.kind == ifMode {
			s.mode(&u.Members[i], m, taken)
			continue
		}
		out := union.Member{Name: m.json}
		if d.emptyIsUnset {
			out.Empty = emptiness(m.typ)
		}
		s.emptyOf(&u, &out, m)
		switch {
		case u.from == nil:
		case m.mark.kind == ifMode:
			s.mode(&out, m, taken)
		default:
			if l, ok := m.says(valuesKey); ok {
				s.ownValues(&out, m, l, taken)
			} else {
				s.value(&u, &out, m, taken)
			}
		}
		if m.mark.optional {
			out.Optional = out.Values
		}
		u.Members = append(u.Members, out)
		u.spots[spot{"members", out.Name}] = m.mark.pos
	}
	for i := range u.Members { // once all modes are known
		at := slices.IndexFunc(d.members, func(m markedField) bool { return m.json == u.Members[i].Name })
		s.optionalOf(&u, &u.Members[i], d.members[at])
	}
	if u.from != nil && !s.lenient() {
		s.diags = append(s.diags, u.judge(u.Members)...)
	}
	for value, m := range taken {
		u.spots[spot{valuesKey, value}] = m.mark.pos
	}
	for _, m := range u.Members {
		if u.from != nil && len(m.Values) == 0 && !s.diags.HasErrors() {
			i := slices.IndexFunc(d.members, func(p markedField) bool { return p.json == m.Name })
			s.errorf(d.members[i].mark.pos, codes.BadMarker, "allow it for some mode, or delete the field", "member %s is forbidden in every mode", d.members[i].name)
		}
	}
	s.unions = append(s.unions, u)
}

// ownValues gives a member the values of a unioncel marker.
func (s *structure) ownValues(out *union.Member, m markedField, l mark, taken map[string]markedField) {
	if m.mark.value != nil {
		related(s.errorf(l.pos, codes.BadMarker, "delete one of the two", "%s and %s both set the value of %s", m.mark.name, l.name, m.name), m.mark.pos, "the other")
		return
	}
	m.mark.pos = l.pos
	for _, value := range l.node.Content {
		s.take(out, m, value.Value, taken)
	}
	if len(l.node.Content) == 0 {
		s.errorf(l.pos, codes.NoMembers, "give it a value", "no discriminator value selects member %s", m.name)
	}
}

// value gives a member the discriminator value that selects it.
func (s *structure) value(u *declared, out *union.Member, m markedField, taken map[string]markedField) {
	if m.mark.value != nil {
		s.take(out, m, *m.mark.value, taken)
		return
	}
	u.guessed[out.Name] = m.name
	switch value, ok := u.from.valueOf(m.name, m.json); {
	case ok:
		s.take(out, m, value, taken)
	case s.lenient():
		out.Values = []string{m.name} // fit replaces it
	default:
		s.diags = append(s.diags, u.from.lack(m.mark.pos, m.name))
	}
}

// lenient reports whether the CRDs, not the markers, decide the values of discriminators.
func (s *structure) lenient() bool { return s.l.opts.CRDs && s.l.own(s.id.Package) }

// judge returns the errors in the values of members, once they are known. Several members may share
// a value that markers set, but not a value guessed from their names, which is more likely a slip.
func (d *declared) judge(members []union.Member) (diags diag.List) {
	first := map[string]string{}
	for _, m := range members {
		if field, ok := d.guessed[m.Name]; ok && len(m.Values) > 0 {
			value := m.Values[0]
			if other, ok := first[value]; ok {
				diags = append(diags, diag.New(codes.DuplicateValue, d.pos("members", m.Name),
					"value %q seems to select both %s and %s", value, d.guessed[other], field).
					Hinted("give each member its own value, or write +unioncel:union:values="+value+" on one of them if they belong together").
					With(diag.Related{Pos: d.pos("members", other), Message: "the first member with this value"}))
			} else {
				first[value] = m.Name
			}
		}
		listed := d.optional[m.Name]
		for i, value := range listed.values() {
			said := diag.New(codes.Contradiction, listed.pos, "%s names %q, which does not select %q", listed.name, value, m.Name).
				Hinted(spelling.Hint(value, m.Values, "the values are "+strings.Join(m.Values, ", ")))
			switch {
			case len(m.Values) == 0: // reported already
			case !slices.Contains(m.Values, value):
				diags = append(diags, said)
			case slices.Contains(listed.values()[:i], value):
				said.Code, said.Message, said.Hint = codes.DuplicateValue, fmt.Sprintf("%s names %q twice", listed.name, value), "delete one of them"
				diags = append(diags, said)
			}
		}
	}
	return diags
}

// lack returns the diagnostic for a member that has no value.
func (v *values) lack(pos diag.Pos, member string) diag.Diagnostic {
	return diag.New(codes.ValueNotInEnum, pos,
		"no value of discriminator %s is for member %s: the values are %s", v.discriminator, member, strings.Join(v.known, ", ")).
		Hinted("name the field or a constant after the value, or write +unioncel:union:values=V on the field")
}

// take adds a value to a member. Several members may have it.
func (s *structure) take(out *union.Member, m markedField, value string, taken map[string]markedField) {
	other, twice := taken[value]
	switch {
	case value == "":
		s.errorf(m.mark.pos, codes.EmptyValue, `"" means that the discriminator is unset; give the member a value`, "the empty value cannot select %s", m.name)
	case twice && other.field == m.field && m.mark.kind != ifMode:
		s.errorf(m.mark.pos, codes.DuplicateValue, "delete one of them", "value %q is listed twice for %s", value, m.name)
	default:
		taken[value] = m
		out.Values = append(out.Values, value)
	}
}

// overlaps reports discriminators of two unions, and properties that a union lists twice.
func (s *structure) overlaps(drafts []*draft) {
	discriminators := map[string]markedField{}
	for _, d := range drafts {
		for _, p := range d.discriminators {
			if other, ok := discriminators[p.json]; ok && other.mark.pos != p.mark.pos {
				related(s.errorf(p.mark.pos, codes.DiscriminatorShared, "each union needs a discriminator of its own",
					"field %s is the discriminator of two unions", p.name), other.mark.pos, "the other union")
			}
			discriminators[p.json] = p
		}
	}
	for _, d := range drafts {
		own := map[string]markedField{}
		for _, m := range d.members {
			inner, repeated := own[m.json]
			switch {
			case repeated && (m.mark.kind != ifMode || inner.field != m.field):
				hint := "delete one of them"
				if inner.field == m.field && len(d.discriminators) > 0 {
					hint = "delete one of them, and write +unioncel:union:values=A;B if several values select it"
				}
				related(s.errorf(m.mark.pos, codes.MemberShared, hint, "property %q is listed twice", m.json), inner.mark.pos, "the first")
			}
			own[m.json] = m
		}
	}
}
