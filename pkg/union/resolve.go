package union

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Resolve checks the declarations of one union object against its schema, which it does not modify.
// It returns one union per declaration, nil for a declaration with errors. The list also holds
// warnings. resource is true for the root of a resource or embedded resource, where the API server
// always sets apiVersion, kind and metadata. Resolve checks each union alone; verify.Resolve also
// reports unions that contradict each other.
func Resolve(declarations []*Declaration, schema *apiextensionsv1.JSONSchemaProps, resource bool) ([]*Union, diag.List) {
	unions := make([]*Union, len(declarations))
	var diags diag.List
	var resolvers []*resolver
	for _, d := range declarations {
		r := &resolver{d: d, fields: d.fields, schema: schema, resource: resource}
		r.resolve()
		r.overlaps(resolvers)
		resolvers = append(resolvers, r)
	}
	for i, r := range resolvers {
		if !r.diags.HasErrors() {
			unions[i] = r.u
		}
		diags = append(diags, r.diags...)
	}
	return unions, diags
}

type resolver struct {
	d        *Declaration
	fields   []fieldValues // the members of the declaration that the schema has
	schema   *apiextensionsv1.JSONSchemaProps
	resource bool
	u        *Union
	diags    diag.List

	absentMembers, absentValues []string // of the members that are not in fields
}

func (r *resolver) errorf(pos diag.Pos, code diag.Code, hint, format string, args ...any) {
	if pos.Line == 0 {
		pos = r.d.Pos
	}
	r.diags = append(r.diags, diag.New(code, pos, format, args...).At(r.d.Path).Hinted(hint))
}

// misspelt reports an unknown name. It does not suggest to replace the name by a taken name.
func (r *resolver) misspelt(w word, known, taken []string, code diag.Code, format string, args ...any) {
	r.errorf(w.Pos, code, nearest(w.Text, known), format, args...)
	r.diags[len(r.diags)-1].Edits = w.Respelt(known, taken...)
}

// unknown reports an unknown value of the discriminator. Only strings can be misspelt.
func (r *resolver) unknown(w word, known, taken []string, code diag.Code, format string, args ...any) {
	r.misspelt(w, known, taken, code, format, args...)
	if last := &r.diags[len(r.diags)-1]; !r.strings() {
		last.Hint, last.Edits = listed(known), nil
	}
}

// strings reports whether the discriminator, if the schema has it, is a string.
func (r *resolver) strings() bool {
	_, prop := Property(r.schema, r.d.discriminator().Text)
	return prop == nil || prop.Type == "string"
}

func (r *resolver) resolve() {
	d := r.d
	u := d.union
	r.u = &u
	if r.relationKey() != "" && !r.relates() {
		return
	}
	if d.OfItems() {
		r.items()
		r.cardinality()
		r.change()
		r.messages()
		return
	}
	if r.misplaced() {
		return
	}
	if r.schema.Type != "object" || len(r.schema.Properties) == 0 {
		hint := "declare the union on the object whose properties are its members"
		if r.schema.Type == "array" && len(r.schema.XListMapKeys) > 0 {
			hint += "; items are named by their keys, members: [{" + strings.Join(r.schema.XListMapKeys, ": A, ") + ": A}]"
		}
		r.errorf(d.Pos, codes.NotAnObject, hint,
			"a union needs an object with properties; this schema %s", describe(r.schema))
		return
	}
	if r.swapped() || r.unvalued() {
		return
	}
	r.variant()
	r.members()
	if u.Relates() {
		r.related()
	}
	if d.discriminator().Set {
		r.discriminator()
	}
	r.nested()
	r.cardinality()
	r.change()
	r.messages()
}

