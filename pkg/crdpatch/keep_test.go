package crdpatch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	compiler "github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// writtenText matches a rule and a message of a compiled file in block style.
var writtenText = regexp.MustCompile(`(?m)^( *(?:- )?)(rule|message): "(.*)"$`)

// reworded returns a compiled file with equivalent rules, as another version of the compiler might
// have written them, and the number of changed rules.
func reworded(t *testing.T, src []byte) (string, int) {
	t.Helper()
	text := writtenText.ReplaceAllStringFunc(string(src), func(line string) string {
		m := writtenText.FindStringSubmatch(line)
		if m[2] == "message" {
			return m[1] + `message: "` + m[3] + `, as before"`
		}
		return m[1] + `rule: "(` + m[3] + `) || false"`
	})
	was, is := sums(t, src), sums(t, []byte(text))
	n := 0
	for i, sum := range was {
		if sum != is[i] {
			text = strings.ReplaceAll(text, sum, is[i])
			n++
		}
	}
	return text, n
}

// sums returns the checksums of the rules of a file.
func sums(t *testing.T, src []byte) []string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatal(err)
	}
	var l []string
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			rules, _ := v[compiled.Validations].([]any)
			for _, r := range rules {
				l = append(l, compiled.Sum(r))
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				visit(v[key])
			}
		case []any:
			for _, item := range v {
				visit(item)
			}
		}
	}
	visit(v)
	return l
}

// TestReworded compiles compiled examples with reworded rules and messages: the files stay
// unchanged. With Reword the rules are written anew.
func TestReworded(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*.yaml")
	generated, _ := filepath.Glob("../../examples/kubebuilder/config/crd/bases/*.yaml")
	if len(files) == 0 || len(generated) == 0 {
		t.Fatal("no examples")
	}
	for _, name := range unioncases.Some(append(files, generated...), 3, 0) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out, diags := Compile(crdfile.Open(name, src), crdfile.Options{})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", name, diags)
		}
		old, n := reworded(t, out)
		if n == 0 {
			t.Errorf("%s: no rule was reworded", name)
		}
		again, diags := Compile(crdfile.Open(name, []byte(old)), crdfile.Options{})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", name, diags)
		}
		same(t, name, again, []byte(old))
		again, _ = Compile(crdfile.Open(name, []byte(old)), crdfile.Options{Reword: true})
		same(t, name+" with Reword", again, out)
	}
}

// TestRewordedPartly changes one of two unions: the rules of the other union stay unchanged. Other
// options write all rules anew.
func TestRewordedPartly(t *testing.T) {
	crd := testcrd.New("Gate", `
in:
  type: object
  properties: {a: {type: object}, b: {type: object}, c: {type: object}}
out:
  type: object
  properties: {a: {type: object}, b: {type: object}, c: {type: object}}
`)
	unions := func(in string) crdfile.Options {
		set := func(path, members string) union.External {
			value, err := yamltext.FromJSON([]byte(`[{"members": ` + members + `, "cardinality": "ExactlyOne"}]`))
			if err != nil {
				t.Fatal(err)
			}
			return union.External{Target: union.Target{Name: "gates.example.com"}, Path: schemapath.New(path), File: "unions.yaml",
				Value: value}
		}
		return crdfile.Options{External: union.Externals{Declarations: []union.External{set("in", in), set("out", `["a", "b"]`)}}}
	}
	compile := func(src string, opts crdfile.Options) string {
		t.Helper()
		out, diags := Compile(open("crd.yaml", []byte(src)), opts)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return string(out)
	}
	const was, is = "exactly one of a, b must be set, as before", "exactly one of a, b, c must be set"
	old, _ := reworded(t, []byte(compile(crd, unions(`["a", "b"]`))))
	if n := strings.Count(old, was); n != 2 {
		t.Fatalf("%d rules have other words:\n%s", n, old)
	}
	if out := compile(old, unions(`["a", "b"]`)); out != old {
		t.Errorf("nothing has changed:\n%s", cmp.Diff(old, out))
	}
	if out := compile(old, unions(`["a", "b", "c"]`)); strings.Count(out, was) != 1 || strings.Count(out, is) != 1 {
		t.Errorf("a union has changed:\n%s", out)
	}
	fine := unions(`["a", "b"]`)
	fine.Encoding = compiler.Fine
	if out := compile(old, fine); strings.Contains(out, "as before") {
		t.Errorf("another encoding:\n%s", out)
	}
}

// TestRewordedMessage changes only the declared message of a union: its rules get the new one, although the
// earlier rules still enforce the union.
func TestRewordedMessage(t *testing.T) {
	const declared = `
in:
  type: object
  properties: {a: {type: object}, b: {type: object}}
  x-kubernetes-unions: [{members: [a, b], message: one of a and b}]
`
	compile := func(src string) string {
		t.Helper()
		out, diags := Compile(open("crd.yaml", []byte(src)), crdfile.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return string(out)
	}
	crd := testcrd.New("Gate", declared)
	old, _ := reworded(t, []byte(compile(crd)))
	if out := compile(old); out != old || !strings.Contains(out, "one of a and b, as before") {
		t.Errorf("nothing has changed:\n%s", cmp.Diff(old, out))
	}
	at := regexp.MustCompile(`(?m)^( *)x-kubernetes-validations:`)
	again := at.ReplaceAllString(old, "${1}x-kubernetes-unions: [{members: [a, b], message: not both}]\n$0")
	if out := compile(again); strings.Contains(out, "as before") || strings.Count(out, `message: "not both"`) != 1 {
		t.Errorf("the message has changed:\n%s", out)
	}
}
