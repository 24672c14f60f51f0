package unioncases

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/union"
)

// Shape is the set of features that unions must share to be tried on the same objects.
type Shape struct {
	Members       int
	Discriminated bool
	TwoValues     bool // the first member has two values
	Shared        bool // the first and the second member share a value
	Enum          bool // the discriminator has an enum, with a memberless value
	EmptyIsUnset  bool // empty members count as unset
	Escaped       bool // CEL escapes the names of all properties
	Nested        bool // the discriminator, and every other member, are in a nested object
	Scalar        bool // the members are booleans and numbers
	Grouped       bool // the last two members are a group

	Type  union.ValueType // of the discriminator
	Unset string          // the value of an unset discriminator, in the spelling of strings
}

// String describes the shape, for the name of a test.
func (s Shape) String() string {
	name := fmt.Sprintf("%d members", s.Members)
	for _, f := range []struct {
		is   bool
		text string
	}{{s.Discriminated, "discriminator"}, {s.TwoValues, "two values"}, {s.Shared, "shared value"}, {s.Enum, "enum"}, {s.EmptyIsUnset, "emptyIsUnset"}, {s.Escaped, "escaped"}, {s.Nested, "nested"}, {s.Scalar, "scalar"}, {s.Grouped, "grouped"}} {
		if f.is {
			name += ", " + f.text
		}
	}
	if s.Type != union.StringValue {
		name += ", " + s.Type.String()
	}
	if s.Unset != "" {
		name += ", unset " + s.Unset
	}
	return name
}

// Shapes returns the shapes with one to four members, with and without a discriminator, in
// combination with the other features.
func Shapes() []Shape {
	var l []Shape
	for n := 1; n <= 4; n++ {
		for _, empty := range []bool{false, true} {
			l = append(l, Shape{Members: n, EmptyIsUnset: empty})
		}
		for bits := range 8 {
			s := Shape{Members: n, Discriminated: true, TwoValues: bits&1 > 0, Enum: bits&2 > 0, EmptyIsUnset: bits&4 > 0}
			// For more members, a few combinations are enough.
			if n < 3 || bits == 3 || n == 3 && (bits == 0 || bits == 5) {
				l = append(l, s)
			}
			if n > 1 && n < 4 && (bits == 1 || n == 2 && bits == 6) {
				s.Shared = true
				l = append(l, s)
			}
		}
	}
	return l
}

// Escaped returns shapes whose names are escaped in CEL.
func Escaped() []Shape {
	return []Shape{
		{Members: 2, Escaped: true},
		{Members: 4, EmptyIsUnset: true, Escaped: true},
		{Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 3, Discriminated: true, TwoValues: true, EmptyIsUnset: true, Escaped: true},
	}
}

// Further returns the shapes of [Nested], [Valued], [Scalar] and [Grouped].
func Further() []Shape { return slices.Concat(Nested(), Valued(), Scalar(), Grouped()) }

// Nested returns shapes with properties in an object within the union object.
func Nested() []Shape {
	return []Shape{
		{Members: 3, Nested: true},
		{Members: 2, EmptyIsUnset: true, Nested: true},
		{Members: 2, Discriminated: true, Enum: true, Nested: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true, Nested: true},
		{Members: 3, Discriminated: true, EmptyIsUnset: true, Nested: true},
	}
}

// Valued returns shapes whose discriminator is a boolean or an integer, or has a value while unset.
func Valued() []Shape {
	return []Shape{
		{Members: 1, Discriminated: true, Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Type: union.IntegerValue, Enum: true},
		{Members: 3, Discriminated: true, Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Type: union.IntegerValue, Shared: true, Nested: true},
		{Members: 2, Discriminated: true, Unset: "A", Enum: true},
		{Members: 2, Discriminated: true, Unset: "None"},
		{Members: 3, Discriminated: true, Unset: "A2", TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "A", TwoValues: true, Shared: true, Nested: true},
		{Members: 1, Discriminated: true, Unset: "B", Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Unset: "A", Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Unset: "B", Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "None", Type: union.IntegerValue, Enum: true},
	}
}

