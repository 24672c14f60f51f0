package verify_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestRandomConstraints compares unions with their compiled rules after constrain has removed some
// of the rules and added random constraints. Each result must agree with the API server's
// validation of every object in everyObject.
func TestRandomConstraints(t *testing.T) {
	const spec = `
type: object
properties:
  type: {type: string, nullable: true}
  a: {type: string, nullable: true}
  b: {type: string, nullable: true}
  other: {type: string}
`
	steps := []string{"properties", "spec"}
	r := rand.New(rand.NewPCG(1, 2))
	declarations := append(generated(2, ""), generated(2, "emptyIsUnset: [a, b]")...)
	counts := map[verify.Verdict]int{}
	rounds := unioncases.Choose(20, 30, 400)
	for range rounds {
		declaration := declarations[r.IntN(len(declarations))]
		crd, u := withRules(t, spec, declaration, rules.Encoding(r.IntN(2)))
		s := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps)
		constrain(t, r, s)
		constraints := constraintsOn(s)
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = *s
		c, err := verify.Compare(context.Background(), crd, 0, pathOf(steps), u, constraints)
		if err != nil {
			t.Fatal(err)
		}
		counts[c.Verdict]++
		tighter, looser := everyObject(t, s, u)
		text, _ := sigsyaml.Marshal(s)
		if (c.Tighter != nil) != tighter || len(c.Inconclusive) > 0 {
			t.Errorf("%s\n%s\ntighter: %t\n%s", declaration, text, tighter, verdict(t, c, u))
		}
		if (c.Looser != nil) != looser {
			t.Errorf("%s\n%s\nlooser: %t\n%s", declaration, text, looser, verdict(t, c, u))
		}
	}
	t.Log(counts)
	for _, v := range []verify.Verdict{verify.Equivalent, verify.Tighter, verify.Looser, verify.Different} {
		if counts[v] == 0 {
			t.Errorf("none of %d is %s", rounds, v)
		}
	}
}

// constrain removes or adds constraints at random.
func constrain(t testing.TB, r *rand.Rand, s *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	switch r.IntN(4) {
	case 0:
		s.XValidations = nil
	case 1:
		if len(s.XValidations) > 0 {
			i := r.IntN(len(s.XValidations))
			s.XValidations = append(s.XValidations[:i:i], s.XValidations[i+1:]...)
		}
	}
	var condition func(depth int) string
	condition = func(depth int) string {
		if depth > 0 && r.IntN(3) > 0 {
			return "(" + condition(depth-1) + pick(" && ", " || ") + condition(depth-1) + ")"
		}
		return pick("", "!") + pick("has(self.a)", "has(self.b)", "(has(self.a) && self.a != '')", "(has(self.b) && size(self.b) > 0)",
			"has(self.type)", "(has(self.type) && self.type == 'A')", "(has(self.type) && self.type in ['B', ''])", "(self.?type.orValue('') == '')", "(self.type == 'B')")
	}
	var value func(depth int) string
	value = func(depth int) string {
		if depth > 0 && r.IntN(3) > 0 {
			return fmt.Sprintf("{%s: [%s, %s]}", pick("anyOf", "oneOf", "allOf"), value(depth-1), value(depth-1))
		}
		simple := pick("{required: [a]}", "{required: [b]}", "{required: [a, b]}", "{required: [type]}", "{properties: {type: {enum: [A]}}}",
			"{properties: {type: {enum: [B, '']}}, required: [type]}", "{properties: {a: {not: {}}}}", "{properties: {b: {minLength: 1}}}", "{required: [type, a]}", "{}")
		if r.IntN(2) == 0 {
			return "{not: " + simple + "}"
		}
		return simple
	}
	for range r.IntN(3) {
		text := ""
		switch r.IntN(9) {
		case 0, 1, 2:
			text = rulesKey + rule(condition(2))
		case 3:
			text = "oneOf: [" + value(1) + ", " + value(1) + "]"
		case 4:
			text = "anyOf: [" + value(1) + ", " + value(1) + "]"
		case 5:
			text = "not: " + value(1)
		case 6:
			text = "allOf: [" + value(2) + "]"
		case 7:
			text = fmt.Sprint("minProperties: ", r.IntN(3))
		case 8:
			text = fmt.Sprint("maxProperties: ", 1+r.IntN(4))
		}
		kept := s.XValidations
		s.XValidations = nil
		if err := sigsyaml.UnmarshalStrict([]byte(text), s); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s.XValidations = append(kept, s.XValidations...)
	}
}

// everyObject evaluates every object that the constraints in TestRandomConstraints can distinguish,
// with the API server's validators. The union is tighter if the server accepts an illegal object,
// and looser if it rejects a legal one.
func everyObject(t testing.TB, s *apiextensionsv1.JSONSchemaProps, u *union.Union) (tighter, looser bool) {
	t.Helper()
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &in, nil); err != nil {
		t.Fatal(err)
	}
	validator, _, err := apiservervalidation.NewSchemaValidator(&in)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	cel := schemacel.NewValidator(structural, false, celconfig.PerCallLimit)
	const absent = "absent"
	for _, kind := range []any{absent, nil, "", "A", "A2", "B", "C"} {
		for _, a := range []any{absent, nil, "", "x"} {
			for _, b := range []any{absent, nil, "", "x"} {
				for _, other := range []any{absent, "x"} {
					object := map[string]any{}
					for name, v := range map[string]any{"type": kind, "a": a, "b": b, "other": other} {
						if v != absent {
							object[name] = v
						}
					}
					errs := apiservervalidation.ValidateCustomResource(nil, object, validator)
					if len(errs) == 0 && cel != nil {
						errs, _ = cel.Validate(context.Background(), nil, nil, object, nil, math.MaxInt64)
					}
					for _, e := range errs {
						if strings.Contains(e.Detail, "compile error") {
							t.Fatal(e)
						}
					}
					legal := len(u.Violations(u.StateOf(object))) == 0
					tighter = tighter || len(errs) == 0 && !legal
					looser = looser || len(errs) > 0 && legal
				}
			}
		}
	}
	return tighter, looser
}
