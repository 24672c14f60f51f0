//go:build exhaustive

package product_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// ajvCase is the input of ajv: a schema, and objects to validate.
type ajvCase struct {
	name    string
	Schema  map[string]any   `json:"schema"`
	Objects []map[string]any `json:"objects"`
	want    []bool
}

// ajvProgram prints the verdicts on the objects of each case, or the error of its schema.
const ajvProgram = `
const Ajv = require("ajv");
const cases = JSON.parse(require("fs").readFileSync(0));
console.log(JSON.stringify(cases.map(c => {
  try {
    const valid = new Ajv({strict: false, logger: false, formats: {ipv4: /^[0-9.]+$/, ipv6: /:/}}).compile(c.schema);
    return {verdicts: c.objects.map(o => valid(o) ? "" : JSON.stringify(valid.errors))};
  } catch (e) {
    return {error: e.message};
  }
})));
`

// TestAjv compares ajv, the validator of most editors, with the API server: for the schemas of the
// CRDs for tests, and of the CRDs in the directory in UNIONCEL_CORPUS, and an object in each state of
// each union. The server evaluates the rules of unions only.
func TestAjv(t *testing.T) {
	ajv := func(in []byte) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "node", "-e", ajvProgram)
		cmd.Stdin = bytes.NewReader(in)
		return cmd.Output()
	}
	if _, err := ajv([]byte("[]")); err != nil {
		t.Skip("ajv is not there: npm install ajv, and set NODE_PATH to its node_modules: ", err)
	}
	dirs := []string{"../../testdata/crds", "../../examples"}
	if corpus := os.Getenv("UNIONCEL_CORPUS"); corpus != "" {
		dirs = append(dirs, corpus)
	}
	var cases []ajvCase
	for _, dir := range dirs {
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".yaml" {
				cases = append(cases, casesOf(t, path)...)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[bool]int{}
	for _, c := range cases {
		in, err := json.Marshal([]ajvCase{c})
		if err != nil {
			t.Fatal(err)
		}
		out, err := ajv(in)
		if err != nil {
			t.Fatal(err)
		}
		var answers []struct {
			Error    string
			Verdicts []string
		}
		if err := json.Unmarshal(out, &answers); err != nil {
			t.Fatal(err)
		}
		if answers[0].Error != "" {
			t.Errorf("%s: invalid schema: %s", c.name, answers[0].Error)
			continue
		}
		for i, want := range c.want {
			seen[want]++
			if said := answers[0].Verdicts[i]; (said == "") != want {
				object, _ := json.Marshal(c.Objects[i])
				t.Errorf("%s: the server accepts %s: %t, and ajv says %s", c.name, object, want, said)
			}
		}
	}
	t.Logf("%d schemas, %d accepted and %d rejected objects", len(cases), seen[true], seen[false])
	if len(cases) < 5 || seen[true] < 30 || seen[false] < 100 {
		t.Error("too few cases")
	}
}

// casesOf returns the cases for the versions of the CRDs in a file, if its unions compile.
func casesOf(t *testing.T, file string) (l []ajvCase) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	installed, diags := crdpatch.Install(crdpatch.Open(file, src), crdpatch.Options{})
	if diags.HasErrors() {
		return nil
	}
	for _, in := range installed {
		if in.CRD == nil {
			continue
		}
		source, _ := in.CRD.Source()
		declared, _ := in.CRD.Declared()
		if source == nil {
			continue
		}
		own := onlyAdded(in.CustomResourceDefinition, source)
		kind := server.NewKind(own)
		for i, v := range source.Spec.Versions {
			var unions []union.Object
			for _, o := range declared.ObjectsOf(i) {
				unions = append(unions, o.Object)
			}
			schema, err := product.JSONSchema(source, i, unions)
			if err != nil {
				t.Fatal(file, err)
			}
			if schema == nil || !v.Served || kind.Check(v.Name) != nil {
				continue
			}
			c := ajvCase{name: file + " " + v.Name, Schema: schema, Objects: []map[string]any{}}
			for _, o := range unions {
				for _, u := range o.Unions {
					for _, object := range objectsOf(t, without(source), i, o, u) {
						answer, err := kind.Create(t.Context(), object)
						if err != nil {
							continue
						}
						c.Objects, c.want = append(c.Objects, object), append(c.want, len(answer.Causes()) == 0)
					}
				}
			}
			l = append(l, c)
		}
	}
	return l
}

// onlyAdded returns a CRD with only the rules that another one lacks.
func onlyAdded(crd, source *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return edited(crd, func(p schemapath.Place, l apiextensionsv1.ValidationRules) apiextensionsv1.ValidationRules {
		return slices.DeleteFunc(l, func(r apiextensionsv1.ValidationRule) bool {
			return slices.ContainsFunc(p.Schema(source).XValidations, func(s apiextensionsv1.ValidationRule) bool { return s.Rule == r.Rule })
		})
	})
}

// without returns a CRD without rules.
func without(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	return edited(crd, func(schemapath.Place, apiextensionsv1.ValidationRules) apiextensionsv1.ValidationRules { return nil })
}

// edited returns a copy of a CRD with other rules.
func edited(crd *apiextensionsv1.CustomResourceDefinition, edit func(schemapath.Place, apiextensionsv1.ValidationRules) apiextensionsv1.ValidationRules) *apiextensionsv1.CustomResourceDefinition {
	out := crd.DeepCopy()
	for i, v := range crd.Spec.Versions {
		schemapath.Walk(v.Schema.OpenAPIV3Schema, func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			if len(s.XValidations) > 0 {
				path.Edit(out.Spec.Versions[i].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					s.XValidations = edit(schemapath.Place{Version: i, Path: path}, s.XValidations)
				})
			}
			return true
		})
	}
	return out
}

// mostMembers is the largest number of members of which objects have all subsets.
const mostMembers = 5

// objectsOf returns an object in each state of a union, if there is one. For more than mostMembers
// members, at most two of them are set.
func objectsOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, version int, o union.Object, u *union.Union) (l []map[string]any) {
	t.Helper()
	examples, err := verify.NewExamples(t.Context(), crd, version, o.Path, u, o.Unions)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{""}
	if u.Discriminator != "" {
		values = append(values, union.AnotherValue)
		values = append(values, u.MemberValues()...)
		values = append(values, u.Values...)
		slices.Sort(values)
		values = slices.Compact(values)
	}
	var subsets [][]int
	if n := len(u.Members); n <= mostMembers {
		for bits := range 1 << n {
			var set []int
			for i := range n {
				if bits&(1<<i) > 0 {
					set = append(set, i)
				}
			}
			subsets = append(subsets, set)
		}
	} else {
		subsets = append(subsets, nil)
		for i := range n {
			subsets = append(subsets, []int{i}, []int{i, (i + 1) % n})
		}
	}
	for _, value := range values {
		for _, set := range subsets {
			s := union.State{Value: value, Present: make([]bool, len(u.Members))}
			for _, i := range set {
				s.Present[i] = true
			}
			example, err := examples.In(s)
			if err != nil {
				return l
			}
			if example != nil {
				l = append(l, example.New)
			}
		}
	}
	return l
}
