//go:build exhaustive

package markers_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/union"
)

// controllerGen runs the real controller-gen and returns the schemas of the CRDs that it writes, by
// kind, group and version.
func controllerGen(t *testing.T, pattern string) map[string]*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "tool", "controller-gen", "crd", "paths="+pattern, "output:crd:dir="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	schemas := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(data, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			schemas[crd.Spec.Names.Kind+"."+crd.Spec.Group+" "+v.Name] = v.Schema.OpenAPIV3Schema
		}
	}
	return schemas
}

// Every declaration must fit the CRD that the real controller-gen writes: its path exists, and the
// schema there can have the union.
func TestControllerGen(t *testing.T) {
	schemas := controllerGen(t, "./testdata/good/...")
	declared := map[string][]*union.Declaration{}
	for _, e := range good(t).Declarations {
		key := e.String() + " " + e.Version
		schema := e.Path.Schema(schemas[key])
		if schema == nil {
			t.Errorf("%s has no %s", key, path(e))
			continue
		}
		l, diags := union.Parse(e.File, path(e), e.Value, e.At)
		if len(diags) > 0 {
			t.Errorf("%s %s: %v", key, path(e), diags)
		}
		declared[key+" "+path(e)] = append(declared[key+" "+path(e)], l...)
	}
	for _, e := range good(t).Declarations {
		key := e.String() + " " + e.Version
		l := declared[key+" "+path(e)]
		_, diags := union.Resolve(l, e.Path.Schema(schemas[key]), len(e.Path) == 0)
		if len(diags) > 0 {
			t.Errorf("%s %s: %v", key, path(e), diags)
		}
	}
	if len(declared) < 50 {
		t.Errorf("only %d schemas have unions", len(declared))
	}
	complete(t, schemas["Shape.shapes.example.com v1"], declared)
}

// complete checks that no schema has the properties of a struct with a union without having the
// union. Types that contain each other are exempt.
func complete(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, declared map[string][]*union.Declaration) {
	t.Helper()
	const key = "Shape.shapes.example.com v1 "
	unions := map[string][]string{}
	for place, l := range declared {
		for _, d := range l {
			if strings.HasPrefix(place, key) {
				unions[strings.Join(d.Properties(), " ")] = d.Properties()
			}
		}
	}
	seen := 0
	var visit func(s *apiextensionsv1.JSONSchemaProps, path []string)
	visit = func(s *apiextensionsv1.JSONSchemaProps, path []string) {
		place := strings.Join(path, ".")
		for name, properties := range unions {
			if slices.ContainsFunc(properties, func(p string) bool { _, ok := s.Properties[p]; return !ok }) ||
				place == "spec.ring.link" || place == "spec.ringAgain.ring" {
				continue
			}
			seen++
			if !slices.ContainsFunc(declared[key+place], func(d *union.Declaration) bool { return strings.Join(d.Properties(), " ") == name }) {
				t.Errorf("%s has the properties %s and no union", place, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			prop := s.Properties[name]
			visit(&prop, append(slices.Clone(path), name))
		}
		if s.Items != nil {
			visit(s.Items.Schema, append(slices.Clone(path), "[]"))
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			visit(s.AdditionalProperties.Schema, append(slices.Clone(path), "{}"))
		}
	}
	visit(schema, nil)
	if seen < 30 {
		t.Errorf("only %d places have unions", seen)
	}
}
