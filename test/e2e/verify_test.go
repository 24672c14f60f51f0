package e2e

import (
	"fmt"
	"maps"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// The server confirms the counterexamples of verify for hand-written rules, both accepted and
// rejected.
func TestCounterexamples(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	for name := range unioncases.HandWritten {
		t.Run(name, func(t *testing.T) {
			manifest := unioncases.HandWrittenCRD(name)
			declared, diags := crdfile.Ask(crdfile.Open("crd.yaml", manifest), crdfile.Options{}, (*crdfile.CRD).Declared)
			if len(declared) != 1 {
				t.Fatal(diags)
			}
			d := declared[0]
			o := d.Objects[0]
			proofs, err := verify.Object(t.Context(), d.CRD, o.Version, o.Path, o.Unions)
			if err != nil || len(proofs) != 1 {
				t.Fatal(proofs, err)
			}
			if len(proofs[0].Differences()) == 0 || len(proofs[0].OfKind(verify.Undecided)) > 0 {
				t.Fatalf("%+v", proofs[0])
			}
			// Old objects may be invalid: they are created while there are no rules.
			lax := *d.CRD.DeepCopy()
			free := true
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = nil
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.Required = nil
			lax.Spec.Versions[0].Schema.OpenAPIV3Schema.XPreserveUnknownFields = &free
			if err := server.Install(t.Context(), marshal(t, lax)); err != nil {
				t.Fatal(err)
			}
			for i, x := range proofs[0].Differences() {
				if x.Old != nil {
					if _, err := server.Create(t.Context(), marshal(t, renamed(x.Old, i))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := server.Replace(t.Context(), marshal(t, d.CRD)); err != nil {
				t.Fatal(err)
			}
			for i, x := range proofs[0].Differences() {
				act := server.Create
				if x.Old != nil {
					act = server.Update
				}
				if _, err := act(t.Context(), marshal(t, renamed(x.New, i))); (err == nil) != (x.Kind == verify.Accepted) {
					t.Errorf("%s: %s, and the server says: %v", describe(proofs[0].Union, x), x.Kind, err)
				}
			}
			t.Logf("%d differences confirmed", len(proofs[0].Differences()))
		})
	}
}

func describe(u *union.Union, d verify.Finding) string { return d.Rule + ": " + d.Words(u) }

// renamed returns a resource with its own name.
func renamed(resource map[string]any, i int) map[string]any {
	resource = maps.Clone(resource)
	resource["metadata"] = map[string]any{"name": fmt.Sprintf("example-%d", i), "namespace": "default"}
	return resource
}
