package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/diag"
)

// typed is the schema of a union object in a version of a CRD.
const typed = `
type: object
properties:
  type: {type: string, enum: [HTTP, TCP]}
  http: {type: object, properties: {port: {type: integer}}}
  tcp: {type: object, properties: {port: {type: integer}}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {http: HTTP, tcp: TCP}
`

// with returns a text with one part replaced, which must occur exactly once.
func with(text, old, replacement string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("%q is there %d times", old, strings.Count(text, old)))
	}
	return strings.Replace(text, old, replacement, 1)
}

// advised returns the diagnostics of lint about a CRD with one of the codes.
func advised(crd string, codes ...diag.Code) diag.List {
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{})
	return slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return !slices.Contains(codes, d.Code) })
}

// kindOf returns the kind for a plural.
func kindOf(plural string) string { return strings.ToUpper(plural[:1]) + plural[1:len(plural)-1] }

// A stored object whose union never counts as unchanged cannot be updated; the change that the hint
// suggests makes it updatable.
func TestAdviceUnchanged(t *testing.T) {
	t.Parallel()
	s := servertest.Shared(t)
	const stored = "{type: HTTP, http: {}, tcp: {z: 1}}"
	open := with(typed, "tcp: {type: object, ", "tcp: {type: object, x-kubernetes-preserve-unknown-fields: true, ")
	root := strings.Replace(testcrd.Versions("Root", testcrd.Version{Name: "v1", Spec: "type: string"}), "        properties:\n",
		"        x-kubernetes-unions: [{members: [a, b]}]\n        properties:\n          a: {type: string}\n          b: {type: string}\n", 1)
	for _, test := range []struct{ plural, crd, item, stored string }{
		{"opens", testcrd.Versions("Open", testcrd.Version{Name: "v1", Spec: open}), "fields-to-discriminateBy: {http: HTTP, tcp: TCP}\n", "spec: " + stored},
		{"roots", root, "{members: [a, b]}", "a: x\nb: x"},
	} {
		t.Run(test.plural, func(t *testing.T) {
			if told := advised(test.crd, codes.NeverUnchanged); len(told) != 1 {
				t.Fatalf("lint says %v", told)
			}
			ratchet := with(test.crd, test.item, test.item+"              ratchet: true\n")
			if test.plural == "roots" {
				ratchet = with(test.crd, test.item, "{members: [a, b], ratchet: true}")
			}
			if told := advised(ratchet, codes.NeverUnchanged); len(told) > 0 {
				t.Errorf("with ratchet lint says %v", told)
			}
			bare := test.crd[:strings.Index(test.crd, "x-kubernetes-unions")] + "x-kubernetes-map-type: atomic\n"
			if test.plural == "roots" {
				bare = with(test.crd, "x-kubernetes-unions: [{members: [a, b]}]", "x-kubernetes-map-type: atomic")
			}
			if err := s.Install(t.Context(), []byte(bare)); err != nil {
				t.Fatal(err)
			}
			object := func(label string) []byte {
				return fmt.Appendf(nil, "apiVersion: example.com/v1\nkind: %s\nmetadata: {name: x, namespace: default, labels: {l: %s}}\n%s\n",
					kindOf(test.plural), label, test.stored)
			}
			if _, err := s.Create(t.Context(), object("a")); err != nil {
				t.Fatal(err)
			}
			for _, step := range []struct {
				crd, label string
				accepted   bool
			}{{test.crd, "b", false}, {ratchet, "c", true}} {
				compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(step.crd)), crdpatch.Options{})
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if err := s.Replace(t.Context(), compiled); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Update(t.Context(), object(step.label)); (err == nil) != step.accepted {
					t.Errorf("label %s: %v", step.label, err)
				}
			}
		})
	}
}

