package compile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/cli"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
)

// TestWork holds commands to how often they parse a file, and have the API server's code
// validate the CRD in it, which is what takes most of their time.
func TestWork(t *testing.T) {
	run := func(command, file string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		if code := cli.Main([]string{"unioncel", command, file}, cli.Streams{Out: &out, Err: &errs}); code != 0 {
			t.Fatalf("%s %s: exit code %d\n%s", command, file, code, errs.String())
		}
		return out.Bytes()
	}
	source := filepath.Join("..", "..", "examples", "route.yaml")
	compiled := filepath.Join(t.TempDir(), "route.yaml")
	if err := os.WriteFile(compiled, run("compile", source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command, file string
		parses        int64
		validations   int
	}{
		{"compile", source, 2, 1},
		{"compile", compiled, 3, 1},
		{"explain", source, 1, 1},
		{"explain", compiled, 2, 1},
		{"lint", source, 2, 1},
		{"lint", compiled, 3, 1},
		{"decompile", compiled, 2, 1},
	} {
		compile.ForgetVerdicts()
		before := yamltext.Parses()
		run(tt.command, tt.file)
		if parses, validations := yamltext.Parses()-before, compile.Verdicts(); parses != tt.parses || validations != tt.validations {
			t.Errorf("%s %s: %d parses and %d validations, want %d and %d", tt.command, tt.file, parses, validations, tt.parses, tt.validations)
		}
	}
}