func (r *resolver) members() {
	d := r.d
	// fields-to-discriminateBy: {} declares a discriminator whose members are added later.
	switch later := len(d.fields) == 0 && d.has(mappingKey) && d.discriminator().Set; {
	case later && r.u.Deduce:
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.NoMembers, "delete deduceInvalidDiscriminator until there are members", "the union has no members yet from which the discriminator could be deduced")
	case later && r.u.ForbidUnmapped:
		r.errorf(d.posOf("unmappedValues"), codes.NoMembers, "delete unmappedValues until there are members", "the union has no members yet, so that unmappedValues: Forbid leaves no value")
	case len(d.fields) == 0 && !later:
		hint := "list them: fields-to-discriminateBy: {member: Value}, or members: [member] without a discriminator"
		if key := r.relationKey(); key != "" {
			hint = "list the relations: " + key + ": " + Example(key)
		}
		r.errorf(d.fieldsPos(), codes.NoMembers, hint, "the union has no members")
	}
	for _, f := range r.fields {
		m := Member{Name: f.name.Text}
		if slices.ContainsFunc(r.u.Members, func(o Member) bool { return o.Name == m.Name }) {
			r.errorf(f.name.Pos, codes.MemberShared, "", "%q is listed twice", m.Name)
			continue
		}
		prop, ok := r.property(f.name, codes.UnknownMember, "member")
		if ok {
			r.alwaysSet(f.name, prop)
		}
		if d.discriminator().Set {
			m.Values = r.values(f)
		} else if f.group != "" {
			m.Values = []string{f.group}
		}
		r.u.Members = append(r.u.Members, m)
	}
	optional := optionalMembers(d.key("optionalMembers").Value)
	for _, f := range optional {
		if m := r.member(f.name, "optionalMembers"); m != nil {
			r.optional(m, f)
		}
	}
	if len(optional) > 0 && !d.discriminator().Set && !r.u.Grouped() {
		r.errorf(d.posOf("optionalMembers"), codes.Contradiction, "delete it: without a discriminator no member is required",
			"a member is optional only if a discriminator selects it")
	}
	for _, w := range d.key("emptyIsUnset").Value.Words() {
		if m := r.member(w, "emptyIsUnset"); m != nil {
			r.emptyIsUnset(m, w)
		}
	}
}

// values checks and returns the discriminator values of one member.
func (r *resolver) values(f fieldValues) []string {
	var l []string
	if len(f.values) == 0 {
		r.errorf(f.name.Pos, codes.NoMembers, "give it a value", "no discriminator value selects %q", f.name.Text)
	}
	for _, v := range f.values {
		switch {
		case v.Text == "":
			r.errorf(v.Pos, codes.EmptyValue, `"" means that the discriminator is unset; give the member a value`, "the empty value cannot select %q", f.name.Text)
		case slices.Contains(l, v.Text):
			r.errorf(v.Pos, codes.DuplicateValue, "delete one of them", "value %q is listed twice for %q", v.Text, f.name.Text)
		default:
			l = append(l, v.Text)
		}
	}
	return l
}

// optional sets the values for which a member is optional.
func (r *resolver) optional(m *Member, f fieldValues) {
	optional := func(value string) bool {
		return f.values == nil || slices.ContainsFunc(f.values, func(v word) bool { return v.Text == value })
	}
	switch {
	case r.u.Grouped() && f.values != nil:
		r.errorf(f.name.Pos, codes.Contradiction, "list the properties: optionalMembers: ["+m.Name+"]",
			"optionalMembers gives %q values, which only members selected by a discriminator have", m.Name)
		return
	case r.u.Grouped() && len(m.Values) == 0:
		r.errorf(f.name.Pos, codes.Contradiction, "list only properties of groups",
			"optionalMembers names %q, which no group could require", m.Name)
		return
	}
	m.Optional = slices.DeleteFunc(slices.Clone(m.Values), func(v string) bool { return !optional(v) })
	for i, v := range f.values {
		switch {
		case !slices.Contains(m.Values, v.Text):
			r.unknown(v, m.Values, nil, codes.Contradiction, "%q is optional for %q, which does not select it", m.Name, v.Text)
		case slices.ContainsFunc(f.values[:i], func(w word) bool { return w.Text == v.Text }):
			r.errorf(v.Pos, codes.DuplicateValue, "delete one of them", "value %q is listed twice for %q", v.Text, m.Name)
		}
	}
	if f.values != nil && len(f.values) == 0 {
		r.errorf(f.name.Pos, codes.Contradiction, "delete it, or list the values", "no value is listed for which %q is optional", m.Name)
	}
}

