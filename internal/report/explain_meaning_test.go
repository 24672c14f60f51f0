package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// declarations are unions of up to four members, with all kinds of keys.
var declarations = []string{
	"{members: [a, b, c, d]}",
	"{members: [a]}",
	"{members: [a], cardinality: ExactlyOne}",
	"{members: [a, b], cardinality: ExactlyOne, discriminatorChange: Forbid}",
	"{members: [a, b, c], cardinality: AtLeastOne}",
	"{members: [a, b, c], allowedChanges: {a: [b], b: [c, '']}, emptyIsUnset: [c]}",
	"{members: [a, b, c], ratchet: true}",
	"{dependentRequired: {a: [b, c], d: c}, dependentForbidden: {b: d}, emptyIsUnset: [c]}",
	"{discriminator: type, fields-to-discriminateBy: {a: A, b: [B, BB], c: C}}",
	"{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C, d: D}, cardinality: ExactlyOne, optionalMembers: [b, d]}",
	"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unmappedValues: Forbid, discriminatorChange: Forbid}",
	"{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}, deduceInvalidDiscriminator: true}",
	"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true, optionalMembers: [a], allowedChanges: {A: B}}",
	"{discriminator: kind, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, unmappedValues: Forbid}",
	"{discriminator: kind, fields-to-discriminateBy: {a: A, b: B}, allowedChanges: {A: [None, ''], None: A}, ratchet: true}",
	"{discriminator: closed, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, unmappedValues: Forbid}",
	"{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow}",
	"{discriminator: type, fields-to-discriminateBy: {a: [A, AB], b: [B, AB], c: [AB, C]}, optionalMembers: {c: [AB]}}",
	"{discriminator: kind, fields-to-discriminateBy: {a: A, b: [A, B], c: B}, optionalMembers: [a, b], discriminatorChange: Forbid, cardinality: ExactlyOne}",
	"{discriminator: kind, fields-to-discriminateBy: {}, cardinality: ExactlyOne}",
	"{members: [a, below.b, below.c], emptyIsUnset: [below.c]}",
	"{discriminator: below.type, fields-to-discriminateBy: {a: A, below.b: B, below.c: B}, cardinality: ExactlyOne, discriminatorChange: Forbid}",
}

// thing returns the property spec with a declaration.
func thing(declaration string) string {
	required := ""
	if strings.Contains(declaration, "discriminator: closed") {
		required = "required: [closed], "
	}
	return fmt.Sprintf(`spec:
  type: object
  properties:
    u: {type: object, %sx-kubernetes-unions: [%s], properties: {
      type: {type: string, maxLength: 20}, kind: {type: string, enum: [A, B, None]}, closed: {type: string, enum: [A, B]},
      a: {type: object}, b: {type: object}, c: {type: array, items: {type: string}}, d: {type: object},
      below: {type: object, required: [x], properties: {type: {type: string, enum: [A, B, C]}, b: {type: object}, c: {type: array, items: {type: string}}, x: {type: string, minLength: 2}}}}}`, required, declaration)
}

// eachUnion runs a test for each declaration in several encodings.
func eachUnion(t *testing.T, run func(*testing.T, *union.Union, report.ExplainedUnion)) {
	for _, d := range declarations {
		for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
			t.Run(encoding.String()+d, func(t *testing.T) {
				in := planOf(t, crd(thing(d)), encoding)
				got, err := report.Explain(in)
				if err != nil {
					t.Fatal(err)
				}
				run(t, in.Unions[0].Union, got.Unions[0])
			})
		}
	}
}

// sets returns all sets of members.
func sets(u *union.Union) [][]bool {
	var l [][]bool
	for set := range 1 << len(u.Members) {
		present := make([]bool, len(u.Members))
		for i := range present {
			present[i] = set>>i&1 == 1
		}
		l = append(l, present)
	}
	return l
}

// TestSituations asserts that each condition that some state or change violates has an example,
// with as few other violations as possible. The rules must report an error for each example.
func TestSituations(t *testing.T) {
	eachUnion(t, func(t *testing.T, u *union.Union, got report.ExplainedUnion) {
		fewest := map[string]int{} // violations, by condition and member
		values := append([]string{""}, u.Values...)
		if got.AnyValue || u.ForbidUnmapped {
			values = append(values, "Other")
		}
		if u.Discriminator == "" {
			values = values[:1]
		}
		for _, v := range values {
			for _, present := range sets(u) {
				violations := u.Violations(union.State{Value: v, Present: present})
				for _, v := range violations {
					if n, ok := fewest[key(u, v)]; !ok || len(violations) < n {
						fewest[key(u, v)] = len(violations)
					}
				}
			}
		}
		found := map[string]bool{}
		for _, s := range got.Errors {
			if len(s.Errors) == 0 {
				t.Errorf("%s: no error", s.Situation)
			}
			if s.New == nil || s.Old != nil {
				continue
			}
			k := s.Condition + " " + s.Member
			found[k] = true
			violations := u.Violations(state(u, s.New))
			if !slices.ContainsFunc(violations, func(v union.Violation) bool { return key(u, v) == k }) || len(violations) > fewest[k] {
				t.Errorf("%s is given for %s and violates %v", s.Situation, k, violations)
			}
		}
		for k := range fewest {
			if !found[k] {
				t.Errorf("no situation violates %s", k)
			}
		}
	})
}