// spellings has the values of the shapes' discriminators by type.
var spellings = map[union.ValueType]map[string]string{
	union.BooleanValue: {"A": "true", "B": "false"},
	union.IntegerValue: {"A": "1", "A2": "12", "B": "2", "C": "3", "D": "-4", "None": "0", "unheard of": "77"},
}

// spelt returns a value in the spelling of the discriminator's type; "" if the type does not have it.
func (s Shape) spelt(value string) string {
	if s.Type == union.StringValue {
		return value
	}
	return spellings[s.Type][value]
}

// Scalar returns shapes whose members are booleans and numbers.
func Scalar() []Shape {
	return []Shape{
		{Members: 2, Scalar: true},
		{Members: 3, EmptyIsUnset: true, Scalar: true},
		{Members: 3, Discriminated: true, EmptyIsUnset: true, Scalar: true},
		{Members: 3, EmptyIsUnset: true, Nested: true, Scalar: true},
	}
}

// Grouped returns shapes with a group.
func Grouped() []Shape {
	return []Shape{
		{Members: 2, Grouped: true},
		{Members: 3, Grouped: true},
		{Members: 3, Grouped: true, EmptyIsUnset: true, Nested: true},
		{Members: 4, Grouped: true},
		{Members: 4, Grouped: true, EmptyIsUnset: true},
	}
}

// group returns the name of the group, or "".
func (s Shape) group() string {
	if !s.Grouped {
		return ""
	}
	return strings.Join(s.Names()[s.Members-2:], "+")
}

// holder is the property with the nested object.
const holder = "sub"

// Names returns the names of the members. Each member has another type that can be empty.
func (s Shape) Names() []string {
	if s.Escaped {
		return []string{"x__y", "a/b.c-d", "namespace", "e.f"}[:s.Members]
	}
	if s.Nested {
		return []string{"a", holder + ".b", "c", holder + ".d"}[:s.Members]
	}
	return []string{"a", "b", "c", "d"}[:s.Members]
}

// Discriminator returns the name of the discriminator, or "".
func (s Shape) Discriminator() string {
	switch {
	case !s.Discriminated:
		return ""
	case s.Escaped:
		return "if"
	case s.Nested:
		return holder + ".type"
	}
	return "type"
}

// memberSchemas and the following lists are indexed by member.
var memberSchemas = []string{
	"{type: object, nullable: true, properties: {x: {type: string}, z: {type: integer, nullable: true}}}",
	"{type: string, nullable: true}",
	"{type: array, items: {type: string}}",
	"{type: object, nullable: true, additionalProperties: {type: string}}",
}

var (
	emptyMembers = [][]any{
		{map[string]any{}, map[string]any{"z": nil}},
		{""},
		{[]any{}},
		{map[string]any{}},
	}
	setMembers = []any{
		map[string]any{"z": int64(0)},
		"x",
		[]any{""},
		map[string]any{"": ""},
	}
)

// The same lists for scalar members.
var (
	scalarSchemas = []string{
		"{type: boolean, nullable: true}",
		"{type: integer, nullable: true}",
		"{type: number, nullable: true}",
	}
	emptyScalars = [][]any{{false}, {int64(0)}, {int64(0), 0.0}}
	setScalars   = []any{true, int64(-1), 0.5}
)

// schemas, empties and set return the lists for the shape.
func (s Shape) schemas() []string {
	if s.Scalar {
		return scalarSchemas
	}
	return memberSchemas
}

func (s Shape) empties() [][]any {
	if s.Scalar {
		return emptyScalars
	}
	return emptyMembers
}

func (s Shape) set() []any {
	if s.Scalar {
		return setScalars
	}
	return setMembers
}

// Enumerated returns the values of the enum other than "": those of Fields for all shapes, and a
// memberless value. null is not among them: the server rejects null in an enum, even if the
// property is nullable.
func (s Shape) Enumerated() []string {
	if !s.Enum {
		return nil
	}
	l := []string{"A", "A2", "B", "C", "D", "None"}
	for i := range l {
		l[i] = s.spelt(l[i])
	}
	return l
}