// member returns the member that a list of the declaration names, or nil if it is left out or
// unknown; an unknown name is reported.
func (r *resolver) member(w word, list string) *Member {
	i := slices.IndexFunc(r.u.Members, func(m Member) bool { return m.Name == w.Text })
	switch {
	case i < 0 && slices.Contains(r.absentMembers, w.Text):
		return nil
	case i < 0:
		r.misspelt(w, append(r.u.MemberNames(), r.absentMembers...), nil, codes.UnknownMember, "%s names %q, which is not a member of this union", list, w.Text)
		return nil
	}
	return &r.u.Members[i]
}

func (r *resolver) emptyIsUnset(m *Member, w word) {
	_, prop := Property(r.schema, m.Name)
	if prop == nil {
		return
	}
	m.Fields = nil // emptyIsUnset may list the member twice
	switch m.Empty = EmptinessOf(prop); m.Empty {
	case PresentWhenEmpty:
		if prop.XEmbeddedResource {
			r.errorf(w.Pos, codes.EmptyIsUnsetType, "take it out of emptyIsUnset", "%q is an embedded resource, which is never empty", m.Name)
			return
		}
		r.errorf(w.Pos, codes.EmptyIsUnsetType, "take it out of emptyIsUnset",
			"emptyIsUnset works for booleans, numbers, strings without a format, lists, maps and objects with properties; %q %s", m.Name, describe(prop))
	case EmptyObject:
		for _, name := range slices.Sorted(maps.Keys(prop.Properties)) {
			field := prop.Properties[name]
			if !expressible(name) || !visible(&field) {
				r.errorf(w.Pos, codes.InvisibleProperty, "take the member out of emptyIsUnset, or give the property a type",
					"CEL cannot tell whether %q is empty: it does not see its property %q", m.Name, name)
			}
			m.Fields = append(m.Fields, name)
		}
		if prop.XPreserveUnknownFields != nil && *prop.XPreserveUnknownFields {
			r.errorf(w.Pos, codes.InvisibleProperty, "take the member out of emptyIsUnset",
				"CEL cannot tell whether %q is empty: it does not see unknown fields", m.Name)
		}
	}
}

// EmptinessOf returns the emptiness of members with a schema in emptyIsUnset. It is PresentWhenEmpty
// for a schema of which no value is empty.
func EmptinessOf(s *apiextensionsv1.JSONSchemaProps) Emptiness {
	switch {
	case s.XEmbeddedResource:
	case s.Type == "string" && s.Format == "" && !s.XIntOrString:
		return EmptyString
	case s.Type == "boolean":
		return EmptyBoolean
	case s.Type == "integer" && !s.XIntOrString:
		return EmptyInteger
	case s.Type == "number":
		return EmptyNumber
	case s.Type == "array", s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return EmptyCollection
	case s.Type == "object" && len(s.Properties) > 0:
		return EmptyObject
	}
	return PresentWhenEmpty
}

