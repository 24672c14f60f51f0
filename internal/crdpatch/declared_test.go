package crdpatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

var declaring = testcrd.New("Thing", `
spec:
  type: object
  properties:
    type: {type: string}
    a: {type: object}
    b: {type: object}
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {b: "😀 & \u0007", a: "On"}
    optionalMembers: [a]
    ratchet: true
`)

// A compiled CRD has the unions of its source, even if its rules were edited since, and Declared
// returns the CRD unmodified.
func TestDeclared(t *testing.T) {
	source, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if len(source) != 1 {
		t.Fatal(diags)
	}
	want := fmt.Sprintf("%+v", *source[0].Objects[0].Unions[0])
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	edited := strings.ReplaceAll(string(compiled), "oldSelf.hasValue() ||", "oldSelf.hasValue() &&")
	if edited == string(compiled) {
		t.Fatal("no rule to edit")
	}
	for name, text := range map[string]string{"compiled": string(compiled), "edited": edited} {
		found, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(text)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
		if len(found) != 1 || len(found[0].Objects) != 1 {
			t.Fatal(name, diags)
		}
		if got := fmt.Sprintf("%+v", *found[0].Objects[0].Unions[0]); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
		rules := found[0].CRD.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].XValidations
		if len(rules) == 0 || strings.Contains(rules[len(rules)-2].Rule, "hasValue() &&") != (name == "edited") {
			t.Errorf("%s: rules %v", name, rules)
		}
	}
}

// A recorded union whose schema is gone is reported, not dropped silently.
func TestDeclaredGone(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	renamed := strings.Replace(string(compiled), "\n          spec:\n", "\n          specification:\n", 1)
	if found, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(renamed)), crdpatch.Options{}, (*crdpatch.CRD).Declared); found != nil || !diags.HasErrors() {
		t.Errorf("%v, %v", found, diags)
	}
}

// An error in the annotation hides no other errors.
func TestDeclaredErrors(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	wrong := strings.Replace(declaring, "b: {type: object}", "c: {type: object}", 1)
	other := union.Externals{Declarations: []union.External{{Target: union.Target{Name: "things.example.com"}, Version: "v9", Value: yamltext.ListNode()}}}
	for name, row := range map[string]struct {
		text string
		opts crdpatch.Options
		want []diag.Code
	}{
		"broken": {strings.Replace(string(compiled), `{"format":2`, `{"format":"2"`, 1) + "---\n" + wrong, crdpatch.Options{}, []diag.Code{codes.BadAnnotation, codes.UnknownMember}},
		"gone":   {strings.Replace(string(compiled), "\n          spec:\n", "\n          specification:\n", 1), crdpatch.Options{External: other}, []diag.Code{codes.RuleChanged, codes.NoSuchSchema}},
	} {
		found, l := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(row.text)), row.opts, (*crdpatch.CRD).Declared)
		for _, code := range row.want {
			if !slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return d.Code == code && d.Severity == diag.Error }) {
				t.Errorf("%s: no %s: %v", name, code, l)
			}
		}
		if found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// Errors in the annotations of two CRDs are reported together, whether an annotation cannot be read
// or claims too much.
func TestBrokenTwice(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	edited := strings.ReplaceAll(string(compiled), "oldSelf.hasValue() ||", "oldSelf.hasValue() &&")
	two := crdpatch.Open("crd.yaml", []byte(strings.Replace(string(compiled), `{"format":2`, `{"format":"2"`, 1)+"---\n"+edited))
	_, compiling := crdpatch.Compile(two, crdpatch.Options{})
	_, decompiling := crdpatch.Decompile(two, crdpatch.Options{})
	for name, l := range map[string]diag.List{"compile": compiling, "decompile": decompiling} {
		for _, code := range []diag.Code{codes.BadAnnotation, codes.RuleChanged} {
			if !slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return d.Code == code && d.Severity == diag.Error }) {
				t.Errorf("%s: no %s: %v", name, code, l)
			}
		}
	}
}

