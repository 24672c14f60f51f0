package product

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/unioncel/unioncel/internal/testing/schematest"
)

// TestSchema asserts that the JSON Schemas accept every valid configuration and reject the errors
// that a schema can detect. They must have the keys that the function knows.
func TestSchema(t *testing.T) {
	schemas := map[string]schematest.Schema{}
	for _, k := range configKinds() {
		schema := schematest.Read(t, strings.ToLower(k.name))
		if got, want := slices.Sorted(maps.Keys(schema.Properties(""))), slices.Sorted(slices.Values(append(k.keys.Names(), "apiVersion", "kind"))); !slices.Equal(got, want) {
			t.Errorf("the schema of %s has the keys\n%q, want\n%q", k.name, got, want)
		}
		schemas[k.name] = schema
	}
	files := fstest.MapFS{
		"crds/a.yaml": {Data: []byte(crdText("a"))},
		"sets.yaml":   {Data: []byte("apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\nschemas: []\n")},
	}
	const config = "apiVersion: unioncel.dev/v1alpha1\nkind: UnionCompiler\n"
	const normalizer = "apiVersion: unioncel.dev/v1alpha1\nkind: UnionNormalizer\n"
	const inline = "schemas: [{crd: a.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]\n"
	for _, tt := range []struct {
		text  string
		good  bool
		blind bool // the schema cannot detect the error
	}{
		{config, true, false},
		{config + "metadata: {name: a, labels: {x: z}, annotations: {config.kubernetes.io/function: 'exec: {path: unioncel-fn}'}}\n", true, false},
		{config + "files: [crds/a.yaml, ./crds]\nunions: [sets.yaml]\n" + inline, true, false},
		{config + "kubeVersion: '1.30'\nencoding: compact\nnoAnnotation: true\nforget: true\n", true, false},
		{config + "files: []\nunions: []\nschemas: []\nencoding: auto\n", true, false},
		{"kind: UnionCompiler\n", false, false},
		{"apiVersion: unioncel.dev/v1alpha1\n", false, false},
		{"apiVersion: unioncel.dev/v1\nkind: UnionCompiler\n", false, false},
		{"apiVersion: v1\nkind: ConfigMap\ndata: {}\n", false, false},
		{config + "metadata: x\n", false, false},
		{config + "spec: {}\n", false, false},
		{config + "files: a.yaml\n", false, false},
		{config + "files: [1]\n", false, false},
		{config + "files: ['']\n", false, false},
		{config + "files: [../a.yaml]\n", false, false},
		{config + "files: [/a.yaml]\n", false, false},
		{config + "files: [https://a.b/c.yaml]\n", false, false},
		{config + "files: [missing.yaml]\n", false, true},
		{config + "unions: {}\n", false, false},
		{config + "schemas: {}\n", false, false},
		{config + strings.Replace(inline, "crd:", "crds:", 1), false, false},
		{config + strings.Replace(inline, "members", "member", 1), false, false},
		{config + "kubeVersion: 1.3\n", false, false},
		{config + "kubeVersion: newest\n", false, false},
		{config + "kubeVersion: '1.2'\n", false, true},
		{config + "encoding: tiny\n", false, false},
		{config + "noAnnotation: 'true'\n", false, false},
		{config + "noAnnotation: 1\n", false, false},
		{config + "forget: 1\n", false, false},
		{config + "forget: []\n", false, false},
		{normalizer + "metadata: {name: a}\ncrds: [crds, ./crds/a.yaml]\nunions: [sets.yaml]\n" + inline, true, false},
		{normalizer + "builtin: true\ncrds: []\n", true, false},
		{normalizer, false, true}, // knows no unions
		{normalizer + "builtin: 'true'\n", false, false},
		{normalizer + "builtin: true\nfiles: [crds/a.yaml]\n", false, false},
		{normalizer + "crds: [../crds]\n", false, false},
		{normalizer + "crds: crds\n", false, false},
	} {
		r := mustRun(t, listOf("functionConfig:\n  "+strings.ReplaceAll(strings.TrimSpace(tt.text), "\n", "\n  ")+"\n", crdText("a")), files)
		if good := !r.Diagnostics.HasErrors(); good != tt.good {
			t.Errorf("the function says %v of\n%s", r.Diagnostics, tt.text)
		}
		schema := schemas["UnionCompiler"]
		if strings.HasPrefix(tt.text, normalizer) {
			schema = schemas["UnionNormalizer"]
		}
		if err := schema.Validate(t, tt.text); (err == nil) != (tt.good || tt.blind) {
			t.Errorf("the schema says %v of\n%s", err, tt.text)
		}
	}
}