func (r *resolver) discriminator() {
	d, u := r.d, r.u
	prop, ok := r.property(d.discriminator(), codes.UnknownDiscriminator, "discriminator")
	if slices.ContainsFunc(u.Members, func(m Member) bool { return m.Name == u.Discriminator }) {
		r.errorf(d.discriminator().Pos, codes.DiscriminatorIsMember, "take it out of the members", "%q is both the discriminator and a member", u.Discriminator)
		return
	}
	if !ok {
		return
	}
	if u.Type, ok = ValueTypeOf(prop); !ok {
		r.errorf(d.discriminator().Pos, codes.DiscriminatorNotString, "use a boolean, an integer or a string without a format",
			"discriminator %q must be a string, boolean or integer in CEL; it %s", u.Discriminator, describe(prop))
		return
	}
	if before := len(r.diags); u.Type != StringValue && u.Deduce {
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.Contradiction, "delete deduceInvalidDiscriminator, or use unset: VALUE", "only a discriminator of type string can be deduced; %q %s", u.Discriminator, describe(prop))
	} else if r.typed(); len(r.diags) > before {
		return
	}
	if prop.Default != nil && string(prop.Default.Raw) != `""` && (u.Unset == "" || u.Type.Text(decoded(prop.Default.Raw)) != u.Unset) { // "" is unset
		hint := "drop the default; deduceInvalidDiscriminator: true lets users leave the discriminator out"
		if u.Type != StringValue {
			hint = fmt.Sprintf("drop the default; unset: %s lets users leave the discriminator out", prop.Default.Raw)
		}
		if u.Deduce && Defaulted(prop) {
			hint = "drop the default: with it, the discriminator is set where users leave it out, and never deduced"
		}
		r.diags = append(r.diags, diag.New(codes.DefaultedDiscriminator, d.discriminator().Pos,
			"discriminator %q has the default %s: users get errors about a value they never wrote", u.Discriminator, prop.Default.Raw).At(d.Path).
			Hinted(hint))
	}
	u.Values = u.MemberValues()
	r.enum(prop)
	r.unset(prop)
	required := Requires(r.schema, u.Path(u.Discriminator))
	if u.Cardinality == AtMostOne && required && !prop.Nullable && !canBeEmpty(prop) {
		r.errorf(d.posOf("cardinality"), codes.Contradiction, "delete cardinality, or make the discriminator optional",
			"AtMostOne lets %q be unset, but the schema requires it", u.Discriminator)
	}
	if u.Deduce && required {
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.Contradiction, "delete deduceInvalidDiscriminator, or make the discriminator optional",
			"deduceInvalidDiscriminator lets %q be left out, but the schema requires it", u.Discriminator)
	}
}

// canBeEmpty reports whether the schema of a discriminator allows "".
func canBeEmpty(prop *apiextensionsv1.JSONSchemaProps) bool {
	if len(prop.Enum) > 0 {
		return slices.Contains(EnumStrings(prop), "")
	}
	return prop.Type == "string" && (prop.MinLength == nil || *prop.MinLength == 0)
}

// enum checks the members' values against the discriminator's schema, and adds the other values of
// its enum to the union.
func (r *resolver) enum(prop *apiextensionsv1.JSONSchemaProps) {
	enum := EnumStrings(prop)
	r.u.Enumerated = len(enum) > 0
	for _, f := range r.fields {
		for _, v := range f.values {
			switch {
			case v.Text == "": // values reports it
			case len(enum) > 0 && !slices.Contains(enum, v.Text):
				r.unknown(v, enum, r.u.Values, codes.ValueNotInEnum, "value %q of member %q is not in the enum of %q", v.Text, f.name.Text, r.u.Discriminator)
			default:
				r.excludes(prop, v, fmt.Sprintf("of member %q", f.name.Text))
			}
		}
	}
	for _, v := range enum {
		if v != "" && !slices.Contains(r.u.Values, v) {
			r.u.Values = append(r.u.Values, v)
		}
	}
}

func (r *resolver) cardinality() {
	d, u := r.d, r.u
	if u.Cardinality == 0 {
		u.Cardinality = DefaultCardinality(u.Discriminator, r.schema)
	}
	u.DiscriminatorRequired = requiresValue(r.schema, u)
	switch {
	case u.Discriminator != "" && u.Cardinality == AtLeastOne:
		r.errorf(d.posOf("cardinality"), codes.Contradiction, "use ExactlyOne or AtMostOne, or drop the discriminator", "AtLeastOne contradicts a discriminator, which selects the members")
	case u.Discriminator == "" && u.Deduce:
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.Contradiction, "delete deduceInvalidDiscriminator", "there is no discriminator to deduce")
	case u.Discriminator == "" && d.has("unmappedValues"):
		r.errorf(d.posOf("unmappedValues"), codes.Contradiction, "delete unmappedValues", "there is no discriminator that could have unmapped values")
	case u.Discriminator == "" && u.Unset != "":
		r.errorf(d.posOf("unset"), codes.Contradiction, "delete unset", "there is no discriminator that could be unset")
	case u.Deduce && u.SharesValues():
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.Contradiction, "delete deduceInvalidDiscriminator, or give each member values of its own",
			"a member cannot tell the discriminator when a value selects several members")
	case u.Deduce && d.union.Cardinality == ExactlyOne:
		r.errorf(d.posOf("deduceInvalidDiscriminator"), codes.Contradiction, "delete one of the two", "ExactlyOne requires that %q is set, deduceInvalidDiscriminator lets it be left out", u.Discriminator)
	}
}

