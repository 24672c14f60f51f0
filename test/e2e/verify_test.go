package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// The server confirms the counterexamples of verify for hand-written rules, both accepted and
// rejected.
func TestCounterexamples(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	for name := range unioncases.HandWritten {
		t.Run(name, func(t *testing.T) {
			manifest := unioncases.HandWrittenCRD(name)
			declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", manifest), crdpatch.Options{}, (*crdpatch.CRD).Declared)
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

// TestStoredWithoutDefault updates objects through a version whose default the storage version lacks:
// verify finds rules that read the property without has(), and compiled rules accept the update.
func TestStoredWithoutDefault(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	const shape = "type: object\nproperties: {mode: {type: integer%s}, fast: {type: string}, safe: {type: string}}\n"
	declared := fmt.Sprintf(shape, ", default: 1") + `x-kubernetes-unions:
- {discriminator: mode, fields-to-discriminateBy: {fast: 1, safe: 0}, optionalMembers: [fast, safe], unset: 1, discriminatorChange: Forbid}
`
	for kind, rules := range map[string]string{"Written": `x-kubernetes-validations:
- rule: "has(self.fast) ? self.mode == 1 : true"
- rule: "has(self.safe) ? self.mode == 0 : true"
- rule: self.mode == oldSelf.mode
`, "Compiled": ""} {
		manifest := []byte(testcrd.Versions(kind, testcrd.Version{Name: "v2", Spec: declared + rules}, testcrd.Version{Name: "v1", Spec: fmt.Sprintf(shape, "")}))
		if rules == "" {
			manifest = compiled(t, string(manifest))
		}
		l, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", manifest), crdpatch.Options{}, (*crdpatch.CRD).Declared)
		if len(l) != 1 {
			t.Fatal(diags)
		}
		o := l[0].Objects[0]
		proofs, err := verify.Object(t.Context(), l[0].CRD, o.Version, o.Path, o.Unions)
		if err != nil {
			t.Fatal(err)
		}
		proved := proofs[0].Proved()
		if proved != (rules == "") {
			t.Errorf("%s: %+v", kind, proofs[0].Findings)
		}
		if d := proofs[0].Differences(); !proved && (len(d) != 2 || len(d[0].Unusual) > 0 || !strings.Contains(d[1].Words(proofs[0].Union), "stored objects may lack spec.mode, because the storage version v1 has no default for it")) {
			t.Errorf("%s: %+v", kind, d)
		}
		if err := server.Install(t.Context(), marshal(t, l[0].CRD)); err != nil {
			t.Fatal(err)
		}
		object := func(version, labels string) []byte {
			return fmt.Appendf(nil, "{apiVersion: example.com/%s, kind: %s, metadata: {name: x, labels: {%s}}, spec: {fast: a}}", version, kind, labels)
		}
		if _, err := server.Create(t.Context(), object("v1", "")); err != nil {
			t.Fatal(err)
		}
		if err := server.Apply(t.Context(), object("v2", "a: b")); (err == nil) != proved || err != nil && !strings.Contains(err.Error(), "no such key: mode") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