func key(u *union.Union, v union.Violation) string {
	member := ""
	if v.Member >= 0 {
		member = u.Members[v.Member].Name
	}
	return string(v.Condition) + " " + member
}

func state(u *union.Union, s *report.Sample) union.State {
	out := union.State{Value: s.Value, Present: make([]bool, len(u.Members))}
	for i, m := range u.Members {
		out.Present[i] = slices.Contains(s.Members, m.Name)
	}
	return out
}

// TestChangeSituations asserts that situations of changes are illegal changes between legal states,
// or removals that a guard prevents. Each possible kind of situation must occur.
func TestChangeSituations(t *testing.T) {
	eachUnion(t, func(t *testing.T, u *union.Union, got report.ExplainedUnion) {
		conditions := map[string]int{}
		for _, s := range got.Errors {
			if s.Old == nil {
				continue
			}
			conditions[s.Condition]++
			old := state(u, s.Old)
			if l := u.Violations(old); len(l) > 0 {
				t.Errorf("%s: the old state violates %v", s.Situation, l)
			}
			switch {
			case s.New == nil && (s.Condition != "removed" || u.Removable(old)):
				t.Errorf("%s: it may be removed", s.Situation)
			case s.New != nil && (len(u.ChangeViolations(old, state(u, s.New))) == 0 || string(u.ChangeViolations(old, state(u, s.New))[0].Condition) != s.Condition):
				t.Errorf("%s does not violate %s", s.Situation, s.Condition)
			}
		}
		want := map[string]int{}
		switch {
		case u.Change == union.Clear && len(u.Members) > 1:
			want["notCleared"] = 1
		case u.Guarded():
			want["notAllowed"] = 2 // to another value, and to unset
			want["removed"] = 2    // removal of u, and of spec
		}
		if fmt.Sprint(conditions) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", conditions, want)
		}
	})
}

// TestServedRule asserts that a hand-written rule used by the union reports its own errors.
func TestServedRule(t *testing.T) {
	in := planOf(t, crd(`
spec:
  type: object
  x-kubernetes-validations:
  - rule: "!(has(self.b) && has(self.a))"
    messageExpression: "'by hand: ' + (has(self.a) ? 'a' : '')"
    fieldPath: .a
    reason: FieldValueRequired
  x-kubernetes-unions: [{members: [a, b]}]
  properties: {a: {type: object}, b: {type: object}}
`), rules.Fine)
	plan := &in.Unions[0]
	plan.Rules = plan.Rules[:1]
	plan.Rules[0].Present, plan.Rules[0].Rule.Rule = true, "!(has(self.b) && has(self.a))"
	in.Bytes[0][0] = 0
	got, err := report.Explain(in)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rules != 0 || !got.Unions[0].Rules[0].Present {
		t.Errorf("%d rules are added", got.Rules)
	}
	if errs := got.Unions[0].Errors[0].Errors; !slices.Equal(errs, []string{"spec.a: Required value: by hand: a"}) {
		t.Errorf("%q", errs)
	}
	if text := textOf(t, got); !strings.Contains(text, ".a: Required value: failed rule: !(has(self.b) && has(self.a))\n") {
		t.Error(text)
	}
}

// notChecked is the error with which the API server states that it did not evaluate the rules.
const notChecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// TestSchemaFirst asserts that the errors are errors of the schema if it rejects an object. Rules
// are then not evaluated.
func TestSchemaFirst(t *testing.T) {
	got := explained(t, thing("{discriminator: closed, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne, unmappedValues: Forbid}"), rules.Fine)
	for _, want := range []string{"spec.u.closed: Required value", `spec.u.closed: Unsupported value: "Unknown": supported values: "A", "B"`} {
		if !slices.ContainsFunc(got.Unions[0].Errors, func(s report.Situation) bool { return slices.Equal(s.Errors, []string{want, notChecked}) }) {
			t.Errorf("%q is not among %v", want, got.Unions[0].Errors)
		}
	}
}

func TestOfMissingSchema(t *testing.T) {
	in := planOf(t, crd(backend), rules.Fine)
	in.Unions[0].Place.Path = schemapath.New("elsewhere")
	if _, err := report.Explain(in); err == nil || err.Error() != "crd.yaml:21:15: the CRD has no schema at elsewhere" {
		t.Errorf("%v", err)
	}
}
