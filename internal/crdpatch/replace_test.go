package crdpatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// handWritten returns a CRD with hand-written constraints and a declaration on spec.
func handWritten(written, declaration string) string {
	indented := func(s string) string { return strings.ReplaceAll("\n"+strings.TrimSpace(s), "\n", "\n  ") }
	return testcrd.New("Gateway", `
spec:
  type: object
  properties:
    type: {type: string}
    a: {type: string}
    b: {type: string}
    size: {type: integer}`+indented(written)+indented(declaration))
}

const replacing = `
x-kubernetes-unions:
- members: [a, b]
  cardinality: ExactlyOne
  discriminatorChange: Allow
  handWrittenRules: Replace`

func TestReplace(t *testing.T) {
	const count = "(has(self.a)?1:0)+(has(self.b)?1:0) == 1"
	for _, c := range []struct {
		name, written, declaration string
		gone, kept                 []string
		code                       diag.Code
		message                    string
	}{
		{
			"the only rule", "x-kubernetes-validations:\n- rule: '" + count + "'", replacing,
			[]string{count}, nil, codes.RulesReplaced, "hand-written rules that are equivalent to this union are replaced: x-kubernetes-validations[0]",
		}, {
			"one of several rules", `
x-kubernetes-validations:
- rule: "!has(self.size) || self.size > 3"   # kept
# about
# the union
- message: pick one
  rule: '` + count + `'
- rule: "!has(self.size) || self.size < 30"
`, replacing,
			[]string{count, "pick one"}, []string{"self.size > 3\"   # kept", "# about", "# the union", "self.size < 30"}, codes.RulesReplaced, "[1]",
		}, {
			"flow style", `
x-kubernetes-validations: [{rule: "!has(self.size) || self.size > 3"}, {rule: "` + count + `"}, {rule: "!has(self.size) || self.size < 30"}]
`, replacing,
			[]string{count}, []string{"self.size > 3", "self.size < 30"}, codes.RulesReplaced, "[1]",
		}, {
			"two rules together", `
x-kubernetes-validations:
- rule: "!(has(self.a) && has(self.b))"
- rule: has(self.a) || has(self.b)
`, replacing,
			[]string{"rule: has(self.a) || has(self.b)"}, nil, codes.RulesReplaced, "x-kubernetes-validations[0], x-kubernetes-validations[1]",
		}, {
			"a rule that could be ours", "x-kubernetes-validations:\n- rule: \"!(has(self.a) && has(self.b))\"\n  message: one only",
			strings.Replace(replacing, "  cardinality: ExactlyOne\n", "", 1),
			[]string{"one only"}, nil, codes.RulesReplaced, "[0]",
		}, {
			"oneOf", "oneOf:\n- required: [a]\n- required: [b]", replacing,
			[]string{"oneOf", "required: [a]"}, nil, codes.RulesReplaced, "oneOf",
		}, {
			"a weaker rule", "x-kubernetes-validations:\n- rule: \"!(has(self.a) && has(self.b))\"", replacing,
			nil, []string{"rule: \"!(has(self.a) && has(self.b))\"\n"}, codes.RulesNotReplaced, "hand-written rules are not replaced, because they accept states that the union forbids (none of a, b is set): x-kubernetes-validations[0]",
		}, {
			"a rule on something else", "x-kubernetes-validations:\n- rule: \"!has(self.size) || self.size > 3\"", replacing,
			nil, []string{"self.size > 3"}, "", "",
		}, {
			"nothing said", "x-kubernetes-validations:\n- rule: '" + count + "'", strings.Replace(replacing, "  handWrittenRules: Replace", "", 1),
			nil, []string{count}, "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := handWritten(c.written, c.declaration)
			out, diags := Compile(open("crd.yaml", []byte(in)), Options{})
			if out == nil {
				t.Fatal(textOfDiags(diags))
			}
			rules := string(out)
			rules = rules[strings.Index(rules, "spec:"):] // the annotation has the declaration
			for _, s := range c.gone {
				if strings.Contains(rules, s) {
					t.Errorf("%q is still there", s)
				}
			}
			for _, s := range c.kept {
				if !strings.Contains(rules, s) {
					t.Errorf("%q is gone", s)
				}
			}
			i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RulesReplaced || d.Code == codes.RulesNotReplaced })
			switch {
			case c.code == "" && i >= 0:
				t.Errorf("unexpected %v", diags[i])
			case c.code == "":
			case i < 0 || diags[i].Code != c.code || !strings.Contains(diags[i].Message, c.message):
				t.Errorf("diagnostics: %v, want %s: %s", diags, c.code, c.message)
			case !strings.Contains(strings.Split(in, "\n")[diags[i].Pos.Line-1], "- members"):
				t.Errorf("position %v", diags[i].Pos)
			}
			if t.Failed() {
				t.Logf("\n%s", out)
			}
			again, diags := Compile(open("crd.yaml", out), Options{})
			same(t, "compile(compile(in))", again, out)
			if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RulesReplaced }) {
				t.Errorf("compiling again: %v", diags)
			}
			// Everything except replaced rules is restored.
			back := mustDecompile(t, out)
			if c.code != codes.RulesReplaced {
				same(t, "decompile(compile(in))", back, []byte(in))
			} else if !strings.Contains(string(back), union.Key) {
				t.Errorf("no declaration in\n%s", back)
			}
			same(t, "compile(decompile(compile(in)))", mustCompile(t, back, Options{}), out)
			replacedFromOutside(t, in, c.code == codes.RulesReplaced)
		})
	}
}

