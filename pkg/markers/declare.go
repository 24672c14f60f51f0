package markers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// declared is a union of a struct: a declaration as in YAML, whose nodes have the positions of their
// markers.
type declared struct {
	at   diag.Pos
	item *yaml.Node
	// parsed is the declaration without those keys of unioncel's markers that add to it.
	parsed *union.Declaration
	// keys are unioncel's markers for the union.
	keys []mark
	// ofStruct reports whether markers of the struct list the members.
	ofStruct bool
	// guessed has the Go name of each member whose value no marker sets, by member name; from has
	// the values that the discriminator can take.
	guessed map[string]string
	from    *values
	// list is the list field whose items are the members; empty if the members are properties.
	list string
}

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
	s.relations()
	s.kubebuilder()
	s.ofItems()
	s.own()
	slices.SortStableFunc(s.unions, func(a, b declared) int { return comparePos(a.at, b.at) })
}

// add adds a union with the keys that declare it.
func (s *structure) add(u declared) {
	parsed, diags := union.Parse(u.at.File, "", u.value(), nil)
	if s.diags = append(s.diags, diags...); len(parsed) > 0 {
		u.parsed = parsed[0]
		s.unions = append(s.unions, u)
	}
}

// resolve checks the unions against the schema of the type. A marker with an error gets no other one.
// A type inside itself and a type parameter have no schema here, but may have one in a CRD.
func (s *structure) resolve() {
	var onStruct []*union.Declaration
	var found diag.List
	check := func(l []*union.Declaration, at *apiextensionsv1.JSONSchemaProps) {
		_, diags := union.Resolve(l, at, false)
		found = append(found, diags...)
	}
	for i := range s.unions {
		u := &s.unions[i]
		l, diags := union.Parse(u.at.File, "", u.value(), nil)
		found = append(found, diags...)
		if u.list == "" {
			onStruct = append(onStruct, l...)
		} else if at := schemapath.Property(u.list).Schema(s.schema()); at != nil {
			check(l, at)
		}
	}
	if len(onStruct) > 0 && s.schema().Type == "object" { // another type has no properties
		check(onStruct, s.schema())
	}
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error || d.Code == codes.InvisibleProperty || s.lenient() && slices.Contains(ofCRD, d.Code) ||
			slices.ContainsFunc(s.diags, func(o diag.Diagnostic) bool { return o.Pos == d.Pos })
	})
	s.diags = append(s.diags, found...)
}

// ofCRD are the errors that depend on the CRD rather than on the Go type.
var ofCRD = []diag.Code{codes.ValueNotInEnum, codes.UnknownChange, codes.Contradiction, codes.EmptyIsUnsetType}

