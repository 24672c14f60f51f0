package rules_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestEveryState compares the rules with the model in pkg/union: for all unions
// of up to four members, every pair of an old and a new state, and every state
// at creation, go through the API server's own CEL.
//
// Rules that several unions share are compiled and evaluated once; those that
// do not read oldSelf are evaluated once for each new state.
func TestEveryState(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && s.members > 3 {
				t.Skip("four members take seconds")
			}
			newTrial(t, s).run(t)
		})
	}
}

// shape is what unions must agree in to be tried on the same objects.
type shape struct {
	members      int
	discriminate bool
	multiple     bool // the first member has two values
	memberless   bool // the discriminator has an enum, with a memberless value
	empty        bool // empty members count as unset
}

func (s shape) String() string {
	name := fmt.Sprintf("%d members", s.members)
	for _, f := range []struct {
		is   bool
		text string
	}{{s.discriminate, "discriminator"}, {s.multiple, "two values"}, {s.memberless, "enum"}, {s.empty, "emptyIsUnset"}} {
		if f.is {
			name += ", " + f.text
		}
	}
	return name
}

func shapes() []shape {
	var l []shape
	for n := 1; n <= 4; n++ {
		for _, empty := range []bool{false, true} {
			l = append(l, shape{members: n, empty: empty})
		}
		for bits := range 8 {
			s := shape{n, true, bits&1 > 0, bits&2 > 0, bits&4 > 0}
			// With four members a few mixtures do.
			if n < 4 || bits == 0 || bits == 3 || bits == 5 {
				l = append(l, s)
			}
		}
	}
	return l
}

// memberNames are the members of all shapes. They have one type each of those
// that can be empty.
var memberNames = []string{"a", "b", "c", "d"}

const memberSchemas = `
  a: {type: object, nullable: true, properties: {x: {type: string}, z: {type: integer, nullable: true}}}
  b: {type: string, nullable: true}
  c: {type: array, items: {type: string}}
  d: {type: object, nullable: true, additionalProperties: {type: string}}
`

var (
	emptyMembers = map[string][]any{
		"a": {map[string]any{}, map[string]any{"z": nil}},
		"b": {""},
		"c": {[]any{}},
		"d": {map[string]any{}},
	}
	setMembers = map[string]any{
		"a": map[string]any{"z": int64(0)},
		"b": "x",
		"c": []any{""},
		"d": map[string]any{"": ""},
	}
)

func (s shape) schema(t testing.TB) *apiextensionsv1.JSONSchemaProps {
	enum := ""
	if s.memberless {
		enum = ", enum: [A, A2, B, C, D, None, '']"
	}
	return schemaOf(t, "type: object\nproperties:\n  type: {type: string, nullable: true"+enum+"}"+memberSchemas)
}

// values are those of the discriminator: unset, every member's, a memberless
// and an unknown one.
func (s shape) values() []string {
	if !s.discriminate {
		return []string{""}
	}
	l := []string{"", "None", "unheard of"}
	for _, m := range s.fields() {
		l = append(l, m...)
	}
	return l
}

// fields are the discriminator values of each member.
func (s shape) fields() [][]string {
	l := [][]string{{"A"}, {"B"}, {"C"}, {"D"}}[:s.members]
	if s.multiple {
		l[0] = []string{"A", "A2"}
	}
	return l
}

// object is a union object and what the shape says of its state.
type object struct {
	fields map[string]any
	state  union.State
}

// absent is the value of a property that is not there.
type absent struct{}

// objects lists union objects: with few members every way to write every state,
// else ways that take turns.
func (s shape) objects() []object {
	type way struct {
		value any
		set   bool
	}
	ways := func(name string) []way {
		l := []way{{absent{}, false}, {nil, false}, {setMembers[name], true}}
		for _, v := range emptyMembers[name] {
			l = append(l, way{v, !s.empty})
		}
		return l
	}
	every := s.members <= 2 || s.members == 3 && !s.discriminate
	var l []object
	turn := 0
	for _, value := range s.values() {
		var types []any
		switch {
		case !s.discriminate:
			types = []any{absent{}}
		case value != "":
			types = []any{value}
		default:
			types = []any{absent{}, nil, ""}
		}
		partial := []object{}
		for _, typ := range types {
			partial = append(partial, object{with(nil, "type", typ), union.State{Value: value}})
		}
		for _, name := range memberNames[:s.members] {
			var next []object
			for _, o := range partial {
				var taken []bool // one way per state is enough
				for i := range ways(name) {
					turn++
					w := ways(name)[(i+turn/len(ways(name)))%len(ways(name))]
					if !every && slices.Contains(taken, w.set) {
						continue
					}
					taken = append(taken, w.set)
					next = append(next, object{with(o.fields, name, w.value), union.State{Value: value, Present: append(slices.Clone(o.state.Present), w.set)}})
				}
			}
			partial = next
		}
		l = append(l, partial...)
	}
	return l
}

