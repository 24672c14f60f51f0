package change_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/crdchanges"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

func read(t *testing.T, text string) *change.Input {
	t.Helper()
	l, wrong := change.ReadInputs(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{})
	if len(l) != 1 {
		t.Fatalf("%d CRDs: %v\n%s", len(l), wrong, text)
	}
	return l[0]
}

func unionsOf(t *testing.T, spec string) *change.Input {
	t.Helper()
	return read(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec}))
}

func show(r change.Comparison) string {
	s := ""
	for _, c := range r.Changes {
		s += fmt.Sprintf("%s: %s: %s [%s] %s %s\n", c.Path, c.Subject, c.What, c.Class, c.Undecided, c.Note)
		for name, e := range map[string]*change.Counterexample{"refused": c.Refused, "accepted": c.Accepted} {
			if e != nil {
				old, _ := yaml.Marshal(e.Old["spec"])
				object, _ := yaml.Marshal(e.Object["spec"])
				s += fmt.Sprintf("  %s: %s -> %s   %q\n", name, old, object, e.Errors)
			}
		}
	}
	return s
}

// TestAdvice asserts that stored objects may violate static rules, but no transition rules.
func TestAdvice(t *testing.T) {
	const spec = `type: object
required: [type]
properties:
  type: {type: string, enum: [A, B]}
  a: {type: string}
  b: {type: string}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A, b: B}
`
	for _, tt := range []struct {
		name, old, new, want string
	}{
		{"a member is required", spec + "  optionalMembers: [a]\n", spec, "spec is unchanged"},
		{"changes are forbidden", spec, spec + "  discriminatorChange: Forbid\n", ""},
		{"an immutable field", spec, strings.Replace(spec, "a: {type: string}", "a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}", 1), ""},
		{"a rule that always has a result", spec, strings.Replace(spec, "a: {type: string}", "a: {type: string, x-kubernetes-validations: [{rule: self.size() < 3}]}", 1), "spec.a is unchanged."},
		{"a rule that may fail", spec, strings.Replace(spec, "a: {type: string}", "a: {type: string, x-kubernetes-validations: [{rule: int(self) < 3}]}", 1), "spec.a is unchanged; except objects for which the rule cannot be evaluated."},
		{"a rule that only reads required fields", spec, spec + "x-kubernetes-validations: [{rule: self.type == 'A'}]\n", "spec is unchanged."},
		{"a rule that reads an unset field", spec, spec + "x-kubernetes-validations: [{rule: self.a == 'x'}]\n", "spec is unchanged; except objects for which the rule cannot be evaluated."},
		{"a status that is no subresource", spec, spec + "x-kubernetes-validations: [{rule: '!has(self.a)'}]\n", "spec is unchanged."},
	} {
		old, new := unionsOf(t, tt.old), unionsOf(t, tt.new)
		new.KubeVersion = "1.30"
		r, err := change.Compare(t.Context(), old, new)
		if err != nil || len(r.Changes) != 1 {
			t.Fatal(r, err)
		}
		if got := r.Changes[0].Advice; !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCompare asserts the class of each change, and that the API server's validators confirm its
// counterexamples.
func TestCompare(t *testing.T) {
	for _, c := range crdchanges.All {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			old, new := unionsOf(t, c.Old), unionsOf(t, c.New)
			r, err := change.Compare(t.Context(), old, new)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range unconfirmed(t.Context(), old.CustomResourceDefinition, new.CustomResourceDefinition, r) {
				t.Error(wrong)
			}
			var got []string
			for _, d := range r.Changes {
				what := d.What
				if !strings.HasPrefix(what, d.Subject) {
					what = d.Subject + ": " + what
				}
				got = append(got, fmt.Sprintf("%s %s: %s", d.Class, d.Path, what))
				refuses, accepts := d.Class == change.Tighter || d.Class == change.Both, d.Class == change.Looser || d.Class == change.Both
				if d.Note == "" && (refuses != (d.Refused != nil) || accepts != (d.Accepted != nil)) {
					t.Errorf("%s: refused %v, accepted %v", d.What, d.Refused, d.Accepted)
				}
				if d.Undecided != "" && d.Class != change.Undecided {
					t.Errorf("%s: undecided: %s", d.What, d.Undecided)
				}
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("%s\n%s", diff, show(r))
			}
		})
	}
}

// TestHeader asserts that the class of a report is both only if a change provably accepts more.
func TestHeader(t *testing.T) {
	tighter, looser, open := change.Change{Class: change.Tighter}, change.Change{Class: change.Looser}, change.Change{Class: change.Looser, Undecided: "whether more is accepted"}
	for _, row := range []struct {
		name    string
		changes []change.Change
		want    change.Class
	}{
		{"both shown", []change.Change{tighter, looser}, change.Both},
		{"looser half not shown", []change.Change{tighter, open}, change.Tighter},
		{"nothing but that half", []change.Change{open}, change.Looser},
	} {
		if got := (change.Comparison{Changes: row.changes}).Class(); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// TestRemovedPosition asserts that a removed version has the position of the CRD in the new file.
func TestRemovedPosition(t *testing.T) {
	text := testcrd.New("Thing", "spec: {type: object}")
	old := read(t, strings.Replace(text, "- name: v1\n", "- {name: v0, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n  - name: v1\n", 1))
	is := read(t, text)
	r, err := change.Compare(t.Context(), old, is)
	if err != nil || len(r.Changes) != 1 || r.Changes[0].Pos != is.Pos {
		t.Error(err, show(r), r.Changes)
	}
}

// TestStatus compares a status that is a subresource, which is written separately.
func TestStatus(t *testing.T) {
	const status = `
status:
  type: object
  properties: {phase: {type: string, enum: [Up, Down]}}
`
	crd := func(text string) *change.Input {
		return read(t, strings.Replace(testcrd.New("Thing", text), "storage: true\n", "storage: true\n    subresources: {status: {}}\n", 1))
	}
	r, err := change.Compare(t.Context(), crd(status), crd(strings.Replace(status, ", Down", "", 1)))
	if err != nil || len(r.Changes) != 1 || r.Class() != change.Tighter || !strings.Contains(fmt.Sprint(r.Changes[0].Refused.Errors), "status.phase") {
		t.Error(err, show(r))
	}
}

// TestRuleAround asserts that a wider type is not looser if a rule on the list may depend on it.
func TestRuleAround(t *testing.T) {
	const list = "type: object\nproperties: {l: {type: array, items: {type: integer}, x-kubernetes-validations: [{rule: 'self.all(x, x < 5)'}]}}"
	r, err := change.Compare(t.Context(), unionsOf(t, list), unionsOf(t, strings.Replace(list, "integer", "number", 1)))
	if err != nil || r.Class() != change.Undecided {
		t.Error(err, show(r))
	}
}

func ExampleCompare() {
	crd := func(rule string) *change.Input {
		text := testcrd.New("Route", "spec:\n  type: object\n  properties: {http: {type: object}, tcp: {type: object}}\n  x-kubernetes-validations:\n  - rule: "+rule)
		l, _ := change.ReadInputs(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{})
		return l[0]
	}
	r, err := change.Compare(context.Background(), crd("'!(has(self.http) && has(self.tcp))'"), crd("has(self.http) != has(self.tcp)"))
	if err != nil {
		panic(err)
	}
	for _, c := range r.Changes {
		fmt.Println(c.Class, c.Path, c.Refused.Object["spec"])
		fmt.Println(c.Refused.Errors[0])
	}
	// Output:
	// tighter spec map[]
	// spec: Invalid value: failed rule: has(self.http) != has(self.tcp)
}
