package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// besides are unions with hand-written constraints alongside.
var besides = []struct {
	name, schema string
	byHand       []string // the constraints that lines are attributed to
}{
	{"OneOfTyped", `
required: [type]
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]
oneOf:
- {required: [a], properties: {type: {enum: [A]}}}
- {required: [b], properties: {type: {enum: [B]}}}
`, []string{"oneOf"}},
	{"OneOfUntyped", `
x-kubernetes-unions: [{members: [a, list, map], cardinality: ExactlyOne, emptyIsUnset: [list, map]}]
oneOf: [{required: [a]}, {required: [list]}, {required: [map]}]
`, []string{"oneOf"}},
	{"Repeating", `
x-kubernetes-unions: [{members: [a, b]}]
x-kubernetes-validations:
- {rule: "[has(self.a), has(self.b)].filter(x, x).size() <= 1", messageExpression: "'not both, ' + (has(self.name) ? self.name : 'you')", fieldPath: .b, reason: FieldValueForbidden}
`, []string{"x-kubernetes-validations[0]"}},
	{"Serving", `
x-kubernetes-unions: [{members: [a, b]}]
x-kubernetes-validations:
- {rule: "!(has(self.a) && has(self.b))", messageExpression: "'not both, ' + (has(self.name) ? self.name : 'you')"}
`, nil},
	{"Contradicting", `
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]
x-kubernetes-validations:
- {rule: "has(self.b) == (has(self.type) && self.type == 'B')", message: b goes with B}
- {rule: "!has(self.a)", message: a is not supported yet}
- {rule: "!has(self.map) || size(self.map) < 3"}
- {rule: "!has(self.type) || !has(oldSelf.type) || self.type == oldSelf.type", message: type is immutable}
`, []string{"x-kubernetes-validations[1]", "x-kubernetes-validations[3]"}},
	{"Shared", `
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: [A, B], b: B, list: A}, optionalMembers: {list: [A]}, discriminatorChange: Forbid}]
`, nil},
	{"All", `
x-kubernetes-unions: [{members: [a, b, list]}]
allOf: [{not: {required: [a, b]}}, {anyOf: [{required: [a]}, {required: [b]}, {required: [list]}]}, {not: {required: [name]}}]
x-kubernetes-validations:
- {rule: "!(has(self.a) && has(self.b))"}
`, []string{"allOf[0]", "allOf[1]", "x-kubernetes-validations[0]"}},
	{"None", `
x-kubernetes-unions: [{members: [a, b]}]
allOf: [{not: {required: [a, b]}}, {oneOf: [{required: [a]}, {required: [b]}]}]
`, []string{"allOf", "allOf[0]", "allOf[1]"}},
}

const beside = `
spec:
  type: object
  properties:
    name: {type: string, maxLength: 10}
    type: {type: string, enum: [A, B]}
    a: {type: object}
    b: {type: string}
    list: {type: array, items: {type: string}}
    map: {type: object, additionalProperties: {type: string}}`

// The API server returns the errors that explain predicts, also with hand-written constraints
// alongside.
func TestPredicted(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	for _, test := range besides {
		t.Run(test.name, func(t *testing.T) {
			src := []byte(testcrd.New(test.name, beside+strings.ReplaceAll(test.schema, "\n", "\n  ")))
			compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
			if compiled == nil {
				t.Fatal(diags)
			}
			if err := server.Install(t.Context(), compiled); err != nil {
				t.Fatal(err)
			}
			explanations, _ := crdpatch.Explain(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
			crd, err := report.Explain(explanations[0])
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for i, s := range crd.Unions[0].Errors {
				got := answer(t, server, fmt.Sprintf("n%d", i), s.OldObject, s.NewObject)
				if d := cmp.Diff(s.Errors, got); d != "" {
					t.Errorf("%s (-predicted +answered):\n%s", s.Situation, d)
				}
				for _, by := range s.ByHand {
					seen[by] = true
				}
			}
			want := map[string]bool{"": true}
			for _, by := range test.byHand {
				want[by] = true
			}
			if d := cmp.Diff(want, seen); d != "" {
				t.Errorf("lines are owed to (-want +got):\n%s", d)
			}
		})
	}
}

// answer returns the lines that kubectl prints when a resource is created or updated.
func answer(t *testing.T, server *servertest.Server, name string, old, new map[string]any) []string {
	t.Helper()
	data := func(resource map[string]any) []byte {
		resource["metadata"] = map[string]any{"name": name}
		data, err := json.Marshal(resource)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var err error
	if old == nil {
		_, err = server.Create(t.Context(), data(new))
	} else {
		if _, err := server.Create(t.Context(), data(old)); err != nil {
			t.Fatal(err)
		}
		_, err = server.Update(t.Context(), data(new))
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("%+v: %v", new, err)
	}
	var l []string
	for _, cause := range status.ErrStatus.Details.Causes {
		l = append(l, cause.Field+": "+cause.Message)
	}
	return l
}