// with returns a copy of fields with one more.
func with(fields map[string]any, name string, value any) map[string]any {
	l := map[string]any{}
	maps.Copy(l, fields)
	if value != any(absent{}) {
		l[name] = value
	}
	return l
}

// declarations are all unions of the shape.
func (s shape) declarations() []string {
	var l []string
	add := func(parts ...string) {
		if s.empty {
			parts = append(parts, "emptyIsUnset: ["+strings.Join(memberNames[:s.members], ", ")+"]")
		}
		for _, ratchet := range []string{"", "ratchet: true"} {
			all := slices.DeleteFunc(append(slices.Clone(parts), ratchet), func(p string) bool { return p == "" })
			l = append(l, "{"+strings.Join(all, ", ")+"}")
		}
	}
	if !s.discriminate {
		members := "members: [" + strings.Join(memberNames[:s.members], ", ") + "]"
		add(members, "cardinality: AtLeastOne")
		for _, cardinality := range []string{"", "cardinality: ExactlyOne"} {
			for _, change := range s.changes() {
				add(members, cardinality, change)
			}
		}
		return l
	}
	var fields []string
	for i, values := range s.fields() {
		fields = append(fields, memberNames[i]+": ["+strings.Join(values, ", ")+"]")
	}
	discriminator := "discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	for _, cardinality := range []string{"", "cardinality: ExactlyOne", "deduceInvalidDiscriminator: true"} {
		for _, optional := range [][]string{nil, memberNames[:1], memberNames[:s.members]} {
			optionals := ""
			if len(optional) > 0 {
				optionals = "optionalMembers: [" + strings.Join(optional, ", ") + "]"
			}
			for _, unmapped := range []string{"", "unmappedValues: Forbid"} {
				for _, change := range s.changes() {
					add(discriminator, cardinality, optionals, unmapped, change)
				}
			}
		}
	}
	return l
}

// changes are what a union may say of its transitions.
func (s shape) changes() []string {
	l := []string{"", "discriminatorChange: Allow", "discriminatorChange: Forbid", "allowedChanges: {}"}
	tables := []string{`{b: [a, c]}`, `{a: ["", b], b: a}`, `{a: "", b: "", c: [a, b], d: [a, b, c, d]}`}
	if s.discriminate {
		tables = []string{`{B: [A, C]}`, `{A: ["", B], B: A}`, `{A: "", B: "", C: [A, B], D: [A, B, C, D, ""]}`}
		if s.memberless {
			tables = append(tables, `{None: [A, ""], A: None}`)
		}
		if s.multiple {
			tables = append(tables, `{A: A2, A2: [""]}`)
		}
	}
	for _, table := range tables {
		// The table of a small union names only what there is.
		for _, name := range memberNames[s.members:] {
			if s.discriminate {
				if s.memberless {
					break // the enum has all values
				}
				name = strings.ToUpper(name)
			}
			table = removed(table, name)
		}
		l = append(l, "allowedChanges: "+table)
	}
	return l
}

// removed takes a name out of a transition table.
func removed(table, name string) string {
	var parsed map[string]any
	decodeYAML(table, &parsed)
	delete(parsed, name)
	for from, to := range parsed {
		if to == name {
			parsed[from] = []any{}
		}
		if row, ok := to.([]any); ok {
			parsed[from] = slices.DeleteFunc(row, func(v any) bool { return v == name })
		}
	}
	text, _ := json.Marshal(parsed)
	return string(text)
}

// trial is all unions of a shape with their rules.
type trial struct {
	objects []object
	tried   []tried
	static  *server // rules that do not read oldSelf
	changes *server // rules that do
	statics int     // number of the former
}

// tried is a union in one encoding. indices are those of its rules in the two
// servers; the rules of changes follow the static ones.
type tried struct {
	name    string
	u       *union.Union
	rules   []rules.Rule
	indices []int
}

