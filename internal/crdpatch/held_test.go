package crdpatch

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// heldCRD has one union, a hand-written rule in its schema and in an unrelated one, and an
// allOf.
var heldCRD = strings.Replace(testcrd.New("Thing", `
spec:
  type: object
  properties:
    a: {type: string}
    b: {type: string}
    c: {type: string, x-kubernetes-validations: [{rule: size(self) < 9}]}
  x-kubernetes-unions:
  - members: [a, b]
    discriminatorChange: Forbid
  allOf:
  - required: [c]
  x-kubernetes-validations:
  - rule: has(self.c)
  - rule: self.c.size() < 9
`), "\nspec:\n", "\n  annotations: {other: kept}\nspec:\n", 1)

// An edit beyond the changes of compiling returns no result.
func TestHeld(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m} # as it is\n"
	in := configMap + "---\n" + heldCRD + "---\n" + configMap
	compiled := string(mustCompile(t, []byte(in), Options{}))
	undeclared := strings.Replace(in, "            x-kubernetes-unions:\n            - members: [a, b]\n              discriminatorChange: Forbid\n", "", 1)
	var value yaml.Node
	if err := yaml.Unmarshal([]byte("[{members: [a, b]}]"), &value); err != nil {
		t.Fatal(err)
	}
	declarations := union.Externals{Declarations: []union.External{{Target: union.Target{Name: "things.example.com"}, Path: schemapath.New("spec"), Value: value.Content[0]}}}
	verbs := []struct {
		name, in string
		run      func(j *job) []byte
	}{
		{"compile", in, (*job).compile},
		{"decompile", compiled, func(j *job) []byte { return j.base().Src }},
		{"declare", undeclared, func(j *job) []byte { return j.declare(declarationsOf(declarations)) }},
		{"replace", strings.NewReplacer("discriminatorChange: Forbid", "handWrittenRules: Replace", "- rule: has(self.c)", "- rule: has(self.c)\n            - rule: \"!has(self.a) || !has(self.b)\"").Replace(in), (*job).compile},
	}
	for _, tt := range []struct {
		name     string
		old, new string // in the result
		want     string
		only     string // verbs; empty means all
	}{
		{"another document", "# as it is\n---", "# edited\n---", "document 1: it changed, and nothing in it is compiled", ""},
		{"the last document", "{name: m} # as it is\n\x00", "{name: n} # as it is\n", "document 3: it changed, and nothing in it is compiled", ""},
		{"a document more", "# as it is\n---\n", "# as it is\n---\nkind: ClusterRole\n---\n", "3 documents became 4", ""},
		{"a document less", "---\napiVersion: v1\n", "apiVersion: v1\n", "", ""},
		{"no YAML", "  group: example.com\n", "  group: {\n", "", ""},
		{"a CRD that is none", "  group: example.com\n", "  group: !!binary x\n", "", ""},
		{"another annotation", "other: kept", "other: x", ".metadata.annotations.other is x, not kept", ""},
		{"no other annotation", "other: kept", "unioncel.dev/unions: x", "", ""},
		{"a finalizer", "  name: things.example.com\n", "  name: things.example.com\n  finalizers: [x]\n", ".metadata.finalizers is unexpected", ""},
		{"a property", "              b: {type: string}\n", "              b: {type: string}\n              d: {type: string}\n", ".d is unexpected", ""},
		{"no property", "              b: {type: string}\n", "", ".b is missing", ""},
		{"a key of the schema", "            type: object\n            properties:\n", "            type: object\n            nullable: true\n            properties:\n", ".nullable is unexpected", ""},
		{"no schema", "          spec:\n", "          spek:\n", "spec is gone", ""},
		{"a rule by hand is gone", "            - rule: has(self.c)\n", "", "spec.x-kubernetes-validations lost or gained more than compiled content", ""},
		{"a rule by hand is edited", "rule: has(self.c)", "rule: true || has(self.c)", "spec.x-kubernetes-validations lost or gained", ""},
		{"a rule by hand occurs twice", "            - rule: self.c.size() < 9\n", "            - rule: self.c.size() < 9\n            - rule: self.c.size() < 9\n", "spec.x-kubernetes-validations lost or gained", ""},
		{"a rule by hand elsewhere", ", x-kubernetes-validations: [{rule: size(self) < 9}]", "", "properties.c.x-kubernetes-validations is missing", ""},
		{"allOf", "            - required: [c]\n", "            - required: [b]\n", "spec.allOf lost or gained", ""},
		{"a declaration elsewhere", "c: {type: string,", "c: {type: string, x-kubernetes-unions: [],", "c.x-kubernetes-unions is unexpected", ""},
		{"a rule of ours is gone", "            - message: \"at most one of a, b may be set\"\n              rule: \"!(has(self.a) && has(self.b))\"\n", "", "x-kubernetes-validations lost or gained", "compile"},
		{"a rule of ours is edited", "!(has(self.a) && has(self.b))", "!(has(self.a) || has(self.b))", "x-kubernetes-validations lost or gained", "compile replace"},
		{"a rule of ours is left", "            - rule: self.c.size() < 9\n", "            - rule: self.c.size() < 9\n            - rule: \"!(has(self.a) && has(self.b))\"\n              message: \"at most one of a, b may be set\"\n", "x-kubernetes-validations lost or gained", "decompile"},
	} {
		for _, verb := range verbs {
			if tt.only != "" && !strings.Contains(tt.only, verb.name) {
				continue
			}
			t.Run(tt.name+"/"+verb.name, func(t *testing.T) {
				j := begin(open("in", []byte(verb.in)), Options{})
				out := string(verb.run(j))
				if err := j.checkResult([]byte(out)); err != nil || j.diags.HasErrors() || out == verb.in {
					t.Fatalf("the result is refused as it is: %v, %v\n%s", err, j.diags, out)
				}
				if strings.Count(out+"\x00", tt.old) == 0 {
					t.Fatalf("%q is not in\n%s", tt.old, out)
				}
				broken := strings.TrimSuffix(strings.Replace(out+"\x00", tt.old, tt.new, 1), "\x00")
				if got, diags := j.result([]byte(broken)); got != nil || len(diags) == 0 || diags[0].Code != codes.Unproved || !strings.Contains(diags[0].Message, tt.want) {
					t.Errorf("%s\nwant %s", textOfDiags(diags), tt.want)
				}
			})
		}
	}
}

// A CRD in a List is checked like any other.
func TestHeldInList(t *testing.T) {
	crd := strings.TrimSuffix(heldCRD, "\n")
	in := []byte("kind: List\napiVersion: v1\nitems:\n- " + strings.ReplaceAll(crd, "\n", "\n  ") + "\n- kind: ConfigMap\n")
	j := begin(open("in", in), Options{})
	out := string(j.compile())
	for _, tt := range []struct{ broken, want string }{
		{out, ""},
		{strings.Replace(out, "- kind: ConfigMap\n", "", 1), ".items"},
		{strings.Replace(out, "kind: ConfigMap\n", "kind: Secret\n", 1), ".items"},
		{strings.Replace(out, "rule: has(self.c)\n", "rule: has(self.b)\n", 1), "lost or gained"},
		{out[:strings.Index(out, "items:")] + "items: []\n", "a CRD is gone"},
	} {
		if err := j.checkResult([]byte(tt.broken)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q:\n%s", err, tt.want, tt.broken)
		}
	}
}