func (r *resolver) change() {
	d, u := r.d, r.u
	switch {
	case !u.Exclusive() && (d.union.Change == Clear || d.union.Change == Forbid || d.has("allowedChanges")):
		key := "discriminatorChange"
		if d.union.Change == 0 {
			key = "allowedChanges"
		}
		r.errorf(d.posOf(key), codes.Contradiction, "delete "+key, "%s has no transitions to restrict", r.unrestricted())
	case d.has("allowedChanges") && d.union.Change != 0:
		r.errorf(d.posOf("discriminatorChange"), codes.Contradiction, "delete discriminatorChange: allowedChanges takes its place", "discriminatorChange and allowedChanges are both set")
	}
	switch {
	case d.has("allowedChanges"):
		u.Change = AllowedChanges
		r.table()
	case u.Change == 0 && u.Discriminator == "":
		u.Change = Allow
	case u.Change == 0:
		u.Change = Clear
	}
}

// messages checks that each declared message has an error to be printed for.
func (r *resolver) messages() {
	d, u := r.d, r.u
	if u.Message.Changed != "" && (u.Change == Allow || !u.Exclusive()) {
		r.errorf(d.posOf("message"), codes.Contradiction, "delete changed", "the union allows all changes, so that the text for changes is never printed")
	}
	r.printed(d.posOf("message"), "message", u.Message, func(int) bool { return true })
	if d.has("messages") && u.Discriminator == "" && !u.Relates() {
		r.errorf(d.posOf("messages"), codes.Contradiction, "write message: TEXT instead", "without a discriminator no error is about one member: messages needs a discriminator")
		return
	}
	known := append(u.MemberNames(), u.Discriminator)
	u.Messages = maps.Clone(u.Messages)
	maps.DeleteFunc(u.Messages, func(name string, _ Texts) bool { return slices.Contains(r.absentMembers, name) })
	for _, e := range d.key("messages").Value.Entries() {
		w := e.Key.Word()
		if slices.Contains(known, w.Text) {
			at := slices.Index(u.MemberNames(), w.Text) // -1 for the discriminator
			r.printed(w.Pos, "messages", u.Messages[w.Text], func(member int) bool { return member == at })
			continue
		}
		if slices.Contains(r.absentMembers, w.Text) {
			continue
		}
		r.misspelt(w, known, nil, codes.UnknownMember, "messages names %q, which is neither a member nor the discriminator of this union", w.Text)
		if selected := u.MembersOf(w.Text); len(selected) > 0 {
			last := &r.diags[len(r.diags)-1]
			last.Hint, last.Edits = fmt.Sprintf("name the member that the value selects: %q", u.Members[selected[0]].Name), nil
		}
	}
}

// printed reports texts that no error about the given members has; -1 stands for the discriminator. A
// text for both directions needs an error in one of them.
func (r *resolver) printed(pos diag.Pos, key string, t Texts, about func(member int) bool) {
	kinds := map[string]bool{}
	for _, c := range r.u.Conditions() {
		if about(c.Member) {
			kinds[Texts{Required: "required", Forbidden: "forbidden"}.about(c.Condition)] = true
		}
	}
	var never []string
	if t.Required != "" && !kinds["required"] {
		never = append(never, "required")
	}
	if t.Forbidden != "" && !kinds["forbidden"] {
		never = append(never, "forbidden")
	}
	if len(never) == 2 || len(never) == 1 && t.Required != t.Forbidden {
		r.errorf(pos, codes.Contradiction, "delete it", "the text for %s in %s is never printed: the union has no such error", strings.Join(never, " and "), key)
	}
}