// Schema returns the schema of the union object, in YAML.
func (s Shape) Schema() string {
	text, nested := "type: object\nproperties:\n", ""
	add := func(name, schema string) {
		if inner, ok := strings.CutPrefix(name, holder+"."); ok && s.Nested {
			nested += "      " + inner + ": " + schema + "\n"
		} else {
			text += "  " + name + ": " + schema + "\n"
		}
	}
	switch {
	case s.Enum && s.Type == union.IntegerValue:
		add(s.Discriminator(), "{type: integer, nullable: true, enum: ["+strings.Join(s.Enumerated(), ", ")+"]}")
	case s.Enum:
		add(s.Discriminator(), "{type: string, nullable: true, enum: ["+strings.Join(s.Enumerated(), ", ")+", '']}")
	case s.Discriminated:
		add(s.Discriminator(), "{type: "+s.Type.String()+", nullable: true}")
	}
	// The server copies all properties for each one that it reads.
	for i, name := range s.Names() {
		add(name, s.schemas()[i])
	}
	if nested != "" {
		text += "  " + holder + ":\n    type: object\n    nullable: true\n    properties:\n" + nested
	}
	return text
}

// with is [Put] for a property of the shape.
func (s Shape) with(object map[string]any, name string, value any) map[string]any {
	inner, ok := strings.CutPrefix(name, holder+".")
	if !ok || !s.Nested || value == any(Absent{}) {
		return Put(object, name, value)
	}
	held, _ := object[holder].(map[string]any)
	return Put(object, holder, Put(held, inner, value))
}

// withHolder returns the objects and, for each object without the holder, two more: with an empty
// holder and with null.
func (s Shape) withHolder(objects []map[string]any) []map[string]any {
	l := objects
	for _, o := range objects {
		if _, ok := o[holder]; s.Nested && !ok {
			l = append(l, Put(o, holder, map[string]any{}), Put(o, holder, nil))
		}
	}
	return l
}

// Values returns the values of the discriminator: unset, the value of each member, a memberless
// value and an unknown one.
func (s Shape) Values() []string {
	if !s.Discriminated {
		return []string{""}
	}
	l := []string{"", "None"}
	if s.Members < 4 {
		l = append(l, "unheard of")
	}
	switch s.Type {
	case union.BooleanValue:
		l = []string{"", "true", "false"}
	case union.IntegerValue:
		l = []string{"", "0", "77"}
	}
	if s.Unset != "" {
		l = l[1:]
	}
	for _, values := range s.Fields() {
		for _, v := range values {
			if !slices.Contains(l, v) {
				l = append(l, v)
			}
		}
	}
	return l
}

// Fields returns the discriminator values of each member.
func (s Shape) Fields() [][]string {
	l := [][]string{{"A"}, {"B"}, {"C"}, {"D"}}[:s.Members]
	if s.TwoValues {
		l[0] = []string{"A", "A2"}
	}
	if s.Shared {
		l[1] = append(l[1], "A")
	}
	for _, values := range l {
		for i := range values {
			values[i] = s.spelt(values[i])
		}
	}
	return l
}

// State is a state with union objects in that state, written in every way.
type State struct {
	union.State
	Objects []map[string]any
}

// Absent is the value of an absent property.
type Absent struct{}

// States returns all states of unions of the shape, with discriminator values in the order of
// Values.
func (s Shape) States() []State {
	var l []State
	for _, value := range s.Values() {
		types := []any{s.Type.Value(value)}
		unset := []any{Absent{}, nil}
		if s.Type == union.StringValue {
			unset = append(unset, "")
		}
		switch {
		case !s.Discriminated:
			types = []any{Absent{}}
		case value == "":
			types = unset
		case s.Unset != "" && value == s.spelt(s.Unset):
			types = append(types, unset...)
		}
		for set := range 1 << s.Members {
			st := State{State: union.State{Value: value, Present: make([]bool, s.Members)}}
			for _, typ := range types {
				st.Objects = append(st.Objects, s.with(nil, s.Discriminator(), typ))
			}
			for i, name := range s.Names() {
				st.Present[i] = set&(1<<i) > 0
				ways := []any{Absent{}, nil}
				if st.Present[i] {
					ways = []any{s.set()[i]}
				}
				if st.Present[i] != s.EmptyIsUnset {
					ways = append(ways, s.empties()[i]...)
				}
				var next []map[string]any
				for _, o := range st.Objects {
					for _, way := range ways {
						next = append(next, s.with(o, name, way))
					}
				}
				st.Objects = next
			}
			st.Objects = s.withHolder(st.Objects)
			// Neighbours look different, and the number of objects per state is limited.
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(st.Objects), func(i, j int) {
				st.Objects[i], st.Objects[j] = st.Objects[j], st.Objects[i]
			})
			st.Objects = st.Objects[:min(len(st.Objects), 8)]
			l = append(l, st)
		}
	}
	return l
}

