package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestEveryState compares the rules with the model in pkg/union, for unions of up to four members.
// The API server's own CEL evaluates every state at creation, and pairs of an old and a new state.
//
// With [unioncases.Exhaustive] the test covers all unions, and all pairs of states of up to three
// members. Shapes that differ from others only in their values are sampled, at one pair in three.
// Pairs of four members are sampled at one in 25, since rules on changes treat a fourth member like
// a third. Without it the test covers one in 41 of the unions with a discriminator, or one in 101
// for the shapes of [unioncases.Shapes], and a quarter of the pairs of states of more than one
// member.
//
// Rules that several unions share are compiled and evaluated once. Rules that do not read oldSelf
// are evaluated on every object with the new state.
func TestEveryState(t *testing.T) {
	for i, s := range append(unioncases.Shapes(), unioncases.Further()...) {
		if testing.Short() && (s.Members != 2 || s.EmptyIsUnset || s.Discriminated != s.Enum || s.Shared) {
			continue // the others take seconds
		}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			newTrial(t, s, i).run(t)
		})
	}
}

// trial holds all unions of a shape with their rules.
type trial struct {
	states  []unioncases.State
	every   int // the sampling interval of pairs of states
	tried   []tried
	static  *evaluator // rules that do not read oldSelf
	changes *evaluator // rules that read oldSelf
}

// tried is a union in one encoding. indices locate its rules in the evaluators: first the static
// rules, then the rules on changes.
type tried struct {
	name    string
	u       *union.Union
	rules   []rules.Rule
	indices []int
}