func newTrial(t *testing.T, s shape) *trial {
	schema := s.schema(t)
	c := &trial{objects: s.objects()}
	var static, changes []rules.Rule
	index := map[string]int{}
	number := func(r rules.Rule) int {
		l, base := &static, 0
		if strings.Contains(r.Rule, "oldSelf") {
			l, base = &changes, 1<<20
		}
		key, _ := json.Marshal(r)
		if i, ok := index[string(key)]; ok {
			return i
		}
		index[string(key)] = base + len(*l)
		*l = append(*l, r)
		return base + len(*l) - 1
	}
	for _, declaration := range s.declarations() {
		u := unionOf(t, declaration, schema)
		for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
			if u.Ratchet && encoding == rules.Fine {
				continue // always compact
			}
			k := tried{name: fmt.Sprintf("%s %s", encoding, declaration), u: u, rules: rules.Static(u, encoding)}
			if r, ok := rules.Transition(u); ok {
				k.rules = append(k.rules, r)
			}
			for _, r := range k.rules {
				k.indices = append(k.indices, number(r))
			}
			c.tried = append(c.tried, k)
		}
	}
	c.statics = len(static)
	for _, k := range c.tried {
		for i, n := range k.indices {
			if n >= 1<<20 {
				k.indices[i] = n - 1<<20 + c.statics
			}
		}
	}
	c.static, c.changes = newServer(t, structural(t, schema), static), newServer(t, structural(t, schema), changes)
	return c
}

func (c *trial) run(t *testing.T) {
	for _, k := range c.tried {
		for _, o := range c.objects {
			if state := k.u.StateOf(o.fields); !state.Equal(o.state) {
				t.Fatalf("%s: StateOf(%v) = %v, want %v", k.name, o.fields, state, o.state)
			}
		}
	}
	outcome := make([]*failure, c.statics+len(c.changes.rules))
	note := func(l []failure, base int) {
		for _, f := range l {
			outcome[base+f.rule] = &f
		}
	}
	n := 0
	for _, new := range c.objects {
		clear(outcome)
		note(c.static.fails(t, nil, new.fields), 0)
		note(c.changes.fails(t, nil, new.fields), c.statics)
		for _, k := range c.tried {
			k.compare(t, outcome, nil, new)
		}
		for _, old := range c.objects {
			clear(outcome[c.statics:])
			note(c.changes.fails(t, old.fields, new.fields), c.statics)
			for _, k := range c.tried {
				k.compare(t, outcome, &old, new)
			}
			n++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d unions, %d rules, %d objects, %d pairs", len(c.tried), len(outcome), len(c.objects), n)
}

// compare holds the rules that fail for one pair of objects to the model.
func (k *tried) compare(t *testing.T, outcome []*failure, old *object, new object) {
	var oldState *union.State
	if old != nil {
		oldState = &old.state
	}
	violations := k.u.Judge(oldState, new.state)
	broken := func(c union.Condition) bool {
		return slices.ContainsFunc(violations, func(v union.Violation) bool { return v.Condition == c })
	}
	rejected := false
	report := func(format string, args ...any) {
		t.Helper()
		var before any
		if old != nil {
			before = old.fields
		}
		t.Errorf("%s: %v -> %v breaks %v: %s", k.name, before, new.fields, violations, fmt.Sprintf(format, args...))
	}
	explained := 0 // violations that a failing rule enforces
	for _, v := range violations {
		for i, r := range k.rules {
			if f := outcome[k.indices[i]]; f != nil && slices.Contains(r.Conditions, v.Condition) && k.at(r, f, v) {
				explained++
				break
			}
		}
	}
	if explained != len(violations) {
		report("only %d of the violations make a rule fail", explained)
	}
	for i, r := range k.rules {
		f := outcome[k.indices[i]]
		enforces := slices.ContainsFunc(r.Conditions, broken)
		switch {
		case f == nil && len(r.Conditions) > 1 && enforces:
			report("rule holds: %s", r.Rule)
		case f != nil && !enforces:
			report("rule fails: %s", r.Rule)
		case f != nil && !slices.ContainsFunc(violations, func(v union.Violation) bool { return k.at(r, f, v) }):
			report("%s fails at %q", r.Rule, f.field)
		}
		rejected = rejected || f != nil
	}
	if rejected != (len(violations) > 0) {
		report("rejected: %t", rejected)
	}
}

// at reports whether a failing rule points where a violation is: a rule for one
// member at that member, any other one at a member that is set, at the
// discriminator, or nowhere.
func (k *tried) at(r rules.Rule, f *failure, v union.Violation) bool {
	if v.Member >= 0 && len(r.Conditions) == 1 {
		return f.field == k.u.Members[v.Member].Name
	}
	return f.field == strings.TrimPrefix(r.FieldPath, ".")
}