// schema returns the schema that controller-gen makes of the type.
func (s *structure) schema() *apiextensionsv1.JSONSchemaProps {
	s.l.parser.NeedFlattenedSchemaFor(s.id)
	at := s.l.parser.FlattenedSchemata[s.id]
	return &at
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

// common checks the parts of a union.
func (s *structure) common(u *draft) {
	for _, m := range u.members {
		if m.both {
			s.errorf(m.mark.pos, codes.Contradiction, "delete the marker that makes it required", "member %s is marked both optional and required", m.name)
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
	u := declared{item: yamltext.MappingNode(), guessed: map[string]string{}}
	if len(d.discriminators) > 0 {
		u.at, u.from = d.discriminators[0].mark.pos, s.values(d.discriminators[0].field)
	} else {
		u.at = d.members[0].mark.pos
	}
	if d.name != "" {
		u.set("name", yamltext.StringNode(d.name))
	}
	members := s.membersOf(d)
	if u.from == nil {
		names := yamltext.StringsNode()
		for _, m := range members {
			names.Content = append(names.Content, m.label(m.mark.pos))
		}
		u.set("members", names)
	} else {
		u.set("discriminator", yamltext.StringNode(d.discriminators[0].json))
		values := yamltext.MappingNode()
		for _, m := range members {
			if s.valuesOf(&u, m); len(m.values) == 0 && m.mark.kind == ifMode {
				if !s.diags.HasErrors() {
					s.errorf(m.mark.pos, codes.BadMarker, "allow it for some mode, or delete the field", "member %s is forbidden in every mode", m.name)
				}
				continue
			}
			values.Content = append(values.Content, m.label(m.mark.pos), oneOrMore(m.values))
		}
		u.set("fields-to-discriminateBy", values)
		if !s.lenient() {
			s.diags = append(s.diags, u.doubts(u.item)...)
		}
	}
	if d.cardinality != 0 && !(u.from != nil && demands(s.schema(), d.discriminators[0].json)) {
		u.set("cardinality", yamltext.StringNode(d.cardinality.String()))
	}
	optional, some, empty := yamltext.StringsNode(), yamltext.MappingNode(), yamltext.StringsNode()
	for _, m := range members {
		if at := s.optionalOf(m, u.from != nil); len(m.optional) > 0 {
			optional.Content = append(optional.Content, m.label(at))
			some.Content = append(some.Content, m.label(at), oneOrMore(m.optional))
		}
		if at := s.emptyOf(m.field, m.mark.pos, d.emptyIsUnset); at.Line > 0 {
			empty.Content = append(empty.Content, m.label(at))
		}
	}
	switch partly := func(m *choice) bool { return len(m.optional) > 0 && len(m.optional) != len(m.values) || m.listed }; {
	case slices.ContainsFunc(members, partly):
		u.set("optionalMembers", some)
	case len(optional.Content) > 0:
		u.set("optionalMembers", optional)
	}
	if len(empty.Content) > 0 {
		u.set(emptyKey, empty)
	}
	s.add(u)
}

// choice is a member with the values that select it, and those for which it is optional.
type choice struct {
	markedField
	modes            []mark
	values, optional []*yaml.Node
	listed           bool // a marker lists the values for which it is optional
}

// label returns the name of the property at a position.
func (f *field) label(at diag.Pos) *yaml.Node { return place(yamltext.StringNode(f.json), at) }

// membersOf returns the members of a draft. Several markers are one member only if they are its modes.
func (s *structure) membersOf(d *draft) (l []*choice) {
	for _, m := range d.members {
		i := slices.IndexFunc(l, func(o *choice) bool { return o.json == m.json })
		switch {
		case i < 0:
			l = append(l, &choice{markedField: m, modes: []mark{m.mark}})
		case m.mark.kind == ifMode && l[i].field == m.field:
			l[i].modes = append(l[i].modes, m.mark)
		default:
			hint := "delete one of them"
			if l[i].field == m.field && len(d.discriminators) > 0 {
				hint = "delete one of them, and write +unioncel:union:values=A;B if several values select it"
			}
			related(s.errorf(m.mark.pos, codes.MemberShared, hint, "property %q is listed twice", m.json), l[i].mark.pos, "the first")
		}
	}
	return l
}

// valuesOf sets the values of the discriminator that select a member.
func (s *structure) valuesOf(u *declared, m *choice) {
	said, ok := m.says(valuesKey)
	switch {
	case m.mark.kind == ifMode:
		for i := range m.modes {
			s.mode(m, i)
		}
	case ok && m.mark.value != nil:
		m.take(*m.mark.value, m.mark.pos)
		related(s.errorf(said.pos, codes.BadMarker, "delete one of the two", "%s and %s both set the value of %s", m.mark.name, said.name, m.name), m.mark.pos, "the other")
	case ok:
		m.mark.pos = said.pos
		m.values = said.values()
	case m.mark.value != nil:
		m.take(*m.mark.value, m.mark.pos)
	default:
		u.guessed[m.json] = m.name
		if value, ok := u.from.valueOf(m.name, m.json); ok {
			m.take(value, m.mark.pos)
		} else if m.take(m.name, m.mark.pos); !s.lenient() { // fit replaces it
			s.diags = append(s.diags, u.from.lack(m.mark.pos, m.name))
		}
	}
}

func (m *choice) take(value string, at diag.Pos) {
	m.values = append(m.values, place(yamltext.StringNode(value), at))
}

// oneOrMore returns a value, or a list of values.
func oneOrMore(values []*yaml.Node) *yaml.Node {
	if len(values) == 1 {
		return values[0]
	}
	list := yamltext.StringsNode()
	list.Content = values
	return list
}

// lenient reports whether the CRDs, not the markers, decide the values of discriminators.
func (s *structure) lenient() bool { return s.l.opts.CRDs && s.l.own(s.id.Package) }

// doubts returns the errors in guessed values. Several members may share a value that markers set,
// but not a value guessed from their names, which is more likely a slip.
func (d *declared) doubts(item *yaml.Node) (diags diag.List) {
	first := map[string]*yaml.Node{}
	for key, value := range yamltext.Pairs(yamltext.Value(item, "fields-to-discriminateBy")) {
		field, ok := d.guessed[key.Value]
		if !ok {
			continue
		}
		if other := first[value.Value]; other != nil {
			diags = append(diags, diag.New(codes.DuplicateValue, d.posOf(key),
				"value %q seems to select both %s and %s", value.Value, d.guessed[other.Value], field).
				Hinted("give each member its own value, or write +unioncel:union:values="+value.Value+" on one of them if they belong together").
				With(diag.Related{Pos: d.posOf(other), Message: "the first member with this value"}))
		} else {
			first[value.Value] = key
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
