package report

import (
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Warnings do not displace errors, and the limit applies to each file.
func TestReadable(t *testing.T) {
	var l diag.List
	add := func(file string, severity diag.Severity, n int) {
		for i := range n {
			l = append(l, diag.Diagnostic{Severity: severity, Pos: diag.Pos{File: file, Line: i + 1}})
		}
	}
	add("a", diag.Info, 50)
	add("a", diag.Warning, 90)
	add("a", diag.Error, 30)
	add("b", diag.Warning, MostDiagnostics)
	worst, rest := readable(l)
	if len(rest) != 1 || rest[0] != "a: 70 more; --all prints them" {
		t.Errorf("%q", rest)
	}
	if e, w, i := worst.Count(diag.Error), worst.Count(diag.Warning), worst.Count(diag.Info); e != 30 || w != 70+MostDiagnostics || i != 0 {
		t.Errorf("%d errors, %d warnings, %d notes", e, w, i)
	}
	if worst[0].Pos.File != "a" || worst[0].Severity != diag.Warning {
		t.Errorf("the order changed: %v first", worst[0])
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