// Put returns a copy of fields with one more field.
func Put(fields map[string]any, name string, value any) map[string]any {
	l := map[string]any{}
	maps.Copy(l, fields)
	if value != any(Absent{}) {
		l[name] = value
	}
	return l
}

// Declarations returns all unions of the shape, in flow style. Larger unions alternate between
// independent options.
func (s Shape) Declarations() []string {
	var l []string
	turn := 0
	names := strings.Join(s.Names(), ", ")
	if s.Grouped {
		for _, optional := range []string{"", "optionalMembers: [" + s.Names()[s.Members-1] + "]", "optionalMembers: [" + strings.Join(s.Names()[s.Members-2:], ", ") + "]"} {
			l = append(l, s.groupDeclarations(names, optional)...)
		}
		return l
	}
	add := func(parts ...string) {
		if s.EmptyIsUnset {
			parts = append(parts, "emptyIsUnset: ["+names+"]")
		}
		for _, ratchet := range []string{"", "ratchet: true"} {
			if turn++; ratchet != "" && s.Members > 2 && turn%(4*s.Members-9) > 0 {
				continue
			}
			all := slices.DeleteFunc(append(slices.Clone(parts), ratchet), func(p string) bool { return p == "" })
			l = append(l, "{"+strings.Join(all, ", ")+"}")
		}
	}
	if !s.Discriminated {
		members := "members: [" + names + "]"
		add(members, "cardinality: AtLeastOne")
		for _, cardinality := range []string{"", "cardinality: ExactlyOne"} {
			for _, change := range s.changes() {
				add(members, cardinality, change)
			}
		}
		for _, relations := range s.relations() {
			add(relations)
		}
		return l
	}
	var fields []string
	for i, values := range s.Fields() {
		fields = append(fields, s.Names()[i]+": ["+strings.Join(values, ", ")+"]")
	}
	discriminator := "discriminator: " + s.Discriminator() + ", fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	cardinalities := []string{"", "cardinality: ExactlyOne", "deduceInvalidDiscriminator: true"}
	switch {
	case s.Unset != "":
		discriminator += ", unset: " + s.spelt(s.Unset)
		cardinalities = cardinalities[:1]
	case s.Type != union.StringValue:
		cardinalities = cardinalities[:2]
	}
	optional := []string{"", "optionalMembers: [" + s.Names()[0] + "]", "optionalMembers: [" + names + "]"}
	if s.Shared {
		cardinalities = cardinalities[:min(2, len(cardinalities))] // a member does not determine the value
		a, b := s.spelt("A"), s.spelt("B")
		optional = append(optional, "optionalMembers: {"+s.Names()[1]+": "+a+"}", "optionalMembers: {"+s.Names()[0]+": ["+a+"], "+s.Names()[1]+": ["+b+"]}")
	}
	for _, cardinality := range cardinalities {
		for _, optionals := range optional {
			for _, unmapped := range []string{"", "unmappedValues: Forbid"} {
				if unmapped != "" && s.Unset != "" && !slices.ContainsFunc(s.Fields(), func(l []string) bool { return slices.Contains(l, s.spelt(s.Unset)) }) {
					continue // an unset discriminator would have a value that is forbidden
				}
				for i, change := range s.changes() {
					if turn++; s.Members <= 2 || (turn+i/5)%4 == 0 || optionals+unmapped == "" {
						add(discriminator, cardinality, optionals, unmapped, change)
					}
				}
			}
		}
	}
	return l
}

