package crdpatch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// The small CRD of these tests: head is the text before its spec, header includes the key spec,
// and body is the content of spec.
var (
	head, body, _ = strings.Cut(testcrd.Read("thing"), "spec:\n")
	header        = head + "spec:\n"
)

// Edits of compiled files, and their diagnostics.
func TestEditedAfterCompile(t *testing.T) {
	const declaration = `            x-kubernetes-unions:
            - members: [a, b]
`
	var (
		in       = header + strings.Replace(body, "            - members: [a, b]\n", "            - members: [a, b]\n              discriminatorChange: Allow\n", 1)
		compiled = string(mustCompile(t, []byte(in), Options{}))
		rule     = compiled[strings.Index(compiled, "            - message"):strings.Index(compiled, "            properties:\n              a:")]
		list     = "            x-kubernetes-validations:\n" + rule
		line     = compiled[strings.Index(compiled, "    "+Annotation):strings.Index(compiled, "spec:\n")]
		change   = func(pairs ...string) string {
			out := compiled
			for i := 0; i < len(pairs); i += 2 {
				if strings.Count(out, pairs[i]) != 1 {
					t.Fatalf("%q is there %d times", pairs[i], strings.Count(out, pairs[i]))
				}
				out = strings.Replace(out, pairs[i], pairs[i+1], 1)
			}
			return out
		}
	)
	if compiled != strings.Replace(strings.Replace(in, declaration+"              discriminatorChange: Allow\n", list, 1),
		"example.com\nspec", "example.com\n  annotations:\n"+line+"spec", 1) {
		t.Fatalf("unexpected output:\n%s", compiled)
	}
	// hint is the text after the code in the hint of a changed rule.
	const hint = `restore it; or declare x-kubernetes-unions here again, which replaces the compiled rules that are left; or delete the annotation unioncel.dev/unions, which makes all rules yours`
	for _, tt := range []struct {
		name       string
		in         string
		compiled   string // "" if it fails, "=" if it equals in
		decompiled string // likewise
		diags      string // of both, unless it contains "compile: " or "decompile: "
	}{
		{
			name: "rule deleted", in: change(list, ""),
			diags: "crd.yaml:20:13: error: UC403: a compiled rule is gone, or its text was edited: !(has(self.a) && has(self.b))",
		},
		{
			name: "list emptied", in: change(list, "            x-kubernetes-validations: []\n"),
			diags: "crd.yaml:21:13: error: UC403: a compiled rule is gone, or its text was edited: !(has(self.a) && has(self.b))",
		},
		{
			name: "list is null", in: change(list, "            x-kubernetes-validations:\n"),
			diags: "crd.yaml:21:13: error: UC403: a compiled rule is gone, or its text was edited: !(has(self.a) && has(self.b))",
		},
		{
			name: "list is a string", in: change(list, "            x-kubernetes-validations: none\n"),
			diags: "crd.yaml:21:13: error: UC403: a compiled rule is gone, or its text was edited: !(has(self.a) && has(self.b))",
		},
		{
			name: "text edited", in: change(`rule: "!(has(self.a) && has(self.b))"`, `rule: "!(has(self.a) && has(self.b)) "`),
			diags: "crd.yaml:21:13: error: UC403: a compiled rule is gone, or its text was edited: !(has(self.a) && has(self.b))",
		},
		{
			name: "message edited", in: change("at most one of", "not both of"),
			diags: `crd.yaml:22:15: error: UC403: a compiled rule has another message than unioncel wrote: "at most one of a, b may be set"`,
		},
		{
			name: "message deleted", in: change("- message: \"at most one of a, b may be set\"\n              rule", "- rule"),
			diags: `crd.yaml:22:15: error: UC403: a compiled rule has another message than unioncel wrote: "at most one of a, b may be set"`,
		},
		{
			name: "message and reason edited", in: change("- message: \"at most one of", "- reason: FieldValueForbidden\n              message: \"not both of"),
			diags: `crd.yaml:22:15: error: UC403: a compiled rule has another message and reason than unioncel wrote: "at most one of a, b may be set", none`,
		},
		{
			name: "rule appended", in: change(list, list+"            - rule: self.a != 'x'\n"), compiled: "=",
			decompiled: strings.Replace(in, "              discriminatorChange: Allow\n", "              discriminatorChange: Allow\n            x-kubernetes-validations:\n            - rule: self.a != 'x'\n", 1),
		},
		{
			name: "rule prepended", in: change(list, strings.Replace(list, "\n", "\n            - rule: self.a != 'x'\n", 1)), compiled: "=",
			decompiled: strings.Replace(in, "              discriminatorChange: Allow\n", "              discriminatorChange: Allow\n            x-kubernetes-validations:\n            - rule: self.a != 'x'\n", 1),
		},
		{
			// A declaration overrides the annotation.
			name: "declared again", in: change(list, list+"            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n"),
			compiled: string(mustCompile(t, []byte(strings.Replace(in, declaration+"              discriminatorChange: Allow\n",
				"            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n", 1)), Options{})),
			decompiled: strings.Replace(in, declaration+"              discriminatorChange: Allow\n",
				"            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n", 1),
		},
		{
			name:     "declared instead",
			in:       change(list, "            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n"),
			compiled: string(mustCompile(t, []byte(strings.Replace(in, declaration+"              discriminatorChange: Allow\n", "            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n", 1)), Options{})),
			decompiled: strings.Replace(in, declaration+"              discriminatorChange: Allow\n",
				"            x-kubernetes-unions: [{members: [b, a], discriminatorChange: Allow}]\n", 1),
		},
		{
			name: "schema deleted", in: change(compiled[strings.Index(compiled, "          spec:\n"):], "          other: {type: string}\n"),
			compiled:   header + body[:strings.Index(body, "          spec:\n")] + "          other: {type: string}\n",
			decompiled: header + body[:strings.Index(body, "          spec:\n")] + "          other: {type: string}\n",
			diags:      "crd.yaml:6:5: warning: UC403: this schema is gone; its union is forgotten",
		},
		{
			name: "version renamed", in: change("- name: v1", "- name: v2"),
			diags: "crd.yaml:6:5: error: UC403: this schema is gone, and its compiled rules are at spec",
		},
		{
			name: "schema renamed", in: change("          spec:\n", "          template:\n"),
			diags: "crd.yaml:6:5: error: UC403: this schema is gone, and its compiled rules are at template",
		},
		{
			name: "schema copied", in: change("          spec:\n", "          copy: {type: object, x-kubernetes-validations: [{message: 'at most one of a, b may be set', rule: '!(has(self.a) && has(self.b))'}], properties: {a: {type: string}, b: {type: string}}}\n          spec:\n"),
			compiled:   "=",
			decompiled: strings.Replace(in, "          spec:\n", "          copy: {type: object, x-kubernetes-validations: [{message: 'at most one of a, b may be set', rule: '!(has(self.a) && has(self.b))'}], properties: {a: {type: string}, b: {type: string}}}\n          spec:\n", 1),
			diags:      "crd.yaml:6:5: warning: UC403: the rules here are copies of those compiled for spec; they are treated as hand-written ones",
		},
		{
			name: "annotation deleted", in: change(line, ""), compiled: "=", decompiled: "=",
		},
		{
			name: "annotation cut off", in: change(line, line[:60]+"'\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: unexpected end of JSON input",
		},
		{
			name: "annotation of a later format", in: change(`{"format":2`, `{"format":3`),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: it has format 3; this version of unioncel reads format 2",
		},
		{
			name: "annotation of an earlier format", in: change(`{"format":2`, `{"format":1`),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: it was written by an older version of unioncel",
		},
		{
			name: "annotation without format", in: change(line, "    "+Annotation+": '{}'\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: it has format 0; this version of unioncel reads format 2",
		},
		{
			name: "annotation not JSON", in: change(line, "    "+Annotation+": hello\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: invalid character 'h' looking for beginning of value",
		},
		{
			name: "annotation is a number", in: change(line, "    "+Annotation+": 1\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: kubectl reads 1 as the number 1",
		},
		{
			name: "annotation is null", in: change(line, "    "+Annotation+":\n"),
			diags: "crd.yaml:6:25: error: UC402: the annotation unioncel.dev/unions cannot be read: kubectl reads the empty value as null",
		},
		{
			name: "annotation is a list", in: change(line, "    "+Annotation+": []\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: a list is not a string",
		},
		{
			name: "annotation of another shape", in: change(line, "    "+Annotation+`: '{"format":2,"schemas":{}}'`+"\n"),
			diags: "crd.yaml:6:26: error: UC402: the annotation unioncel.dev/unions cannot be read: schemas: array expected, found object",
		},
		{
			name: "member renamed", in: change("              a: {type", "              c: {type"), decompiled: strings.Replace(in, "              a: {type", "              c: {type", 1),
			diags: `compile: crd.yaml:20:13: error: UC203: member "a" is not a property of this object`,
		},
		{
			name: "behind the rules", in: compiled + "          größer: {type: object, x-kubernetes-unions: 1}\n",
			decompiled: in + "          größer: {type: object, x-kubernetes-unions: 1}\n",
			diags:      `compile: crd.yaml:27:55: error: UC202: x-kubernetes-unions must be a list of unions, not 1`,
		},
		{
			name: "member renamed in front", in: change("spec:\n  group", "# größer\nspec:\n  group", "              a: {type", "              c: {type"),
			decompiled: strings.Replace(strings.Replace(in, "              a: {type", "              c: {type", 1), "spec:\n  group", "# größer\nspec:\n  group", 1),
			diags:      `compile: crd.yaml:21:13: error: UC203: member "a" is not a property of this object`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for verb, run := range map[string]func() ([]byte, string){
				"compile: ": func() ([]byte, string) {
					out, diags := Compile(open("crd.yaml", []byte(tt.in)), Options{})
					for _, d := range diags {
						if d.Code == "UC403" && strings.HasPrefix(d.Message, "a compiled rule") && d.Hint != hint {
							t.Errorf("hint: %s", d.Hint)
						}
					}
					return out, textOfDiags(diags)
				},
				"decompile: ": func() ([]byte, string) {
					out, diags := Decompile(open("crd.yaml", []byte(tt.in)), Options{})
					return out, textOfDiags(diags)
				},
			} {
				want, diags := tt.compiled, tt.diags
				if verb == "decompile: " {
					want = tt.decompiled
				}
				if want == "=" {
					want = tt.in
				}
				if only, rest, ok := strings.Cut(diags, ": "); ok && (only == "compile" || only == "decompile") {
					diags = ""
					if only+": " == verb {
						diags = rest
					}
				}
				out, text := run()
				got, _, _ := strings.Cut(text, "\n")
				if strings.Contains(got, " UC535: ") { // see TestRemoved
					got = ""
				}
				if got != diags {
					t.Errorf("%sdiagnostics:\n%s\nwant %s", verb, text, diags)
				}
				if d := cmp.Diff(want, string(out)); d != "" {
					t.Errorf("%s(-want +got):\n%s", verb, d)
				}
			}
		})
	}
}

// A CRD with nothing but our annotation in its metadata is decompiled and compiled like others:
// metadata stays a mapping.
func TestNothingButOurAnnotation(t *testing.T) {
	in := header + strings.Replace(body, "- members: [a, b]\n", "- {members: [a, b], discriminatorChange: Allow}\n", 1)
	compact := `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"}, "spec": {"group": "example.com", ` +
		`"names": {"kind": "Thing", "plural": "things"}, "scope": "Namespaced", "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": ` +
		`{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "x-kubernetes-unions": [{"members": ["a", "b"]}]}}}]}}`
	for _, tt := range []struct{ in, name, was, is string }{
		{in, "  name: things.example.com\n", "metadata:\n", "metadata:\n  annotations: {}\n"},
		{strings.Replace(in, "metadata:\n  name: things.example.com\n", "metadata: {name: things.example.com}\n", 1), "name: things.example.com, ", "metadata: {}", `metadata: {"annotations": {}}`},
		{compact, `"name": "things.example.com", `, `"metadata": {}`, `"metadata": {"annotations": {}}`},
	} {
		compiled := string(mustCompile(t, []byte(tt.in), Options{}))
		bare := strings.Replace(compiled, tt.name, "", 1)
		if bare == compiled {
			t.Fatal(compiled)
		}
		same(t, "compile(bare)", mustCompile(t, []byte(bare), Options{}), []byte(bare))
		decompiled := mustDecompile(t, []byte(bare))
		same(t, "decompile(bare)", decompiled, []byte(strings.Replace(strings.Replace(tt.in, strings.TrimSuffix(tt.name, ", "), "", 1), tt.was, tt.is, 1)))
		again := mustCompile(t, decompiled, Options{})
		same(t, "compile(compile(decompiled))", mustCompile(t, again, Options{}), again)
		same(t, "decompile(compile(decompiled))", mustDecompile(t, again), decompiled)
	}
}
