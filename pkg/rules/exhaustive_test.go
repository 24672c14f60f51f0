package rules_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
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
		if testing.Short() && s.members > 3 {
			continue // four members take seconds
		}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
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
			// With more members a few mixtures do.
			if n < 3 || bits == 3 || n == 3 && (bits == 0 || bits == 5) {
				l = append(l, s)
			}
		}
	}
	return l
}

// memberNames are the members of all shapes. They have one type each of those
// that can be empty.
var memberNames = []string{"a", "b", "c", "d"}

var memberSchemas = map[string]string{
	"a": "{type: object, nullable: true, properties: {x: {type: string}, z: {type: integer, nullable: true}}}",
	"b": "{type: string, nullable: true}",
	"c": "{type: array, items: {type: string}}",
	"d": "{type: object, nullable: true, additionalProperties: {type: string}}",
}

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
	text := "type: object\nproperties:\n"
	switch {
	case s.memberless:
		text += "  type: {type: string, nullable: true, enum: [A, A2, B, C, D, None, '']}\n"
	case s.discriminate:
		text += "  type: {type: string, nullable: true}\n"
	}
	// The server copies all properties for every one that it reads.
	for _, name := range memberNames[:s.members] {
		text += "  " + name + ": " + memberSchemas[name] + "\n"
	}
	return schemaOf(t, text)
}

// values are those of the discriminator: unset, every member's, a memberless
// and an unknown one.
func (s shape) values() []string {
	if !s.discriminate {
		return []string{""}
	}
	l := []string{"", "None"}
	if s.members < 4 {
		l = append(l, "unheard of")
	}
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

// state is a state and union objects that are in it, in all ways to write it.
type state struct {
	union.State
	objects []map[string]any
}

// absent is the value of a property that is not there.
type absent struct{}

func (s shape) states() []state {
	var l []state
	for _, value := range s.values() {
		types := []any{value}
		switch {
		case !s.discriminate:
			types = []any{absent{}}
		case value == "":
			types = []any{absent{}, nil, ""}
		}
		for set := range 1 << s.members {
			st := state{State: union.State{Value: value, Present: make([]bool, s.members)}}
			for _, typ := range types {
				st.objects = append(st.objects, with(nil, "type", typ))
			}
			for i, name := range memberNames[:s.members] {
				st.Present[i] = set&(1<<i) > 0
				ways := []any{absent{}, nil}
				if st.Present[i] {
					ways = []any{setMembers[name]}
				}
				if st.Present[i] != s.empty {
					ways = append(ways, emptyMembers[name]...)
				}
				var next []map[string]any
				for _, o := range st.objects {
					for _, way := range ways {
						next = append(next, with(o, name, way))
					}
				}
				st.objects = next
			}
			// Neighbours look different, and no state has too many.
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(st.objects), func(i, j int) {
				st.objects[i], st.objects[j] = st.objects[j], st.objects[i]
			})
			st.objects = st.objects[:min(len(st.objects), 16)]
			l = append(l, st)
		}
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
	turn := 0 // larger unions take turns in what does not depend on each other
	add := func(parts ...string) {
		if s.empty {
			parts = append(parts, "emptyIsUnset: ["+strings.Join(memberNames[:s.members], ", ")+"]")
		}
		for _, ratchet := range []string{"", "ratchet: true"} {
			if turn++; ratchet != "" && s.members > 2 && turn%(4*s.members-9) > 0 {
				continue
			}
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
				for i, change := range s.changes() {
					if turn++; s.members <= 2 || (turn+i/5)%4 == 0 || optionals+unmapped == "" {
						add(discriminator, cardinality, optionals, unmapped, change)
					}
				}
			}
		}
	}
	return l
}

// changes are what a union may say of its transitions.
func (s shape) changes() []string {
	l := []string{"", "discriminatorChange: Allow", "discriminatorChange: Forbid"}
	if s.members < 3 {
		l = append(l, "allowedChanges: {}")
	}
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
	states  []state
	rounds  int // how many ways to write a pair of states are tried
	tried   []tried
	static  *server // rules that do not read oldSelf
	changes *server // rules that do
	statics int     // number of the former
}

// tried is a union in one way to write it. indices are those of its rules in the two
// servers; the rules of changes follow the static ones.
type tried struct {
	name    string
	u       *union.Union
	rules   []rules.Rule
	indices []int
}