func (r *resolver) table() {
	u := r.u
	check := func(w word) {
		if w.Ambiguous != nil && !r.d.discriminator().Set {
			r.diags = append(r.diags, *w.Ambiguous)
			return
		}
		known, what := u.GroupNames(), "member"
		if u.Grouped() {
			what = "member or group"
		}
		ok := slices.Contains(known, w.Text)
		if r.d.discriminator().Set {
			ok = r.changes(w)
			known, what = u.Values, "value of the discriminator"
		}
		if ok {
			return
		}
		r.unknown(w, known, nil, codes.UnknownChange, "allowedChanges names %q, which is not a known %s", w.Text, what)
		if last := &r.diags[len(r.diags)-1]; r.d.discriminator().Set && last.Hint == "" {
			last.Hint = "add it to the members or to the enum of the discriminator"
		}
	}
	u.Allowed = map[string][]string{}
	for _, from := range byValue(r.d.key("allowedChanges").Value) {
		if from.name.Text == "" {
			r.errorf(from.name.Pos, codes.UnknownChange, "delete this row", "an unset union may always be set: %q needs no row", "")
			continue
		}
		if slices.Contains(r.absentValues, from.name.Text) {
			continue
		}
		check(from.name)
		row := []string{}
		for _, to := range from.values {
			if slices.Contains(r.absentValues, to.Text) {
				continue
			}
			switch {
			case to.Text != "":
				check(to)
			case u.Unset != "":
				r.errorf(to.Pos, codes.UnknownChange, fmt.Sprintf("write %q", u.Unset), "an unset discriminator has the value %q", u.Unset)
			}
			row = append(row, to.Text)
		}
		u.Allowed[from.name.Text] = row
	}
}

// Demand is a key of the declaration that only transition rules can enforce.
type Demand struct {
	Key string
	Pos diag.Pos
}

// Demands returns the keys that require transition rules: Forbid, allowedChanges and ratchet. Each
// of them is an error if the API server cannot correlate old and new objects; the rule for Clear is
// left out there.
func (d *Declaration) Demands() []Demand {
	var l []Demand
	if d.union.Change == Forbid {
		l = append(l, Demand{"discriminatorChange: Forbid", d.posOf("discriminatorChange")})
	}
	if d.has("allowedChanges") {
		l = append(l, Demand{"allowedChanges", d.posOf("allowedChanges")})
	}
	if d.union.Ratchet {
		l = append(l, Demand{"ratchet", d.posOf("ratchet")})
	}
	return l
}

// nearest returns the hint for a misspelt name: the closest known name, or all known names if they
// are few.
func nearest(name string, known []string) string {
	return english.Hint(name, slices.Sorted(slices.Values(known)), listed(known))
}

// listed returns a hint with the known names if they are few.
func listed(known []string) string {
	known = slices.Sorted(slices.Values(known))
	switch {
	case len(known) == 1:
		return fmt.Sprintf("there is only %q", known[0])
	case len(known) > 0 && len(known) <= 12:
		return "write one of " + strings.Join(known, ", ")
	}
	return ""
}

// Discriminator returns the discriminator's name as declared, or "".
func (d *Declaration) Discriminator() string { return d.union.Discriminator }

// Properties returns the names of the discriminator and of the members that are properties, as
// declared.
func (d *Declaration) Properties() []string {
	var l []string
	if d.discriminator().Set {
		l = append(l, d.discriminator().Text)
	}
	for _, f := range d.fields {
		if f.item == nil {
			l = append(l, f.name.Text)
		}
	}
	return l
}

// OfItems reports whether members are items of a list.
func (d *Declaration) OfItems() bool {
	return slices.ContainsFunc(d.fields, func(f fieldValues) bool { return f.item != nil })
}

// fieldsPos returns the position of the key that lists the members.
func (d *Declaration) fieldsPos() diag.Pos {
	return cmp.Or(d.posOf(mappingKey), d.posOf("members"), d.posOf(requiredKey), d.posOf(forbiddenKey))
}
