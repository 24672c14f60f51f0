package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The CRDs have the rules that controller-gen and unioncel compile -w give them.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	t.Chdir("../..")
	if err := run(&out, "./examples/kubebuilder/api/..."); err != nil {
		t.Fatal(err)
	}
	specs := map[string]apiextensionsv1.CustomResourceDefinitionSpec{}
	for _, text := range bytes.Split(out.Bytes(), []byte("---\n")) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		specs[crd.Name] = crd.Spec
	}
	files, err := filepath.Glob("examples/kubebuilder/config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Spec, specs[want.Name]); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}
