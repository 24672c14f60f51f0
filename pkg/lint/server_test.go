package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/internal/servertest"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/lint"
)

// TestServerUnchanged shows that a stored object whose union is never unchanged cannot
// be updated, and that it can with what the hint says.
func TestServerUnchanged(t *testing.T) {
	s := servertest.Start(t)
	const stored = "{type: HTTP, http: {}, tcp: {z: 1}}"
	open := replaced(typed, "tcp: {type: object, ", "tcp: {type: object, x-kubernetes-preserve-unknown-fields: true, ")
	root := strings.Replace(crd("roots", version{name: "v1", spec: "type: string"}), "        properties:\n",
		"        x-kubernetes-unions: [{members: [a, b]}]\n        properties:\n          a: {type: string}\n          b: {type: string}\n", 1)
	for _, test := range []struct{ plural, crd, item, stored string }{
		{"opens", crd("opens", version{name: "v1", spec: open}), "fields-to-discriminateBy: {http: HTTP, tcp: TCP}\n", "spec: " + stored},
		{"roots", root, "{members: [a, b]}", "a: x\nb: x"},
	} {
		t.Run(test.plural, func(t *testing.T) {
			l := lint.File(crdpatch.Open("crd.yaml", []byte(test.crd), crdpatch.Options{}))
			if told := codes(l, diag.NeverUnchanged); len(told) != 1 {
				t.Fatalf("lint says %v", l)
			}
			ratchet := replaced(test.crd, test.item, test.item+"              ratchet: true\n")
			if test.plural == "roots" {
				ratchet = replaced(test.crd, test.item, "{members: [a, b], ratchet: true}")
			}
			if told := codes(lint.File(crdpatch.Open("crd.yaml", []byte(ratchet), crdpatch.Options{})), diag.NeverUnchanged); len(told) > 0 {
				t.Errorf("with ratchet lint says %v", told)
			}
			bare := test.crd[:strings.Index(test.crd, "x-kubernetes-unions")] + "x-kubernetes-map-type: atomic\n"
			if test.plural == "roots" {
				bare = replaced(test.crd, "x-kubernetes-unions: [{members: [a, b]}]", "x-kubernetes-map-type: atomic")
			}
			if err := s.Install(t.Context(), []byte(bare)); err != nil {
				t.Fatal(err)
			}
			object := func(label string) []byte {
				return fmt.Appendf(nil, "apiVersion: example.com/v1\nkind: %s\nmetadata: {name: x, namespace: default, labels: {l: %s}}\n%s\n",
					strings.ToUpper(test.plural[:1])+test.plural[1:len(test.plural)-1], label, test.stored)
			}
			if _, err := s.Create(t.Context(), object("a")); err != nil {
				t.Fatal(err)
			}
			for _, step := range []struct {
				crd, label string
				accepted   bool
			}{{test.crd, "b", false}, {ratchet, "c", true}} {
				compiled, diags := crdpatch.Compile("crd.yaml", []byte(step.crd), crdpatch.Options{})
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

// TestServer shows on a real API server that what the advice says of it is so: each
// step is accepted or refused as named.
func TestServer(t *testing.T) {
	s := servertest.Start(t)
	type step struct {
		version, spec string
		refused       string // part of the error; empty is accepted
	}
	const forbid = "  discriminatorChange: Forbid\n"
	const list = "tcp: {type: array, items: {type: string}}"
	const tcp = "tcp: {type: object, properties: {port: {type: integer}}}"
	tests := []struct {
		plural   string
		code     diag.Code
		versions []version
		steps    []step
	}{
		{plural: "removals", code: diag.VersionBypass, versions: []version{{name: "v1beta1", spec: "type: object\nproperties: {note: {type: string}}"}, {name: "v1", spec: typed + forbid}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: TCP, tcp: {}}", "type may not change"},
				{"v1", "{}", "type may not change"},
				{"v1beta1", "{note: x}", ""},
				{"v1", "{type: TCP, tcp: {}}", ""},
			}},
		{plural: "unknowns", code: diag.VersionBypass, versions: []version{{name: "v1beta1", spec: "type: object\nx-kubernetes-preserve-unknown-fields: true"}, {name: "v1", spec: typed}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, tcp: {}}", "tcp is required when"},
				{"v1beta1", "{type: HTTP, tcp: {}}", ""},
			}},
		{plural: "tables", code: diag.TableBypass, versions: []version{{name: "v1", spec: replaced(replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, UDP]"),
			"tcp: TCP}", "tcp: [TCP, UDP]}\n  allowedChanges: {HTTP: [TCP, \"\"]}")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: UDP, tcp: {}}", "type"},
				{"v1", "{}", ""},
				{"v1", "{type: UDP, tcp: {}}", ""},
			}},
		{plural: "typos", code: diag.NoEnum, versions: []version{{name: "v1", spec: replaced(typed, "type: {type: string, enum: [HTTP, TCP]}", "type: {type: string}")}},
			steps: []step{{"v1", "{type: HTPT}", ""}}},
		{plural: "emptylists", code: diag.ListMember, versions: []version{{name: "v1", spec: replaced(typed, tcp, list)}},
			steps: []step{{"v1", "{type: HTTP, http: {}, tcp: []}", "tcp is required when"}}},
		{plural: "nevers", code: diag.RequiredChildren, versions: []version{{name: "v1", spec: replaced(typed, tcp, "tcp: {type: object, required: [prot], properties: {port: {type: integer}}}")}},
			steps: []step{
				{"v1", "{type: TCP, tcp: {port: 1}}", "tcp.prot: Required"},
				{"v1", "{type: TCP, tcp: {port: 1, prot: 1}}", "unknown field"},
			}},
		{plural: "empties", code: diag.RequiredChildren, versions: []version{{name: "v1", spec: replaced(replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, http: {}, tcp: {}}", "tcp.port: Required"},
			}},
		{plural: "filleds", code: diag.RequiredChildren, versions: []version{{name: "v1", spec: replaced(replaced(typed, tcp, "tcp: {type: object, properties: {port: {type: integer, default: 1}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]")}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP, http: {}, tcp: {}}", "tcp is required when"},
			}},

		// No ways around Forbid, and nothing to tell.
		{plural: "nullables", versions: []version{{name: "v1", spec: "type: object\nproperties:\n  union:\n    nullable: true\n" + indented(typed+forbid, 4)}},
			steps: []step{
				{"v1", "{union: {type: HTTP, http: {}}}", ""},
				{"v1", "{union: {type: TCP, tcp: {}}}", "type may not change"},
				{"v1", "{union: null}", "union"},
				{"v1", "{}", "union"},
			}},
		{plural: "deduceds", versions: []version{{name: "v1", spec: typed + forbid + "  deduceInvalidDiscriminator: true\n"}},
			steps: []step{
				{"v1", "{http: {}}", ""},
				{"v1", "{tcp: {}}", "may not change"},
				{"v1", "{}", "may not change"},
				{"v1", "{type: TCP, tcp: {}}", "may not change"},
			}},
		{plural: "optionals", versions: []version{{name: "v1", spec: replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, None]") + forbid + "  optionalMembers: [http, tcp]\n"}},
			steps: []step{
				{"v1", "{type: HTTP, http: {}}", ""},
				{"v1", "{type: HTTP}", ""},
				{"v1", "{type: TCP}", "type may not change"},
				{"v1", "{type: None}", "type may not change"},
			}},
	}
	for _, test := range tests {
		t.Run(test.plural, func(t *testing.T) {
			src := []byte(crd(test.plural, test.versions...))
			l := lint.File(crdpatch.Open("crd.yaml", src, crdpatch.Options{}))
			if told := codes(l, test.code); test.code != "" && len(told) == 0 {
				t.Errorf("lint does not tell of %s", test.code)
			}
			if told := codes(l, diag.VersionBypass, diag.TableBypass, diag.VersionsDiffer, diag.RemovableItem); test.code == "" && len(told) > 0 {
				t.Errorf("lint tells of %s", told)
			}
			compiled, diags := crdpatch.Compile("crd.yaml", src, crdpatch.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if err := s.Install(t.Context(), compiled); err != nil {
				t.Fatal(err)
			}
			var stored *unstructured.Unstructured
			for i, step := range test.steps {
				object := []byte(fmt.Sprintf("apiVersion: example.com/%s\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n",
					step.version, strings.ToUpper(test.plural[:1])+test.plural[1:len(test.plural)-1], step.spec))
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
