package verify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// generated returns declarations of n members with all combinations of conditions on states. The
// unions allow every change.
func generated(n int, empty string) []string {
	names := []string{"a", "b", "c", "d"}[:n]
	var fields []string
	for i, name := range names {
		value := strings.ToUpper(name)
		if i == 0 {
			value = "[A, A2]"
		}
		fields = append(fields, name+": "+value)
	}
	const free = "discriminatorChange: Allow"
	var l []string
	for _, cardinality := range []string{"AtMostOne", "ExactlyOne", "AtLeastOne"} {
		change := free
		if cardinality == "AtLeastOne" {
			change = "" // AtLeastOne has no condition on changes
		}
		l = append(l, declaration("members: ["+strings.Join(names, ", ")+"]", "cardinality: "+cardinality, change, empty))
	}
	for _, cardinality := range []string{"", "cardinality: ExactlyOne", "deduceInvalidDiscriminator: true"} {
		for _, optional := range []string{"", "optionalMembers: [a]", "optionalMembers: [" + strings.Join(names, ", ") + "]"} {
			for _, unmapped := range []string{"", "unmappedValues: Forbid"} {
				l = append(l, declaration("discriminator: type, fields-to-discriminateBy: {"+strings.Join(fields, ", ")+"}", cardinality, optional, unmapped, free, empty))
			}
		}
	}
	if n == 3 {
		for _, optional := range []string{"", "optionalMembers: [a]", "optionalMembers: {a: A, b: [A, B]}"} {
			l = append(l, declaration("discriminator: type, fields-to-discriminateBy: {a: [A, A2], b: [B, A], c: C}", optional, "unmappedValues: Forbid", free, empty))
		}
	}
	return l
}

func declaration(keys ...string) string {
	var l []string
	for _, k := range keys {
		if k != "" {
			l = append(l, k)
		}
	}
	return "[{" + strings.Join(l, ", ") + "}]"
}

// withRules compiles rules for a union and adds them to spec like hand-written ones.
func withRules(t testing.TB, spec string, declaration string, encoding rules.Encoding) (*apiextensionsv1.CustomResourceDefinition, *union.Union) {
	t.Helper()
	crd := crdWith(t, spec)
	steps := []string{"properties", "spec"}
	u := unionsOf(t, declaration, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))[0]
	var l apiextensionsv1.ValidationRules
	for _, r := range rules.Static(u, encoding) {
		l = append(l, r.Validation())
	}
	setRules(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps, l)
	return crd, u
}

// TestGeneratedRules treats the rules compiled for a union as hand-written. They are equivalent to
// the union and can all be replaced.
func TestGeneratedRules(t *testing.T) {
	const spec = `
type: object
properties:
  type: {type: string, nullable: true}
  a: {type: object, nullable: true, properties: {x: {type: string}, z: {type: integer, nullable: true}}}
  b: {type: string, nullable: true}
  c: {type: array, items: {type: string}}
  d: {type: object, nullable: true, additionalProperties: {type: string}}
  other: {type: string}
`
	steps := []string{"properties", "spec"}
	for n := 1; n <= 4; n++ {
		for _, empty := range []string{"", "emptyIsUnset: [" + strings.Join([]string{"a", "b", "c", "d"}[:n], ", ") + "]"} {
			for i, declaration := range generated(n, empty) {
				switch {
				case unioncases.Exhaustive:
				case testing.Short() && i%12 > 0, !testing.Short() && i%9 != n:
					continue // each declaration has only some of the sizes
				}
				for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
					t.Run(fmt.Sprint(declaration, " ", encoding), func(t *testing.T) {
						t.Parallel()
						crd, u := withRules(t, spec, declaration, encoding)
						written := constraintsOn(at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
						c, err := verify.Compare(context.Background(), crd, 0, pathOf(steps), u, written)
						if err != nil || c.Verdict != verify.Equivalent {
							t.Fatalf("%v %s", err, verdict(t, c, u))
						}
						l, again, err := verify.Replaceable(context.Background(), crd, 0, pathOf(steps), u)
						if err != nil || len(l) != len(written) || len(l) > 0 && again.Verdict != verify.Equivalent {
							t.Errorf("%v replaceable: %v of %v, %s", err, l, written, again.Verdict)
						}
					})
				}
			}
		}
	}
}

// TestComparedMutants changes rules in one place each. A mutant must be equivalent to the union if
// and only if the API server evaluates it like the union.
func TestComparedMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const spec = `
type: object
properties:
  type: {type: string}
  a: {type: object}
  b: {type: string}
  c: {type: array, items: {type: string}}
`
	steps := []string{"properties", "spec"}
	declarations := generated(2, "")
	for i, d := range append(generated(3, ""), generated(3, "emptyIsUnset: [c]")...) {
		if i%15 == 0 || i%6 == 0 && unioncases.Exhaustive {
			declarations = append(declarations, d) // larger ones are slow to evaluate
		}
	}
	total, changed := 0, 0
	for i, declaration := range declarations {
		for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
			crd, u := withRules(t, spec, declaration, encoding)
			j := newJudge(t, crd, 0, steps, u)
			place := len(j.places) - 1
			written := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps).XValidations
			for r := range j.places[place].rules {
				for m, mutant := range mutants(j.places[place].rules[r].Rule) {
					if (i+r+m)%unioncases.Choose(37, 37, 5) > 0 {
						continue // all mutants take a minute
					}
					meaning, ok := j.differs(t, place, r, mutant)
					if !ok {
						continue
					}
					l := slices.Clone(written)
					l[r].Rule = mutant
					setRules(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps, l)
					c, err := verify.Compare(context.Background(), crd, 0, pathOf(steps), u, constraintsOn(at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps)))
					setRules(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps, written)
					if err != nil {
						t.Fatal(err)
					}
					total++
					if meaning {
						changed++
					}
					if meaning == (c.Verdict == verify.Equivalent) || c.Verdict == verify.Inconclusive {
						t.Errorf("%s: %s\nbecame %s\nit changes the meaning: %t; the comparison says %s", declaration, written[r].Rule, mutant, meaning, verdict(t, c, u))
					}
				}
			}
		}
	}
	t.Logf("%d mutants, of which %d mean something else", total, changed)
	if least := unioncases.Choose(50, 50, 100); changed < least || total-changed < least/20 {
		t.Error("too few mutants to say anything")
	}
}
