package compile_test

import (
	"os"
	"testing"

	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// TestWork holds commands to how often they have the API server's code validate a CRD, which
// is what takes most of their time. A test of that name in internal/cli counts how often they
// parse its file.
func TestWork(t *testing.T) {
	source, err := os.ReadFile("../../examples/route.yaml")
	if err != nil {
		t.Fatal(err)
	}
	open := func(src []byte) *crdpatch.File { return crdpatch.Open("route.yaml", src, crdpatch.Options{}) }
	compiled, diags := open(source).Compile()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	commands := map[string]func(*crdpatch.File){
		"compile":   func(f *crdpatch.File) { f.Compile() },
		"explain":   func(f *crdpatch.File) { f.Explain() },
		"lint":      func(f *crdpatch.File) { lint.File(f) },
		"decompile": func(f *crdpatch.File) { f.Decompile() },
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
