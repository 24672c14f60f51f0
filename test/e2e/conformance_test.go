package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/pkg/union"
)

var update = flag.Bool("update", false, "write the conformance tests, and the output in testdata/infergo, anew")

// conformanceTests holds the tests of x-kubernetes-unions, which are generated from the meaning of a union
// in pkg/union.
const conformanceTests = "../../testdata/conformance"

// source is a file with its schema, for which the tests are generated.
type source struct {
	name, about, schema string
	// values are the values to try of each property; every property may also be absent.
	values map[string][]any
}

// file is the content of a file with conformance tests.
type conformanceFile struct {
	Schema any    `json:"schema"`
	Tests  []test `json:"tests"`
}

type test struct {
	Old        map[string]any `json:"old,omitempty"`
	Object     map[string]any `json:"object"`
	Valid      bool           `json:"valid"`
	Violations []violation    `json:"violations,omitempty"`
}

type violation struct {
	Condition union.Condition `json:"condition"`
	Member    string          `json:"member,omitempty"`
}

// TestConformance validates each test with the API server's code and the compiled rules.
func TestConformance(t *testing.T) {
	if *update {
		writeConformance(t)
	}
	files, err := filepath.Glob(conformanceTests + "/*/*.yaml")
	if err != nil || len(files) != len(sources) {
		t.Fatalf("%d files, %v: run go test ./test/e2e -run Conformance -args -update", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var f conformanceFile
			data, err := sigs.YAMLToJSONStrict(src)
			if err != nil {
				t.Fatal(err)
			}
			if unknown, err := kjson.UnmarshalStrict(data, &f); err != nil || unknown != nil {
				t.Fatal(err, unknown)
			}
			kind := compiledSource(t, src)
			for _, test := range f.Tests {
				a, err := conformanceAnswer(t, kind, test)
				if err != nil {
					t.Fatal(err)
				}
				if test.Valid != (a.Refused == nil) || test.Valid != (len(test.Violations) == 0) {
					data, _ := json.Marshal(test)
					t.Errorf("%s: %v", data, a.Refused)
				}
			}
		})
	}
}

// TestConformanceSources compares the files with the meaning of their unions.
func TestConformanceSources(t *testing.T) {
	for _, s := range sources {
		got, err := os.ReadFile(filepath.Join(conformanceTests, s.name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, s.text(t)) {
			t.Errorf("%s.yaml is stale: run go test ./test/e2e -run Conformance -args -update", s.name)
		}
	}
}

func writeConformance(t *testing.T) {
	for _, s := range sources {
		name := filepath.Join(conformanceTests, s.name+".yaml")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, s.text(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compiled returns a kind whose spec has the schema of a file.
func compiledSource(t *testing.T, src []byte) *server.Kind {
	t.Helper()
	_, schema, _ := strings.Cut(string(src), "\nschema:\n")
	schema, _, _ = strings.Cut(schema, "\ntests:\n")
	installed, l := crdpatch.Install(crdpatch.Open("crd.yaml", []byte(testcrd.New("Case", "spec:\n"+schema+"\n"))), crdpatch.Options{})
	if l.HasErrors() {
		t.Fatal(l)
	}
	return server.NewKind(installed[0].CustomResourceDefinition)
}

func conformanceAnswer(t *testing.T, k *server.Kind, test test) (server.Answer, error) {
	resource := func(spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": "example.com/v1", "kind": "Case", "metadata": map[string]any{"name": "case"}, "spec": spec}
	}
	if test.Old != nil {
		return k.Update(t.Context(), resource(test.Object), resource(test.Old))
	}
	return k.Create(t.Context(), resource(test.Object))
}

// text returns the file of a source.
func (s source) text(t *testing.T) []byte {
	t.Helper()
	unions := s.unions(t)
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\nschema:\n  %s\ntests:\n", strings.ReplaceAll(s.about, "\n", "\n# "), strings.ReplaceAll(strings.TrimSpace(s.schema), "\n", "\n  "))
	line := func(old, object map[string]any) (valid bool) {
		var broken []violation
		for _, u := range unions {
			var was *union.State
			if old != nil {
				st := u.StateOf(old)
				was = &st
			}
			for _, v := range u.Judge(was, u.StateOf(object)) {
				named := violation{Condition: v.Condition}
				if v.Member >= 0 {
					named.Member = u.Members[v.Member].Name
				}
				broken = append(broken, named)
			}
		}
		b.WriteString("- {")
		if old != nil {
			fmt.Fprintf(&b, "old: %s, ", flow(t, old))
		}
		fmt.Fprintf(&b, "object: %s, valid: %t", flow(t, object), len(broken) == 0)
		if len(broken) > 0 {
			fmt.Fprintf(&b, ", violations: %s", flow(t, broken))
		}
		b.WriteString("}\n")
		return len(broken) == 0
	}
	objects := s.objects()
	var legal, distinct []map[string]any
	for _, o := range objects {
		valid := line(nil, o)
		if same := func(p map[string]any) bool {
			return !slices.ContainsFunc(unions, func(u *union.Union) bool { return !u.StateOf(o).Equal(u.StateOf(p)) })
		}; !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, o)
			if valid {
				legal = append(legal, o)
			}
		}
	}
	for _, old := range legal {
		for _, object := range distinct {
			line(old, object)
		}
	}
	return b.Bytes()
}

// flow returns a value in YAML's flow style.
func flow(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	var plain func(n *yaml.Node)
	plain = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && n.Value != "" && n.Tag == "!!str" {
			n.Style = 0
		}
		for _, c := range n.Content {
			plain(c)
		}
	}
	plain(&n)
	out, err := yaml.Marshal(&n)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (s source) unions(t *testing.T) []*union.Union {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(s.schema), &root); err != nil {
		t.Fatal(err)
	}
	var schema apiextensionsv1.JSONSchemaProps
	if err := sigs.Unmarshal([]byte(s.schema), &schema); err != nil {
		t.Fatal(err)
	}
	var declared *yaml.Node
	for i, key := range root.Content[0].Content {
		if key.Value == "x-kubernetes-unions" {
			declared = root.Content[0].Content[i+1]
		}
	}
	l, wrong := union.Parse(s.name, "", declared, nil)
	if wrong.HasErrors() {
		t.Fatal(wrong)
	}
	unions, wrong := union.Resolve(l, &schema, false)
	if wrong.HasErrors() {
		t.Fatal(wrong)
	}
	return unions
}

// objects returns the objects with all combinations of the values.
func (s source) objects() []map[string]any {
	l := []map[string]any{{}}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		for _, o := range slices.Clone(l) {
			for _, v := range s.values[name] {
				with := maps.Clone(o)
				with[name] = v
				l = append(l, with)
			}
		}
	}
	return l
}
