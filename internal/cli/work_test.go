package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestWork limits the number of times that commands parse, read, decode and compile a file with one
// CRD. A test of the same name in pkg/compile counts validations of the CRD by the API server's
// code.
func TestWork(t *testing.T) {
	run := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main(append([]string{"unioncel"}, args...), Streams{Out: &out, Err: &errs}); code == 2 {
			t.Fatalf("%s: %s", args, errs.String())
		}
		return out.Bytes()
	}
	example := filepath.Join("..", "..", "examples", "route.yaml")
	objects := filepath.Join("..", "..", "examples", "objects", "route-good.yaml")
	source, compiled, plain := filepath.Join(t.TempDir(), "route.yaml"), filepath.Join(t.TempDir(), "route.yaml"), filepath.Join(t.TempDir(), "thing.yaml")
	src, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{source: src, compiled: run("compile", example), plain: []byte(testcrd.New("Thing", "spec: {type: object}"))} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	type counts struct{ parses, readings, decodes, compilations int64 }
	now := func() counts {
		return counts{yamltext.Parses.Load(), yamltext.Readings.Load(), yamltext.Decodes.Load(), yamltext.Compilations.Load()}
	}
	for _, tt := range []struct {
		name string
		args []string
		want counts
	}{
		{"compile a CRD without unions", []string{"compile", plain}, counts{1, 0, 0, 0}},
		{"compile a source", []string{"compile", source}, counts{2, 2, 1, 1}},
		{"compile a compiled file", []string{"compile", compiled}, counts{1, 1, 2, 1}},
		{"explain a source", []string{"explain", source}, counts{1, 1, 1, 1}},
		{"explain a compiled file", []string{"explain", compiled}, counts{2, 2, 1, 1}},
		{"lint a source", []string{"lint", source}, counts{2, 2, 1, 1}},
		{"lint a compiled file", []string{"lint", compiled}, counts{1, 1, 2, 1}},
		{"decompile", []string{"decompile", compiled}, counts{2, 2, 1, 1}},
		{"validate by a source", []string{"validate", "--crd", source, objects}, counts{2, 2, 2, 1}},
		{"validate by a compiled file", []string{"validate", "--crd", compiled, objects}, counts{2, 2, 1, 0}},
		{"diff of a source", []string{"diff", "--versions", source}, counts{1, 1, 2, 1}},
		{"diff of a compiled file", []string{"diff", "--versions", compiled}, counts{1, 1, 2, 1}},
		{"rollout", []string{"rollout", compiled, source}, counts{2, 2, 4, 2}},
		{"testdata of a source", []string{"testdata", "-o", t.TempDir(), source}, counts{1, 1, 2, 1}},
		{"testdata of a compiled file", []string{"testdata", "-o", t.TempDir(), compiled}, counts{1, 1, 2, 1}},
		{"compile a source in place", []string{"compile", "-w", source}, counts{2, 2, 1, 1}},
	} {
		before := now()
		run(tt.args...)
		after := now()
		got := counts{after.parses - before.parses, after.readings - before.readings, after.decodes - before.decodes, after.compilations - before.compilations}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
