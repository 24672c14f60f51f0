package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/servertest"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// handWritten are rules beside a union that says something else.
var handWritten = map[string]string{
	"sums": `
properties: {type: {type: string}, a: {type: string, minLength: 3}, b: {type: object}, c: {type: array, items: {type: integer}}}
x-kubernetes-unions:
- members: [a, b, c]
x-kubernetes-validations:
- rule: "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) < 2"`,
	"pairs": `
properties: {type: {type: string, enum: [A, B, C, None]}, a: {type: string, minLength: 3}, b: {type: object}, c: {type: array, items: {type: integer}}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B, c: C}
  optionalMembers: [c]
x-kubernetes-validations:
- rule: "!(has(self.a) && self.type != 'A')"
- rule: "!(!has(self.a) && self.type == 'A')"
- rule: "!(has(self.b) && self.type != 'C')"
- rule: "has(self.type) && self.type == 'C' ? has(self.c) : !has(self.c)"`,
	"oneOf": `
properties: {a: {type: string, minLength: 3}, b: {type: object}}
x-kubernetes-unions:
- members: [a, b]
oneOf: [{required: [a]}, {required: [b]}]`,
	"immutable": `
properties: {type: {type: string, enum: [A, B]}, a: {type: string, minLength: 3}, b: {type: object}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
  discriminatorChange: Forbid
x-kubernetes-validations:
- rule: "!has(self.type) || !has(oldSelf.type) || self.type == oldSelf.type"
- rule: "has(self.a) == (has(self.type) && self.type == 'A')"
- rule: "has(self.b) == (has(self.type) && self.type == 'B')"`,
}

// TestCounterexamples lets the server judge what verify says of hand-written
// rules: what it calls accepted or rejected is.
func TestCounterexamples(t *testing.T) {
	server := servertest.Start(t)
	for name, object := range handWritten {
		t.Run(name, func(t *testing.T) {
			manifest := fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.e2e.example.com}
spec:
  group: e2e.example.com
  scope: Namespaced
  names: {kind: Kind%[1]s, plural: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [size]
        properties:
          size: {type: integer, minimum: 1}
          u:
            type: object%[2]s
`, strings.ToLower(name), strings.ReplaceAll(object, "\n", "\n            "))
			declared, diags := crdpatch.Declared("crd.yaml", manifest, union.Elsewhere{})
			if len(declared) != 1 {
				t.Fatal(diags)
			}
			d := declared[0]
			o := d.Objects[0]
			proofs, err := verify.Object(t.Context(), d.CRD, o.Version, o.Steps, o.Unions)
			if err != nil || len(proofs) != 1 {
				t.Fatal(proofs, err)
			}
			if len(proofs[0].Differences) == 0 || len(proofs[0].Inconclusive) > 0 {
				t.Fatalf("%+v", proofs[0])
			}
			// What is stored may be illegal: it is created where there are no rules.
			lax := *d.CRD.DeepCopy()
			free := true
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = nil
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.Required = nil
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.XPreserveUnknownFields = &free
			if err := server.Install(t.Context(), marshal(t, lax)); err != nil {
				t.Fatal(err)
			}
			for i, x := range proofs[0].Differences {
				if x.Old != nil {
					if _, err := server.Create(t.Context(), marshal(t, renamed(x.Old, i))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := server.Replace(t.Context(), marshal(t, d.CRD)); err != nil {
				t.Fatal(err)
			}
			for i, x := range proofs[0].Differences {
				act := server.Create
				if x.Old != nil {
					act = server.Update
				}
				if _, err := act(t.Context(), marshal(t, renamed(x.New, i))); (err == nil) != x.Accepted {
					t.Errorf("%s: accepted is %v, and the server says: %v", describe(proofs[0].Union, x), x.Accepted, err)
				}
			}
			t.Logf("%d differences confirmed", len(proofs[0].Differences))
		})
	}
}

func describe(u *union.Union, d verify.Difference) string { return d.Rule + ": " + d.Words(u) }

// renamed is a resource under a name of its own.
func renamed(resource map[string]any, i int) map[string]any {
	resource = maps.Clone(resource)
	resource["metadata"] = map[string]any{"name": fmt.Sprintf("example-%d", i), "namespace": "default"}
	return resource
}