func newTrial(t *testing.T, s shape) *trial {
	schema := s.schema(t)
	c := &trial{states: s.states(), rounds: []int{0, 3, 1, 1, 1}[s.members]}
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
	for turn, declaration := range s.declarations() {
		u := unionOf(t, declaration, schema)
		for i, style := range []struct {
			rules.Encoding
			rules.Comparison
		}{
			{rules.Paired, rules.Comparison{}},
			{rules.Fine, rules.Comparison{}},
			{rules.Compact, rules.Comparison{Lookup: true}},
			{2, rules.Comparison{Parts: 2}},
			{rules.Encoding(s.members), rules.Comparison{Lookup: true, Parts: s.members + 1}},
		} {
			// Larger unions take turns in the other ways to write them.
			if i > 0 && s.members > 2 && (turn+i)%(3*s.members-6) > 0 {
				continue
			}
			k := tried{name: fmt.Sprintf("%s %v %s", style.Encoding, style.Comparison, declaration), u: u, rules: rules.Static(u, style.Encoding)}
			if u.Ratchet {
				k.rules = rules.Ratcheting(u, style.Encoding, style.Comparison)
			}
			k.rules = append(k.rules, rules.Transition(u, style.Comparison)...)
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
		for _, st := range c.states {
			for _, o := range st.objects {
				if got := k.u.StateOf(o); !got.Equal(st.State) {
					t.Fatalf("%s: StateOf(%v) = %v, want %v", k.name, o, got, st.State)
				}
			}
		}
	}
	evaluated, rounds := 0, 0
	// judge compares one pair of states, written in several ways.
	judge := func(old *state, pairs [][2]map[string]any, new state, static outcome) {
		var first outcome
		for i, pair := range pairs {
			result := append(static[:c.statics:c.statics], c.changes.outcome(t, pair[0], pair[1])...)
			if i == 0 {
				first = result
			} else if !slices.Equal(first, result) {
				t.Errorf("%v and %v have different outcomes", pairs[0], pair)
			}
			evaluated++
		}
		var before *union.State
		if old != nil {
			before = &old.State
		}
		for _, k := range c.tried {
			k.compare(t, first, before, new.State)
		}
	}
	for _, new := range c.states {
		var static outcome
		var created [][2]map[string]any
		for i, o := range new.objects {
			created = append(created, [2]map[string]any{nil, o})
			result := c.static.outcome(t, nil, o)
			if i > 0 && !slices.Equal(static, result) {
				t.Errorf("%v and %v have different outcomes", new.objects[0], o)
			}
			static = result
		}
		judge(nil, created, new, static)
		for _, old := range c.states {
			var pairs [][2]map[string]any
			for range min(c.rounds, len(old.objects)*len(new.objects)) {
				rounds++
				pairs = append(pairs, [2]map[string]any{old.objects[rounds*7%len(old.objects)], new.objects[rounds%len(new.objects)]})
			}
			judge(&old, pairs, new, static)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d unions, %d rules, %d states, %d evaluations", len(c.tried), c.statics+len(c.changes.rules), len(c.states), evaluated)
}

// outcome has for each rule of a server the field that it fails at, with a dot
// before it, or "" when it holds.
type outcome []string

func (s *server) outcome(t testing.TB, old, new map[string]any) outcome {
	l := make(outcome, len(s.rules))
	for _, f := range s.fails(t, old, new) {
		l[f.rule] = "." + f.field
	}
	return l
}

// compare holds the rules that fail for one pair of states to the model.
func (k *tried) compare(t *testing.T, got outcome, old *union.State, new union.State) {
	violations := k.u.Judge(old, new)
	report := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %v -> %v breaks %v: %s", k.name, old, new, violations, fmt.Sprintf(format, args...))
	}
	for _, v := range violations {
		if !slices.ContainsFunc(k.indexes(), func(i int) bool {
			return got[k.indices[i]] != "" && slices.Contains(k.rules[i].Conditions, v.Condition) && k.at(i, got, v)
		}) {
			report("no rule fails for %v", v)
		}
	}
	for i, r := range k.rules {
		enforced := slices.DeleteFunc(slices.Clone(violations), func(v union.Violation) bool { return !slices.Contains(r.Conditions, v.Condition) })
		fails := got[k.indices[i]] != ""
		switch {
		case fails && !slices.ContainsFunc(enforced, func(v union.Violation) bool { return k.at(i, got, v) }):
			report("rule fails at %q: %s", got[k.indices[i]], r.Rule)
		case fails && r.Reason == rules.ReasonForbidden && r.Conditions[0] == union.TooMany && !new.Present[slices.Index(k.u.MemberNames(), r.FieldPath[1:])]:
			report("rule fails at %q, which is unset: %s", r.FieldPath, r.Rule)
		}
	}
}

func (k *tried) indexes() []int {
	l := make([]int, len(k.rules))
	for i := range l {
		l[i] = i
	}
	return l
}

// at reports whether failing rule i points where violation v is: a rule for one
// member at that member, others where they say.
func (k *tried) at(i int, got outcome, v union.Violation) bool {
	if path := k.rules[i].FieldPath; v.Member >= 0 && path != "" && path != "."+k.u.Discriminator {
		return got[k.indices[i]] == "."+k.u.Members[v.Member].Name
	}
	return got[k.indices[i]] == "."+strings.TrimPrefix(k.rules[i].FieldPath, ".")
}
