package compile_test

import (
	"os"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/compile"
)

// Each command runs the API server's validation of a CRD once: it dominates the running time.
// TestWork in internal/cli counts how often a command parses its file.
func TestWork(t *testing.T) {
	source, err := os.ReadFile("../../examples/route.yaml")
	if err != nil {
		t.Fatal(err)
	}
	open := func(src []byte) *crdpatch.File { return crdpatch.Open("route.yaml", src) }
	compiled, diags := crdpatch.Compile(open(source), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	commands := map[string]func(*crdpatch.File){
		"compile":   func(f *crdpatch.File) { crdpatch.Compile(f, crdpatch.Options{}) },
		"explain":   func(f *crdpatch.File) { crdpatch.Explain(f, crdpatch.Options{}) },
		"lint":      func(f *crdpatch.File) { report.Lint(f, crdpatch.Options{}) },
		"decompile": func(f *crdpatch.File) { crdpatch.Decompile(f, crdpatch.Options{}) },
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
