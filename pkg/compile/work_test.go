package compile_test

import (
	"os"
	"testing"

	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// Each command runs the API server's validation of a CRD once: it dominates the running time.
// TestWork in internal/cli counts how often a command parses its file.
func TestWork(t *testing.T) {
	source, err := os.ReadFile("../../examples/route.yaml")
	if err != nil {
		t.Fatal(err)
	}
	open := func(src []byte) *crdfile.File { return crdfile.Open("route.yaml", src) }
	compiled, diags := crdpatch.Compile(open(source), crdfile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	commands := map[string]func(*crdfile.File){
		"compile":   func(f *crdfile.File) { crdpatch.Compile(f, crdfile.Options{}) },
		"explain":   func(f *crdfile.File) { crdpatch.Explain(f, crdfile.Options{}) },
		"lint":      func(f *crdfile.File) { lint.File(f, crdfile.Options{}) },
		"decompile": func(f *crdfile.File) { crdpatch.Decompile(f, crdfile.Options{}) },
	}
	for name, command := range commands {
		for of, src := range map[string][]byte{"source": source, "compiled": compiled} {
			if name == "decompile" && of == "source" {
				continue
			}
			compile.ForgetVerdicts()
			command(open(src))
			if n := compile.Verdicts(); n != 1 {
				t.Errorf("%s of what is %s: %d validations, want 1", name, of, n)
			}
		}
	}
}