// newTrial returns the unions of a shape with their rules. If only a subset of the unions is tried,
// number varies the subset.
func newTrial(t *testing.T, s unioncases.Shape, number int) *trial {
	schema := schemaOf(t, s.Schema())
	c := &trial{states: s.States(), every: []int{0, 1, 1, 1, 25}[s.Members]}
	if s.EmptyIsUnset || s.Members == 3 && s.TwoValues {
		c.every *= 3
	}
	unions := 1
	if !unioncases.Exhaustive {
		if s.Members > 1 {
			c.every *= 4
		}
		if s.Discriminated {
			unions = 41 // no divisor of the number of values of any key
			if s.Type == union.StringValue && s.Unset == "" && !s.Nested && !s.Scalar {
				unions = 101 // these shapes differ only in combinations
			}
		}
	}
	if testing.Short() {
		c.every = 1 + len(c.states)*len(c.states)/150
	}
	var static, changes []rules.Rule
	index := map[string]int{}
	indexOf := func(r rules.Rule) int {
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
	for turn, declaration := range s.Declarations() {
		if (turn+number)%unions > 0 {
			continue
		}
		u := unionOf(t, declaration, schema)
		for i, style := range []struct {
			rules.Encoding
			rules.Comparison
		}{
			{rules.Paired, rules.Comparison{}},
			{rules.Fine, rules.Comparison{}},
			{rules.Compact, rules.Comparison{Lookup: true}},
			{2, rules.Comparison{Parts: 2}},
			{rules.Encoding(s.Members), rules.Comparison{Lookup: true, Parts: s.Members + 1}},
		} {
			// For more than one member, each union has only some of the remaining encodings.
			if i > 0 && s.Members > 1 && (turn+i)%max(3, 3*s.Members-6) > 0 {
				continue
			}
			k := tried{name: fmt.Sprintf("%s %v %s", style.Encoding, style.Comparison, declaration), u: u, rules: rules.Static(u, style.Encoding)}
			if u.Ratchet {
				k.rules = rules.Ratcheting(u, style.Encoding, style.Comparison)
			}
			k.rules = append(k.rules, rules.Transition(u, style.Comparison)...)
			for _, r := range k.rules {
				k.indices = append(k.indices, indexOf(r))
			}
			c.tried = append(c.tried, k)
		}
	}
	for _, k := range c.tried {
		for i, n := range k.indices {
			if n >= 1<<20 {
				k.indices[i] = n - 1<<20 + len(static)
			}
		}
	}
	c.static, c.changes = newEvaluator(t, structural(t, schema), static, s.Discriminator()), newEvaluator(t, structural(t, schema), changes, s.Discriminator())
	return c
}

func (c *trial) run(t *testing.T) {
	for i, k := range c.tried {
		for _, st := range c.states {
			for _, o := range st.Objects {
				if i > 0 && k.u == c.tried[i-1].u {
					break
				}
				if got := k.u.StateOf(o); !got.Equal(st.State) {
					t.Fatalf("%s: StateOf(%v) = %v, want %v", k.name, o, got, st.State)
				}
			}
		}
	}
	evaluated := 0
	// judge compares the rules with the model for one pair of objects.
	judge := func(static outcome, old, new map[string]any, before *union.State, after union.State) outcome {
		evaluated++
		all := append(slices.Clip(static), c.changes.outcome(t, old, new)...)
		var violations []union.Violation
		for i, k := range c.tried {
			if i == 0 || k.u != c.tried[i-1].u {
				violations = k.u.Judge(before, after)
			}
			k.compare(t, all, before, after, violations)
		}
		return all
	}
	for n, new := range c.states {
		static := make([]outcome, len(new.Objects))
		var created outcome
		for i, o := range new.Objects {
			static[i] = c.static.outcome(t, nil, o)
			if i == 0 {
				created = judge(static[i], nil, o, nil, new.State)
			} else if !slices.Equal(created, append(slices.Clip(static[i]), c.changes.outcome(t, nil, o)...)) {
				t.Errorf("%v and %v have different outcomes", new.Objects[0], o)
			}
		}
		for o, old := range c.states {
			if (n+o)%c.every > 0 {
				continue
			}
			// Each pair of states has one pair of objects, and each state has up to two objects.
			i := (n + o) % min(2, len(new.Objects))
			judge(static[i], old.Objects[(n+o)%min(2, len(old.Objects))], new.Objects[i], &old.State, new.State)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d unions, %d rules, %d states, %d evaluations", len(c.tried), len(c.static.rules)+len(c.changes.rules), len(c.states), evaluated)
}

// outcome has for each rule the field of its error, after a dot, or "" if the rule holds.
type outcome []string

// compare reports rules whose result for a pair of states differs from the model.
func (k *tried) compare(t *testing.T, got outcome, old *union.State, new union.State, violations []union.Violation) {
	report := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %v -> %v breaks %v: %s", k.name, old, new, violations, fmt.Sprintf(format, args...))
	}
	for _, v := range violations {
		caught := false
		for i, n := range k.indices {
			caught = caught || got[n] != "" && slices.Contains(k.rules[i].Conditions, v.Condition) && k.at(i, got, v)
		}
		if !caught {
			report("no rule fails for %v", v)
		}
	}
	for i, r := range k.rules {
		if got[k.indices[i]] == "" {
			continue
		}
		if !slices.ContainsFunc(violations, func(v union.Violation) bool { return slices.Contains(r.Conditions, v.Condition) && k.at(i, got, v) }) {
			report("rule fails at %q: %s", got[k.indices[i]], r.Rule)
		} else if r.FieldPath != "" && r.Reason == rules.ReasonForbidden && r.Conditions[0] == union.TooMany && !new.Present[slices.Index(k.u.MemberNames(), r.FieldPath[1:])] {
			report("rule fails at %q, which is unset: %s", r.FieldPath, r.Rule)
		}
	}
}

// at reports whether failing rule i has the field of violation v: that member in a rule for a
// member, and its fieldPath in other rules.
func (k *tried) at(i int, got outcome, v union.Violation) bool {
	if path := k.rules[i].FieldPath; v.Member >= 0 && path != "" && path != "."+k.u.Discriminator {
		return got[k.indices[i]] == "."+k.u.Members[v.Member].Name
	}
	return got[k.indices[i]] == "."+strings.TrimPrefix(k.rules[i].FieldPath, ".")
}