// The API server behaves as the advice says: it accepts or rejects each step as expected.
func TestAdvice(t *testing.T) {
	t.Parallel()
	s := servertest.Shared(t)
	type step struct {
		version, spec string
		refused       string // part of the error; empty if the step is accepted
	}
	const forbid = "  discriminatorChange: Forbid\n"
	const list = "tcp: {type: array, items: {type: string}}"
	const tcp = "tcp: {type: object, properties: {port: {type: integer}}}"
	tests := []struct {
		plural   string
		code     diag.Code
		versions []testcrd.Version
		steps    []step
	}{
		{plural: "removals", code: codes.VersionBypass, versions: []testcrd.Version{{Name: "v1beta1", Spec: "type: object\nproperties: {note: {type: string}}"}, {Name: "v1", Spec: typed + forbid}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: TCP, tcp: {}}", "type may not change"},
				{"v1", "{}", "type may not change"},
				{"v1beta1", "{note: x}", ""},
				{"v1", "{type: TCP, tcp: {}}", ""},
			}},
		{plural: "unknowns", code: codes.VersionBypass, versions: []testcrd.Version{{Name: "v1beta1", Spec: "type: object\nx-kubernetes-preserve-unknown-fields: true"}, {Name: "v1", Spec: typed}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, tcp: {}}", "tcp is required when"},
				{"v1beta1", "{type: HTTP, tcp: {}}", ""},
			}},
		{plural: "tables", code: codes.TableBypass, versions: []testcrd.Version{{Name: "v1", Spec: with(with(typed, "[HTTP, TCP]", "[HTTP, TCP, UDP]"),
			"tcp: TCP}", "tcp: [TCP, UDP]}\n  allowedChanges: {HTTP: [TCP, \"\"]}")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: UDP, tcp: {}}", "type"},
				{"v1", "{}", ""},
				{"v1", "{type: UDP, tcp: {}}", ""},
			}},
		{plural: "typos", code: codes.NoEnum, versions: []testcrd.Version{{Name: "v1", Spec: with(typed, "type: {type: string, enum: [HTTP, TCP]}", "type: {type: string}")}},
			steps: []step{{"v1", "{type: HTPT}", ""}}},
		{plural: "emptylists", code: codes.ListMember, versions: []testcrd.Version{{Name: "v1", Spec: with(typed, tcp, list)}},
			steps: []step{{"v1", "{type: HTTP, http: {}, tcp: []}", "tcp is required when"}}},
		{plural: "nevers", code: codes.RequiredChildren, versions: []testcrd.Version{{Name: "v1", Spec: with(typed, tcp, "tcp: {type: object, required: [prot], properties: {port: {type: integer}}}")}},
			steps: []step{
				{"v1", "{type: TCP, tcp: {port: 1}}", "tcp.prot: Required"},
				{"v1", "{type: TCP, tcp: {port: 1, prot: 1}}", "unknown field"},
			}},
		{plural: "empties", code: codes.RequiredChildren, versions: []testcrd.Version{{Name: "v1", Spec: with(with(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, http: {}, tcp: {}}", "tcp.port: Required"},
			}},
		{plural: "filleds", code: codes.RequiredChildren, versions: []testcrd.Version{{Name: "v1", Spec: with(with(typed, tcp, "tcp: {type: object, properties: {port: {type: integer, default: 1}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, http: {}, tcp: {}}", "tcp is required when"},
			}},

		// Forbid cannot be bypassed, and lint reports nothing.
		{plural: "nullables", versions: []testcrd.Version{{Name: "v1", Spec: "type: object\nproperties:\n  union:\n    nullable: true\n" + strings.ReplaceAll(typed+forbid, "\n", "\n    ")}},
			steps: []step{
				{"v1", "{union: {type: HTTP, http: {}}}", ""},
				{"v1", "{union: {type: TCP, tcp: {}}}", "type may not change"},
				{"v1", "{union: null}", "union"},
				{"v1", "{}", "union"},
			}},
		{plural: "deduceds", versions: []testcrd.Version{{Name: "v1", Spec: typed + forbid + "  deduceInvalidDiscriminator: true\n"}},
			steps: []step{
				{"v1", "{http: {}}", ""},
				{"v1", "{tcp: {}}", "may not change"},
				{"v1", "{}", "may not change"},
				{"v1", "{type: TCP, tcp: {}}", "may not change"},
			}},
		{plural: "optionals", versions: []testcrd.Version{{Name: "v1", Spec: with(typed, "[HTTP, TCP]", "[HTTP, TCP, None]") + forbid + "  optionalMembers: [http, tcp]\n"}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP}", ""},
				{"v1", "{type: TCP}", "type may not change"},
				{"v1", "{type: None}", "type may not change"},
			}},
	}
	for _, test := range tests {
		t.Run(test.plural, func(t *testing.T) {
			src := testcrd.Versions(kindOf(test.plural), test.versions...)
			if test.code != "" && len(advised(src, test.code)) == 0 {
				t.Errorf("lint does not tell of %s", test.code)
			}
			if told := advised(src, codes.VersionBypass, codes.TableBypass, codes.VersionsDiffer, codes.RemovableItem); test.code == "" && len(told) > 0 {
				t.Errorf("lint tells of %s", told)
			}
			compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(src)), crdpatch.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if err := s.Install(t.Context(), compiled); err != nil {
				t.Fatal(err)
			}
			var stored *unstructured.Unstructured
			for i, step := range test.steps {
				object := []byte(fmt.Sprintf("apiVersion: example.com/%s\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n",
					step.version, kindOf(test.plural), step.spec))
				write := s.Create
				if stored != nil {
					write = s.Update
				}
				got, err := write(t.Context(), object)
				switch {
				case err == nil:
					stored = got
					if step.refused != "" {
						t.Errorf("step %d is accepted", i+1)
					}
				case step.refused == "" || !strings.Contains(err.Error(), step.refused):
					t.Errorf("step %d: %v", i+1, err)
				}
			}
		})
	}
}