// Positions after removed rules refer to the user's file.
func TestReplacePositions(t *testing.T) {
	in := handWritten("x-kubernetes-validations:\n- message: one\n  rule: '(has(self.a)?1:0)+(has(self.b)?1:0) == 1'", replacing) +
		"            default: {type: x}\n" + strings.Repeat(" ", 10) + "status:\n            type: object\n            properties: {c: {type: string}}\n" +
		"            x-kubernetes-unions:\n            - members: [d]\n"
	_, diags := Compile(open("crd.yaml", []byte(in)), Options{})
	i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.UnknownMember })
	if i < 0 || !strings.Contains(strings.Split(in, "\n")[diags[i].Pos.Line-1], "members: [d]") {
		t.Errorf("diagnostics: %s", textOfDiags(diags))
	}
}

// replacedFromOutside checks that rules replaced by an external declaration are not restored,
// like rules replaced by a declaration in the CRD.
func replacedFromOutside(t *testing.T, in string, replaced bool) {
	bare, elsewhere := undeclared(t, []byte(in))
	out, diags := Compile(open("crd.yaml", bare), Options{External: elsewhere})
	if said := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RulesReplaced }); said != replaced {
		t.Errorf("replaced: %t, diagnostics: %s", replaced, textOfDiags(diags))
	}
	if replaced {
		bare = mustDecompile(t, out)
	}
	same(t, "decompile", mustDecompile(t, out), bare)
	same(t, "compile(decompile(compile(in)))", mustCompile(t, bare, Options{External: elsewhere}), out)
	same(t, "compile again", mustCompile(t, out, Options{External: elsewhere}), out)
	same(t, "compile again without the declaration", mustCompile(t, out, Options{}), out)
	gone, diags := Compile(open("crd.yaml", out), Options{External: union.Externals{Scopes: elsewhere.Scopes}})
	if gone != nil || len(diags) == 0 || diags[0].Code != codes.Forgotten {
		t.Errorf("compile without any declaration: %s", textOfDiags(diags))
	}
	opts := Options{External: elsewhere, NoAnnotation: true}
	forgetful := mustCompile(t, bare, opts)
	same(t, "compile again without the annotation", mustCompile(t, forgetful, opts), forgetful)
	// A tool that reformats the file does not change its data.
	v := values(t, out)
	text, err := sigs.Marshal(v[0])
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(values(t, bare), values(t, mustDecompile(t, text))); d != "" {
		t.Errorf("decompile of a reformatted file (-want +got):\n%s", d)
	}
}

// After an edit between compiling and decompiling, hand-written rules keep their comments and
// order.
func TestReplaceEdited(t *testing.T) {
	const written = `
maxProperties: 4   # all of them
x-kubernetes-validations:
- rule: "!has(self.size) || self.size > 3"   # kept
# about the union
- rule: '(has(self.a)?1:0)+(has(self.b)?1:0) == 1'   # goes
- {rule: "!has(self.size) || self.size < 30"} # kept, too`
	in := handWritten(written, replacing)
	edit := strings.NewReplacer("size: {type: integer}", "size: {type: integer, format: int32}", "  group: example.com", "  group: example.com  # ours")
	bare, elsewhere := undeclared(t, []byte(in))
	out := mustCompile(t, bare, Options{External: elsewhere})
	want := edit.Replace(string(mustDecompile(t, out)))
	edited := []byte(edit.Replace(string(out)))
	same(t, "decompile(edit(compile(in)))", mustDecompile(t, edited), []byte(want))
	same(t, "compile(edit(compile(in)))", mustCompile(t, edited, Options{External: elsewhere}), edited)
}

// Each union that is no longer declared is named, with its schema.
func TestForgottenEach(t *testing.T) {
	two := strings.Replace(gateway, "              routes:\n", "              a: {type: string}\n              b: {type: string}\n              c: {type: string}\n              d: {type: string}\n              routes:\n", 1)
	given := []union.External{external("v1", routes, aOrB), external("v1", "properties.spec", `[{"members": ["a", "b"]}, {"members": ["c", "d"]}]`)}
	compiled := mustCompile(t, []byte(two), Options{External: union.Externals{Declarations: given}})
	given[1] = external("v1", "properties.spec", `[{"members": ["c", "d"]}]`)
	_, wrong := Compile(open("crd.yaml", compiled), Options{External: union.Externals{Declarations: []union.External{external("v1", "properties.spce", aOrB)}}})
	if len(wrong) != 1 || wrong[0].Code != codes.NoSuchSchema {
		t.Errorf("a path that is wrong: %v, want nothing of forgotten unions", wrong)
	}
	_, diags := Compile(open("crd.yaml", compiled), Options{External: union.Externals{Declarations: given[1:]}})
	var got []string
	for _, d := range diags {
		got = append(got, d.Path+": "+d.Message)
	}
	want := []string{
		"spec: the union of a, b, which the annotation records, is declared nowhere any more",
		"spec.routes[*]: the union of a, b, which the annotation records, is declared nowhere any more",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
