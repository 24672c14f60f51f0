package markers

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// declaration is a union of a struct: a declaration as in YAML, whose nodes have the positions of
// their markers.
type declaration struct {
	at   diag.Pos
	item *yaml.Node
	// names are those of the discriminator and the members that are properties, in this order.
	names []string
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

	// The parts of a union that markers of fields declare; item is built from them.
	name                    string
	discriminators, members []mark
	// cardinality is zero if the schema decides. AtMostOne lets the discriminator be unset, unless
	// the schema requires it.
	cardinality union.Cardinality
}

// declare finds the unions that the markers of a type declare.
func (s *structure) declare() {
	if !s.placed() {
		return
	}
	var all []*declaration
	for _, d := range dialects() {
		all = append(all, d.unions(s)...)
	}
	s.mixed(all)
	for _, u := range all {
		if u.item != nil || s.build(u) {
			s.unions = append(s.unions, u)
		}
	}
	if !s.diags.HasErrors() { // otherwise the keys would cause further errors
		s.own()
	}
	s.resolve()
	slices.SortStableFunc(s.unions, func(a, b *declaration) int { return a.at.Compare(b.at) })
}

// resolve checks the unions against the schema of the type. A marker with an error gets no other one.
// A type inside itself and a type parameter have no schema here, but may have one in a CRD.
func (s *structure) resolve() {
	declared := map[string][]*union.Declaration{} // by list
	for _, u := range s.unions {
		l, diags := union.Parse(u.at.File, "", u.value(), nil)
		for i, d := range diags {
			if !u.ofStruct && !slices.ContainsFunc(u.keys, func(m mark) bool { return m.pos == d.Pos }) {
				diags[i].Message, diags[i].Hint = onFields.Replace(d.Message), onFields.Replace(d.Hint)
			}
		}
		s.diags = append(s.diags, diags...)
		declared[u.list] = append(declared[u.list], l...)
	}
	var found diag.List // apart from errors of parsing, which do not depend on a schema
	for list, l := range declared {
		at := s.schema()
		if list != "" {
			at = schemapath.Property(list).Schema(at)
		}
		if at != nil && (list != "" || at.Type == "object") { // another type has no properties
			_, diags := union.Resolve(l, at, false)
			found = append(found, diags...)
		}
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
// reports whether there are any. controller-gen reports its own markers on other types and fields.
func (s *structure) placed() bool {
	wrong := func(m mark, hint, format string, args ...any) {
		if m.problem != nil {
			s.diags = append(s.diags, *m.problem)
		} else if m.role != listing {
			s.misused(m, hint, format, args...)
		}
	}
	found := len(s.marks)
	for _, m := range s.marks {
		switch {
		case m.problem != nil || m.role != whole && m.role != own && m.role != listing:
			wrong(m, "put it on a field of a struct", " describes a field, but is on a type")
		case len(s.fields) == 0:
			wrong(m, "put it on the struct whose fields are the members", " is on %s, which is not a struct with fields", s.id.Name)
		}
	}
	for _, f := range s.fields {
		found += len(f.marks)
		for _, m := range f.marks {
			switch {
			case m.problem != nil || m.role == whole || m.role == listing:
				wrong(m, "put it on the type; for a field write +unionMember", " describes a struct, but is on a field")
			case f.inline:
				wrong(m, "mark the fields of the inlined struct", " is on the inlined field %s, which is not a property", f.name)
			case f.json == "":
				wrong(m, `give the field a tag such as json:"x,omitempty", or delete the marker`, " is on %s, which has no JSON name", f.name)
			}
		}
	}
	return found > 0 && !s.diags.HasErrors()
}

// mixed reports members that are left without a discriminator because the discriminator of the
// struct is in another dialect.
func (s *structure) mixed(all []*declaration) {
	for _, u := range all {
		if len(u.discriminators) > 0 || len(u.members) != 1 || u.list != "" {
			continue
		}
		m := u.members[0]
		i := slices.IndexFunc(all, func(o *declaration) bool {
			return len(o.discriminators) > 0 && kep.has(o.discriminators[0]) != kep.has(m)
		})
		if i >= 0 {
			d := all[i].discriminators[0]
			related(s.misused(m, "write "+memberMarker(d)+" instead",
				" makes %s a union by itself: discriminator %s has %s, of another dialect", m.field.name, d.field.name, d.name), d.pos, "the discriminator")
		}
	}
}

// memberMarker returns the marker for the members of a discriminator.
func memberMarker(d mark) string {
	if d.of != "" {
		return d.members + " of the same " + d.ofArg
	}
	return d.members
}

// declareOnStruct is the hint for a union that markers of fields cannot declare.
const declareOnStruct = "move the discriminator and its members into one struct, or declare the union on the struct that contains both, with +" +
	ownPrefix + ":discriminator=PATH and +" + ownPrefix + ":fields-to-discriminateBy={member: Value}"

// apart reports a marker whose union continues in another struct: one that contains s, or that s
// contains, and that has a marker that satisfies a condition. It reports whether there is one.
func (s *structure) apart(m mark, is func(other *structure, o mark) bool) bool {
	for _, id := range slices.SortedFunc(maps.Keys(s.l.known), compareIdents) {
		other := s.l.known[id]
		if other == s || !s.l.reach(s.id)[id] && !s.l.reach(id)[s.id] {
			continue
		}
		for _, o := range other.marked(definitions()) {
			if is(other, o) {
				related(s.errorf(m.pos, codes.SpansStructs, declareOnStruct,
					"the union has parts in different structs: %s in %s, %s in %s", m.field.name, s.id.Name, o.field.name, id.Name), o.pos, "the other part")
				return true
			}
		}
	}
	return false
}

// memberless reports a discriminator without members, which may be in another struct by mistake. In
// validation-gen's dialect members may be added later: the union is then declared, with a warning
// because a marker may be missing.
func (s *structure) memberless(d mark) {
	if !slices.ContainsFunc(s.fields, func(f *field) bool { return f != d.field && (f.json != "" || f.inline) }) {
		// No field could be a member yet, so there is nothing to enforce.
		s.errorf(d.pos, codes.NoMembers, "add optional fields when there are any", "discriminator %s has no members", d.field.name).Severity = diag.Info
		return
	}
	same := func(o mark) bool {
		return slices.ContainsFunc(dialects(), func(l dialect) bool { return l.markers.has(o) && l.markers.has(d) })
	}
	if s.apart(d, func(other *structure, o mark) bool {
		// In validation-gen's dialect, members of a nested struct are a union without a discriminator.
		near := !tags.has(o) || s.l.inlines(s.id, other.id) || s.l.inlines(other.id, s.id)
		return near && (o.role == member || o.role == inMode) && same(o) && (o.of == d.of || o.of == d.field.json) &&
			!slices.ContainsFunc(other.marked(definitions(), discriminator), same)
	}) {
		return
	}
	hint := "mark the members with " + memberMarker(d)
	if kep.has(d) {
		hint += ", or the struct with +union when all other fields are members"
	}
	said := s.errorf(d.pos, codes.NoMembers, hint, "discriminator %s has no members", d.field.name)
	if !kep.has(d) && len(s.marked(kep, member)) == 0 { // no members in another dialect
		said.Severity = diag.Warning
	}
}

// build makes a declaration of its parts. It reports whether there is one.
func (s *structure) build(u *declaration) bool {
	u.item, u.guessed = yamltext.MappingNode(), map[string]string{}
	if parts := slices.Concat(u.discriminators, u.members); len(parts) > 0 {
		u.at = parts[0].pos
	}
	if u.name != "" {
		u.set("name", yamltext.StringNode(u.name))
	}
	if u.list != "" {
		s.buildItems(u)
		return true
	}
	if len(u.discriminators) > 0 {
		d := u.discriminators[0]
		for _, other := range u.discriminators[1:] {
			hint := "delete one, or name the discriminator in every member: +unionMember=<discriminator>"
			if d.ofArg != "" {
				hint = fmt.Sprintf("name the unions: %s(%s: \"x\"), and the same in the markers of the members", d.name, d.ofArg)
			}
			related(s.errorf(other.pos, codes.TwoDiscriminators, hint,
				"%s and %s are both the discriminator of a union of %s", d.field.name, other.field.name, s.id.Name), d.pos, "the first discriminator")
		}
		if len(u.members) == 0 {
			if s.memberless(d); kep.has(d) {
				return false
			}
		}
		if tags.has(d) || modes.has(d) {
			u.cardinality = union.AtMostOne // an unset discriminator only means that no member is selected
		}
		u.from, u.names = s.values(d.field), []string{d.field.json}
		u.set("discriminator", yamltext.StringNode(d.field.json))
	}
	names, byValue := yamltext.StringsNode(), yamltext.MappingNode()
	optional, some, partly := yamltext.StringsNode(), yamltext.MappingNode(), false
	members := slices.DeleteFunc(s.membersOf(u), func(m mark) bool {
		never := len(m.values) == 0 && m.role == inMode
		if never && !s.diags.HasErrors() {
			s.errorf(m.pos, codes.BadMarker, "allow it for some mode, or delete the field", "member %s is forbidden in every mode", m.field.name)
		}
		return never
	})
	for _, m := range members {
		u.names = append(u.names, m.field.json)
		names.Content = append(names.Content, textAt(m.field.json, m.pos))
		byValue.Content = append(byValue.Content, textAt(m.field.json, m.pos), oneOrMore(m.values))
		if at, values, listed := s.optionalOf(m); at.Line > 0 {
			optional.Content = append(optional.Content, textAt(m.field.json, at))
			some.Content = append(some.Content, textAt(m.field.json, at), oneOrMore(values))
			partly = partly || u.from != nil && (listed || len(values) != len(m.values))
		}
	}
	if u.from == nil {
		u.set("members", names)
	} else {
		u.set("fields-to-discriminateBy", byValue)
	}
	if u.cardinality != 0 && !(u.from != nil && demands(s.schema(), u.discriminators[0].field.json)) {
		u.set("cardinality", yamltext.StringNode(u.cardinality.String()))
	}
	switch {
	case partly:
		u.set("optionalMembers", some)
	case len(optional.Content) > 0:
		u.set("optionalMembers", optional)
	}
	s.empty(u, members)
	if u.from != nil {
		fitting, diags := u.guess(u.from, func(string) bool { return true })
		if u.item = fitting; !s.lenient() { // else fit repeats it
			s.diags = append(s.diags, diags...)
		}
	}
	return true
}

// buildItems declares a union of the items of a list.
func (s *structure) buildItems(u *declaration) {
	members := yamltext.ListNode()
	for _, m := range u.members {
		if m.value != nil {
			s.errorf(m.pos, codes.Contradiction, "delete memberName", "items of a list have no discriminator that could select %s", m.item.Content[1].Value)
		}
		members.Content = append(members.Content, place(m.item, m.pos))
	}
	u.set("members", members)
	u.set("cardinality", yamltext.StringNode(u.cardinality.String()))
}

// membersOf returns the members of a union with their values, at the markers that set them. Several
// markers are one member only if they are its modes.
func (s *structure) membersOf(u *declaration) (l []mark) {
	for _, m := range u.members {
		said, ok := m.field.says(valuesKey)
		i := slices.IndexFunc(l, func(o mark) bool { return o.field.json == m.field.json })
		switch {
		case i >= 0 && !(m.role == inMode && l[i].field == m.field):
			hint := "delete one of them"
			if l[i].field == m.field && len(u.discriminators) > 0 {
				hint = "delete one of them, and write +unioncel:union:values=A;B if several values select it"
			}
			related(s.errorf(m.pos, codes.MemberShared, hint, "property %q is listed twice", m.field.json), l[i].pos, "the first")
			continue
		case m.role == inMode || u.from == nil:
		case ok && m.value == nil:
			m.pos, m.values = said.pos, said.list()
		case ok:
			related(s.errorf(said.pos, codes.BadMarker, "delete one of the two", "%s and %s both set the value of %s", m.name, said.name, m.field.name), m.pos, "the other")
			fallthrough
		case m.value != nil:
			m.values = []*yaml.Node{textAt(*m.value, m.pos)}
		default:
			u.guessed[m.field.json] = m.field.name
			m.values = []*yaml.Node{textAt(m.field.name, m.pos)}
		}
		if i < 0 {
			i, l = len(l), append(l, m)
		}
		if m.role == inMode {
			s.mode(&l[i], m)
		}
	}
	return l
}

// mode adds a mode to the values of a member, unless it forbids the member, as every mode does that no
// marker names.
func (s *structure) mode(to *mark, m mark) {
	i := slices.IndexFunc(to.modes, func(o mark) bool { return *o.value == *m.value })
	switch to.modes = append(to.modes, m); {
	case i >= 0 && to.modes[i].mode != m.mode:
		related(s.errorf(m.pos, codes.Contradiction, "delete one of the two", "mode %q of %s is both %s and %s", *m.value, m.field.name, to.modes[i].mode, m.mode),
			to.modes[i].pos, "the first")
	case i < 0 && m.mode != "forbidden":
		to.values = append(to.values, textAt(*m.value, m.pos))
		if m.mode == "optional" {
			to.some = append(to.some, to.values[len(to.values)-1])
		}
	}
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

// textAt returns a string with a position.
func textAt(s string, at diag.Pos) *yaml.Node { return place(yamltext.StringNode(s), at) }

// lenient reports whether the CRDs, not the markers, decide the values of discriminators.
func (s *structure) lenient() bool { return s.l.opts.CRDs && s.l.own(s.id.Package) }