// A CRD without unions stays unchanged, even if kubectl cannot read it.
func TestUnreadable(t *testing.T) {
	text := []byte(strings.Replace(testcrd.New("Thing", "spec: {type: object}\n"), "metadata:\n", "metadata:\n  <<: [1]\n", 1))
	for name, edit := range map[string]func(*crdpatch.File, crdpatch.Options) ([]byte, diag.List){"compile": crdpatch.Compile, "decompile": crdpatch.Decompile} {
		if out, l := edit(crdpatch.Open("crd.yaml", text), crdpatch.Options{}); string(out) != string(text) {
			t.Errorf("%s: %v", name, l)
		}
	}
	if _, l := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(strings.Replace(declaring, "metadata:\n", "metadata:\n  <<: [1]\n", 1))), crdpatch.Options{}); !l.HasErrors() {
		t.Error("with unions:", l)
	}
}

// Rules whose member has lost its schema are reported as rules that do not compile.
func TestNullMember(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	null := strings.Replace(string(compiled), "b: {type: object}", "b: null", 1)
	_, l := crdpatch.Decompile(crdpatch.Open("crd.yaml", []byte(null)), crdpatch.Options{})
	if !l.HasErrors() || l[0].Code != codes.UnconfirmedRule || !strings.Contains(l[0].Message, "with this schema they do not compile") {
		t.Error(l)
	}
}

// An error in a declaration that only the annotation holds names the annotation, once.
func TestHint(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	gone := strings.Replace(string(compiled), "b: {type: object}", "c: {type: object}", 1)
	for name, of := range map[string]func(*crdpatch.File, crdpatch.Options) diag.List{
		"compile": func(f *crdpatch.File, opts crdpatch.Options) diag.List {
			_, l := crdpatch.Compile(f, opts)
			return l
		},
		"explain": func(f *crdpatch.File, opts crdpatch.Options) diag.List {
			_, l := crdpatch.Explain(f, opts)
			return l
		},
	} {
		l := of(crdpatch.Open("crd.yaml", []byte(gone)), crdpatch.Options{})
		if !l.HasErrors() || strings.Count(l[0].Hint, "run unioncel decompile") != 1 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// A compiled CRD has the plan of its source, and the plan counts the bytes that compiling
// added.
func TestExplain(t *testing.T) {
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(declaring)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, text := range map[string][]byte{"source": []byte(declaring), "compiled": compiled} {
		plans, diags := crdpatch.Explain(crdpatch.Open("crd.yaml", text), crdpatch.Options{})
		if len(plans) != 1 || len(plans[0].Unions) != 1 {
			t.Fatal(name, diags)
		}
		if want := len(compiled) - len(declaring); plans[0].Growth != want {
			t.Errorf("%s: grows by %d, want %d", name, plans[0].Growth, want)
		}
		for i, r := range plans[0].Unions[0].Rules {
			// The size of a rule includes its dash and keys.
			if n := plans[0].Bytes[0][i]; n <= len(r.Rule.Rule)+len(r.Message) {
				t.Errorf("%s: %d bytes for %s", name, n, r.Rule.Rule)
			}
		}
	}
}

// Explaining a compiled CRD uses its recorded options, unless options are given.
func TestExplainOptions(t *testing.T) {
	plain := strings.Replace(declaring, "              ratchet: true\n", "", 1)
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(plain)), crdpatch.Options{Encoding: compile.Compact, KubeVersion: "1.28"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for want, opts := range map[string]crdpatch.Options{"compact": {}, "fine": {Encoding: compile.Fine}} {
		plans, diags := crdpatch.Explain(crdpatch.Open("crd.yaml", compiled), opts)
		if len(plans) != 1 || plans[0].Unions[0].Encoding != want {
			t.Errorf("%v: %v %v", opts, plans, diags)
		}
	}
}