// relations returns presence relations of all members.
func (s Shape) relations() []string {
	l := map[int][]string{
		2: {"dependentRequired: {a: b}", "dependentRequired: {a: b, b: a}", "dependentForbidden: {a: b}"},
		3: {"dependentRequired: {a: [b, c]}", "dependentRequired: {a: b, c: b}", "dependentRequired: {a: b}, dependentForbidden: {a: c}", "dependentForbidden: {a: [b, c], b: a}"},
		4: {"dependentRequired: {a: [b, c], d: c}", "dependentRequired: {a: b, b: a}, dependentForbidden: {a: [c, d], d: c}"},
	}[s.Members]
	for i := range l {
		l[i] = regexp.MustCompile(`\b[abcd]\b`).ReplaceAllStringFunc(l[i], func(letter string) string {
			return s.Names()[strings.Index("abcd", letter)]
		})
	}
	return l
}

// groupDeclarations returns the unions with a group.
func (s Shape) groupDeclarations(names, optional string) []string {
	members := "members: [" + strings.Join(append(slices.Clone(s.Names()[:s.Members-2]), "["+strings.Join(s.Names()[s.Members-2:], ", ")+"]"), ", ") + "]"
	var l []string
	add := func(parts ...string) {
		if s.EmptyIsUnset {
			parts = append(parts, "emptyIsUnset: ["+names+"]")
		}
		l = append(l, "{"+strings.Join(slices.DeleteFunc(append([]string{members, optional}, parts...), func(p string) bool { return p == "" }), ", ")+"}")
	}
	add("cardinality: AtLeastOne")
	add("cardinality: AtLeastOne", "ratchet: true")
	for _, change := range []string{"", "discriminatorChange: Forbid", "discriminatorChange: Clear", "allowedChanges: {" + s.group() + ": [\"\"]}", "allowedChanges: {a: " + s.group() + "}"} {
		if s.Members == 2 && strings.Contains(change, "{a:") {
			continue
		}
		add(change)
		add(change, "cardinality: ExactlyOne")
		if s.Members < 4 {
			add(change, "ratchet: true")
		}
	}
	return l
}

// changes returns the keys for transitions that a union may have.
func (s Shape) changes() []string {
	l := []string{"", "discriminatorChange: Allow", "discriminatorChange: Forbid"}
	if !s.Discriminated {
		l = append(l, "discriminatorChange: Clear") // with a discriminator it is the default
	}
	if s.Members < 3 {
		l = append(l, "allowedChanges: {}")
	}
	tables := []string{`{b: [a, c]}`, `{a: ["", b], b: a}`, `{a: "", b: "", c: [a, b], d: [a, b, c, d]}`}
	if s.Discriminated {
		tables = []string{`{B: [A, C]}`, `{A: ["", B], B: A}`, `{A: "", B: "", C: [A, B], D: [A, B, C, D, ""]}`}
		if s.Enum {
			tables = append(tables, `{None: [A, ""], A: None}`)
		}
		if s.TwoValues {
			tables = append(tables, `{A: A2, A2: [""]}`)
		}
	}
	for _, table := range tables {
		// The table of a small union contains only existing names.
		for _, name := range []string{"a", "b", "c", "d"}[s.Members:] {
			if s.Discriminated {
				if s.Enum {
					break // the enum contains all values
				}
				name = strings.ToUpper(name)
			}
			table = removed(table, name)
		}
		if s.Unset != "" {
			table = removed(table, "")
		}
		if s.Type != union.StringValue {
			table = constant.ReplaceAllStringFunc(table, s.spelt)
		}
		// Without a discriminator, the letters stand for members.
		table = letter.ReplaceAllStringFunc(table, func(l string) string { return s.Names()[l[0]-'a'] })
		l = append(l, "allowedChanges: "+table)
	}
	return l
}

// constant matches the values in a table.
var constant = regexp.MustCompile(`\b(A2|[A-D]|None)\b`)

var letter = regexp.MustCompile(`\b[abcd]\b`)

// removed removes a name from a transition table.
func removed(table, name string) string {
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(table), &parsed); err != nil {
		panic(err) // the table is one of the literals above
	}
	delete(parsed, name)
	for from, to := range parsed {
		if to == name {
			parsed[from] = []any{}
		}
		if row, ok := to.([]any); ok {
			parsed[from] = slices.DeleteFunc(row, func(v any) bool { return v == name })
		}
	}
	text, err := json.Marshal(parsed)
	if err != nil {
		panic(err)
	}
	return string(text)
}
