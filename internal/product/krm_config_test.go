package product

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/crdpatch"
)

func TestConfigMistakes(t *testing.T) {
	const name = "UnionCompiler/unions: error: UC705: "
	for _, tt := range []struct {
		name, config string
		want         []string // the diagnostics, each followed by a bar and its hint
	}{
		{"unknown key", configured("file: [a.yaml]"), []string{name + `unknown key "file" in a UnionCompiler at file|write "files"`}},
		{"spec", configured("spec: {}"), []string{name + `unknown key "spec" in a UnionCompiler at spec|write its keys at the top level, next to metadata`}},
		{"no idea", configured("xyzzy: 1"), []string{name + `unknown key "xyzzy" in a UnionCompiler at xyzzy|the keys are apiVersion, kind, metadata, files, unions, schemas, kubeVersion, encoding, noAnnotation, forget`}},
		{"a key that is a list", configured("? [a]", ": b"), []string{name + `want a string as key, not a list|write the key out`}},
		{"twice", configured("forget: true", "forget: false"), []string{`UnionCompiler/unions: error: UC104: key "forget" occurs twice in this mapping|delete one of them`}},
		{"types", configured("files: a.yaml", "unions: {a: b}", "schemas: x", "kubeVersion: [1]", "encoding: {}", "noAnnotation: 1", "forget: 'no'"), []string{
			`UnionCompiler/unions: error: UC701: schemas: want a list, not "x" at schemas|write it like schemas: [{crd: backups.example.com, path: spec, x-kubernetes-unions: [...]}]`,
			name + `encoding: want a string, not a mapping at encoding|write it like encoding: auto`,
			name + `files: want a list, not "a.yaml" at files|write it like files: [crds/backup.yaml]`,
			name + `forget: want true or false, not "no" at forget|write it like forget: false`,
			name + `kubeVersion: want a string, not a list at kubeVersion|write it like kubeVersion: "1.30"`,
			name + `noAnnotation: want true or false, not 1 at noAnnotation|write it like noAnnotation: true`,
			name + `unions: want a list, not a mapping at unions|write it like unions: [unions.yaml]`,
		}},
		{"items of lists", configured("files: [1, null, {}, '', on]"), []string{
			name + `files: want a string, not "" at files[3]|write it like files: [crds/backup.yaml]`,
			name + `files: want a string, not a mapping at files[2]|write it like files: [crds/backup.yaml]`,
			name + `files: want a string, not null at files[1]|write it like files: [crds/backup.yaml]`,
			name + `kubectl reads 1 as the number 1 at files[0]|quote it: "1"`,
			name + `kubectl reads on as the boolean true at files[4]|quote it: "on"`,
		}},
		{"a version without quotes", configured("kubeVersion: 1.30"), []string{name + `kubectl reads 1.30 as the number 1.3 at kubeVersion|quote it, like "1.30"`}},
		{"values", configured("kubeVersion: '1.0'", "encoding: best"), []string{
			name + `encoding: no such encoding "best": use auto, fine or compact at encoding|write it like encoding: auto`,
			name + `kubeVersion: "1.0" is not a version of Kubernetes since 1.25: write it like 1.30 at kubeVersion|write it like kubeVersion: "1.30"`,
		}},
		{"metadata", "functionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionCompiler, metadata: x}\n", []string{`UnionCompiler: error: UC705: metadata: want a mapping, not "x" at metadata|write it like metadata: {name: unions}`}},
		{"a ConfigMap", "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {forget: 'true'}}\n", []string{`ConfigMap/c: error: UC705: kind must be UnionCompiler or UnionNormalizer, not "ConfigMap" at kind|` +
			`write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler or UnionNormalizer, with the options at the top level, not under data: a ConfigMap has no place for lists and booleans`}},
		{"another kind", "functionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionSet}\n", []string{`UnionSet: error: UC705: kind must be UnionCompiler or UnionNormalizer, not "UnionSet" at kind|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler or UnionNormalizer`}},
		{"a misspelt kind", "functionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionCompilr}\n", []string{`UnionCompiler: error: UC705: kind must be UnionCompiler, not "UnionCompilr" at kind|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler`}},
		{"no kind", "functionConfig: {}\n", []string{`functionConfig: error: UC705: kind is missing|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler or UnionNormalizer`}},
		{"another version", "functionConfig: {apiVersion: unioncel.dev/v1, kind: UnionCompiler}\n", []string{`UnionCompiler: error: UC705: apiVersion must be unioncel.dev/v1alpha1, not "unioncel.dev/v1" at apiVersion|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler`}},
		{"a list", "functionConfig: []\n", []string{`functionConfig: error: UC705: want a UnionCompiler or UnionNormalizer, not an empty list|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler or UnionNormalizer`}},
		{"a string", "functionConfig: a\n", []string{`functionConfig: error: UC705: want a UnionCompiler or UnionNormalizer, not "a"|write apiVersion: unioncel.dev/v1alpha1 and kind: UnionCompiler or UnionNormalizer`}},
		{"a union set within", configured("schemas: [{crd: a.example.com, pth: spec, x-kubernetes-unions: [{members: [http, tcp], nam: x}]}]"), []string{
			`UnionCompiler/unions: error: UC201: unknown key "nam" in a union declaration at schemas[0]|write "name"`,
			`UnionCompiler/unions: error: UC701: unknown key "pth" in an item of schemas at schemas[0].pth|write "path"`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := listOf(tt.config, crdText("a", unions...))
			r := mustRun(t, in, fstest.MapFS{})
			got := texts(r)
			for i, d := range r.Diagnostics {
				got[i] += "|" + d.Hint
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if isCompiled(r.Output) {
				t.Error("the items were compiled all the same")
			}
		})
	}
}

func TestWithoutConfig(t *testing.T) {
	for _, config := range []string{"", "functionConfig: null\n"} {
		r := mustRun(t, listOf(config, crdText("a", unions...)), nil)
		wantTexts(t, r)
		if !isCompiled(r.Output) {
			t.Errorf("%q: not compiled", config)
		}
	}
}

// TestOptions asserts that each option has the effect of the corresponding flag of compile.
func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		option string
		opts   crdpatch.Options
	}{
		{`kubeVersion: "1.27"`, crdpatch.Options{KubeVersion: "1.27"}},
		{"encoding: compact", crdpatch.Options{Encoding: "compact"}},
		{"encoding: auto", crdpatch.Options{}},
		{"noAnnotation: true", crdpatch.Options{NoAnnotation: true}},
		{"forget: true", crdpatch.Options{Forget: true}},
	} {
		crd := crdText("a", unions...)
		want, _ := crdpatch.Compile(crdpatch.Open("", []byte(crd)), tt.opts)
		report := mustRun(t, listOf(configured(tt.option), crd), nil)
		got := rulesOf(t, dataOf(t, report.Output)["items"].([]any)[0].(map[string]any))
		if got != rulesOf(t, dataOf(t, want)) {
			t.Errorf("%s: not what compile gives:\n%s", tt.option, report.Output)
		}
	}
}

