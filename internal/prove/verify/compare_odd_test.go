package verify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestCompareOdd compares meaningless and adversarial constraints and schemas. The comparison takes
// bounded time, and is not equivalent.
func TestCompareOdd(t *testing.T) {
	const properties = "properties: {a: {type: string}, b: {type: object}, c: {type: integer}}"
	deep := func(key string, n int) string {
		if key == "not" {
			return strings.Repeat("{not: ", n) + "{required: [a]}" + strings.Repeat("}", n)
		}
		return strings.Repeat("{"+key+": [", n) + "{required: [a]}" + strings.Repeat("]}", n)
	}
	many := make([]string, 300)
	for i := range many {
		many[i] = "{required: [a], properties: {b: {not: {}}}}"
	}
	long := "has(self.a)" + strings.Repeat(" && has(self.a)", 2000)
	for _, spec := range []string{
		"{type: object, " + properties + ", oneOf: [{}], anyOf: [{}], not: {}, allOf: [{}], minProperties: -1, maxProperties: 1000000000}",
		"{type: object, " + properties + ", oneOf: [{}, {}], minProperties: 1000000000, maxProperties: -1}",
		"{type: object, " + properties + ", not: " + deep("not", 199) + "}",
		"{type: object, " + properties + ", allOf: [" + deep("allOf", 100) + "]}",
		"{type: object, " + properties + ", anyOf: [" + strings.Join(many, ", ") + "], oneOf: [" + strings.Join(many, ", ") + "]}",
		"{type: object, " + properties + ", anyOf: [{properties: {a: {type: integer, pattern: '(', format: nope, enum: [1, {}, null]}, nope: {required: [x]}}, required: [nope]}]}",
		"{type: object, " + properties + ", x-kubernetes-validations: [{rule: ''}, {rule: ')('}, {rule: self}, {rule: 'oldSelf == self'}, {rule: 'self.a', messageExpression: ')('}, {rule: 'has(self.b.c.d)'}]}",
		"{type: object, " + properties + ", x-kubernetes-validations: [{rule: '" + long + "', message: \"\\n\", messageExpression: 1, fieldPath: '..', reason: nope, optionalOldSelf: true}]}",
		"{type: object, " + properties + ", x-kubernetes-validations: [{rule: '[self].exists(self, has(self.a)) && [1, 2].all(a, a > 0)'}, {rule: '1 / 0 == 1 || has(self.a)'}, {rule: 'dyn(self).a == 1'}]}",
		"{type: object, " + properties + ", x-kubernetes-embedded-resource: true, minProperties: 3, maxProperties: 4}",
		"{type: object, additionalProperties: {type: string}, " + properties + ", maxProperties: 1}",
		"{type: array, " + properties + ", maxProperties: 2}",
		"{" + properties + ", maxProperties: 2, x-kubernetes-validations: [{rule: has(self.a)}]}",
		"{type: object, properties: {a: {}, b: {type: nope}, c: {type: array}}, maxProperties: 1, x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}]}",
		"{type: object, properties: {a: {type: string, minLength: 1000000000}, b: {type: array, minItems: 1000000000, items: {type: string}}, c: {type: integer, multipleOf: 0}}, required: [nope], maxProperties: 1}",
	} {
		var s apiextensionsv1.JSONSchemaProps
		if err := sigsyaml.Unmarshal([]byte(spec), &s); err != nil {
			t.Fatalf("%v\n%s", err, spec)
		}
		crd := crdWith(t, "{type: object}")
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = s
		u := &union.Union{Members: []union.Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Cardinality: union.AtMostOne, Change: union.Clear}
		steps := []string{"properties", "spec"}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		c, err := verify.Compare(ctx, crd, 0, pathOf(steps), u, constraintsOn(&s))
		counts := strings.Contains(spec, "maxProperties: 1,") || strings.HasSuffix(spec, "required: [nope], maxProperties: 1}") // maxProperties alone implies the union
		if err != nil || c.Verdict == verify.Equivalent && !counts {
			t.Errorf("%v %s: %.200s", err, c.Verdict, spec)
		}
		if _, c, err := verify.Replaceable(ctx, crd, 0, pathOf(steps), u); err != nil || c.Verdict == verify.Equivalent && !counts {
			t.Errorf("replaceable: %v %s: %.200s", err, c.Verdict, spec)
		}
		cancel()
	}
}
