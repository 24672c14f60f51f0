package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestWork holds commands to how often they parse a file. A test of that name in pkg/compile
// counts what takes more: how often the API server's code validates the CRD in it.
func TestWork(t *testing.T) {
	run := func(command, file string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Main([]string{"unioncel", command, file}, Streams{Out: &out, Err: &errs}); code != 0 {
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
	}{
		{"compile", source, 2},
		{"compile", compiled, 3},
		{"explain", source, 1},
		{"explain", compiled, 2},
		{"lint", source, 2},
		{"lint", compiled, 3},
		{"decompile", compiled, 2},
	} {
		before := yamltext.Parses()
		run(tt.command, tt.file)
		if parses := yamltext.Parses() - before; parses != tt.parses {
			t.Errorf("%s %s: %d parses, want %d", tt.command, tt.file, parses, tt.parses)
		}
	}
}