// rulesOf returns the rules in the compiled crdText.
func rulesOf(t *testing.T, crd map[string]any) string {
	t.Helper()
	annotations := crd["metadata"].(map[string]any)["annotations"]
	schema := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"]
	spec := schema.(map[string]any)["properties"].(map[string]any)["spec"].(map[string]any)
	return strings.Join([]string{text(t, annotations != nil), text(t, spec["x-kubernetes-validations"]), text(t, spec["x-kubernetes-unions"])}, "\n")
}

func TestInlineUnions(t *testing.T) {
	config := configured("schemas:", "- crd: a.example.com", "  path: spec",
		"  x-kubernetes-unions: [{members: [http, tcp], discriminatorChange: Allow}]")
	r := mustRun(t, listOf(config, crdText("a")), nil)
	wantTexts(t, r)
	if !strings.Contains(string(r.Output), "at most one of http, tcp may be set") {
		t.Errorf("not compiled:\n%s", r.Output)
	}

	// Errors found against the CRD are reported at the item of schemas.
	config = strings.Replace(config, "tcp]", "tpc]", 1)
	config = strings.Replace(config, "schemas:\n", "schemas:\n  - crd: a.example.com\n    path: spec.http\n    x-kubernetes-unions: [{members: [u, v]}]\n", 1)
	r = mustRun(t, listOf(config, crdText("a")), nil)
	wantTexts(t, r,
		`UnionCompiler/unions schemas[0]: error: UC215: a union needs an object with properties; this schema is an object without properties at spec.http`,
		`UnionCompiler/unions schemas[1]: error: UC203: member "tpc" is not a property of this object at spec`)
	for i, res := range resultsOf(t, r.Output) {
		if want := []string{"schemas[0]", "schemas[1]"}[i]; res.Field.Path != want || res.ResourceRef.Kind != "UnionCompiler" {
			t.Errorf("result %d is about %s of %v, want %s", i, res.Field.Path, res.ResourceRef, want)
		}
	}
}

// TestManyInlineUnions asserts that errors name the right item of schemas among many on one line.
func TestManyInlineUnions(t *testing.T) {
	if testing.Short() {
		t.Skip("many unions")
	}
	var items, want []string
	for i := range 2000 {
		items = append(items, fmt.Sprintf("{crd: n%d.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}", i))
		want = append(want, fmt.Sprintf("UnionCompiler/unions schemas[%d]: error: UC702: this union is for CustomResourceDefinition n%d.example.com, which no input has", i, i))
	}
	r := mustRun(t, listOf(configured("schemas: ["+strings.Join(items, ", ")+"]")), nil)
	got := texts(r)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the diagnostics differ (-want +got):\n%s", diff)
	}
}

// TestMissingCRD asserts that a union for a missing CRD is an error, as in compile.
func TestMissingCRD(t *testing.T) {
	set := "apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\nschemas:\n- crd: c.example.com\n  path: spec\n  x-kubernetes-unions: [{members: [http, tcp]}]\n"
	files := fstest.MapFS{"sets/c.yaml": {Data: []byte(set)}, "crds/c.yaml": {Data: []byte(crdText("c"))}}
	inline := "schemas: [{crd: ab.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]"
	r := mustRun(t, listOf(configured("unions: [sets/c.yaml]", inline), crdText("a")), files)
	wantTexts(t, r,
		"UnionCompiler/unions schemas[0]: error: UC702: this union is for CustomResourceDefinition ab.example.com, which no input has",
		"sets/c.yaml:4:3: error: UC702: this union is for CustomResourceDefinition c.example.com, which no input has")
	if hint := r.Diagnostics[0].Hint; hint != "did you mean a.example.com? Or also give the file that has it" {
		t.Errorf("the hint is %q", hint)
	}
	if string(r.Sources["sets/c.yaml"]) != set {
		t.Errorf("the source of sets/c.yaml is %q", r.Sources["sets/c.yaml"])
	}

	// CRDs in files to generate from are not missing.
	r = mustRun(t, listOf(configured("unions: [sets/c.yaml]", "files: [crds/c.yaml]")), files)
	wantTexts(t, r)
	if !strings.Contains(string(r.Output), "at most one of http, tcp may be set") {
		t.Errorf("not compiled:\n%s", r.Output)
	}
}
