package handwritten_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

var update = flag.Bool("update", false, "write the golden files of testdata")

// TestGolden infers the unions of each CRD in testdata. The text file of the same name has the
// expected output.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			crd := parse(t, string(src))
			valid(t, crd)
			before := crd.DeepCopy()
			found := find(t, crd)
			got := describe(t, crd, found)
			replaceable(t, crd, found)
			if diff := cmp.Diff(before, crd); diff != "" {
				t.Errorf("the CRD was changed:\n%s", diff)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func parse(t testing.TB, src string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := sigs.UnmarshalStrict([]byte(src), crd); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return crd
}

// valid asserts that the API server accepts the CRD.
func valid(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	c := crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(c)
	in := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(c, in, nil); err != nil {
		t.Fatal(err)
	}
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), in) {
		if !strings.HasPrefix(err.Field, "status.") {
			t.Error(err)
		}
	}
}

func find(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) []handwritten.Found {
	t.Helper()
	found, _, err := handwritten.Infer(context.Background(), crd)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// replaceable asserts that the next compilation would remove all constraints that an equivalent
// union replaces.
func replaceable(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, found []handwritten.Found) {
	t.Helper()
	for _, f := range found {
		if f.Comparison.Verdict != verify.Equivalent {
			continue
		}
		gone, _, err := verify.Replaceable(context.Background(), crd, f.Version, f.Path, resolved(t, crd, f))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Replaces {
			if !slices.Contains(gone, c) {
				t.Errorf("%v: %s is said to be replaced, and would be kept", f.Path, c)
			}
		}
	}
}

// resolved returns the union that the compiler resolves from the declaration.
func resolved(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, f handwritten.Found) *union.Union {
	t.Helper()
	s := f.Path.Schema(crd.Spec.Versions[f.Version].Schema.OpenAPIV3Schema)
	var item yaml.Node
	if err := yaml.Unmarshal([]byte(declaration(t, f)), &item); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("", "", &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: item.Content}, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	unions, diags := union.Resolve(declarations, s, len(f.Path) == 0)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return unions[0]
}

// describe formats the unions found.
func describe(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition, found []handwritten.Found) string {
	t.Helper()
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s\n", crd.Spec.Versions[f.Version].Name, strings.Join(f.Path.Fields(), "."))
		for line := range strings.Lines(declaration(t, f)) {
			b.WriteString("  | " + line)
		}
		fmt.Fprintf(&b, "  replaces %v: %s\n", f.Replaces, f.Comparison.Verdict)
		if d := f.Comparison.Tighter; d != nil {
			fmt.Fprintf(&b, "  would be refused: %s\n", d.Words(f.Union))
		}
		if d := f.Comparison.Looser; d != nil {
			fmt.Fprintf(&b, "  would be accepted: %s\n", d.Words(f.Union))
		}
	}
	if len(found) == 0 {
		return "nothing\n"
	}
	return b.String()
}

// declaration returns the declaration of the union as YAML.
func declaration(t testing.TB, f handwritten.Found) string {
	t.Helper()
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f.Union.Node()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
