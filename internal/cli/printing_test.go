package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The documentation of lint lists all formats.
func TestFormatsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range diagnosticFormats {
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/lint.md does not have the format %s", name)
		}
	}
}

// A finding about a Go type is printed once, with all paths that use the type.
func TestFolded(t *testing.T) {
	at := func(line int, message, path string) diag.Diagnostic {
		return diag.Diagnostic{Code: codes.NoEnum, Pos: diag.Pos{File: "types.go", Line: line}, Message: message, Path: path}
	}
	l := folded(diag.List{at(1, "a", "spec"), at(1, "a", "spec"), at(1, "a", "spec.items[*]"), at(1, "b", "spec"), at(2, "b", "spec")})
	if len(l) != 3 || l[0].Path != "spec, spec.items[*]" || l[1].Message != "b" || l[2].Pos.Line != 2 {
		t.Errorf("%+v", l)
	}
}
