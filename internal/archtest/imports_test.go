// Package archtest guards the direction of imports between the packages of this
// module (docs/architecture.md).
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/unioncel/unioncel/"

// allowed lists, for each package, those of this module it may import directly.
var allowed = map[string][]string{
	"cmd/unioncel":        {"internal/cli"},
	"docs":                {},
	"internal/cli":        {"docs", "internal/source", "internal/spelling", "pkg/crdpatch", "pkg/compile", "pkg/verify", "pkg/explain", "pkg/markers", "pkg/unionset", "pkg/infer", "pkg/krm", "pkg/lint", "pkg/project", "pkg/sarif", "pkg/union", "pkg/diag", "pkg/limit"},
	"pkg/krm":             {"pkg/crdpatch", "pkg/compile", "pkg/unionset", "pkg/union", "pkg/diag", "internal/source", "internal/yamltext", "internal/spelling", "pkg/limit"},
	"pkg/lint":            {"pkg/crdpatch", "pkg/compile", "pkg/cost", "pkg/unionset", "pkg/union", "pkg/diag", "internal/source", "internal/yamltext", "internal/spelling", "pkg/limit"},
	"pkg/project":         {"pkg/lint", "pkg/compile", "pkg/diag", "internal/source", "internal/yamltext", "internal/spelling", "pkg/limit"},
	"pkg/sarif":           {"pkg/diag"},
	"pkg/markers":         {"pkg/union", "pkg/diag", "internal/yamltext", "internal/spelling"},
	"pkg/unionset":        {"pkg/union", "pkg/diag", "internal/source", "internal/yamltext", "internal/spelling", "pkg/limit"},
	"pkg/infer":           {"pkg/verify", "pkg/union", "pkg/diag"},
	"pkg/explain":         {"pkg/compile", "pkg/cost", "pkg/rules", "pkg/union", "pkg/diag"},
	"pkg/crdpatch":        {"pkg/compile", "pkg/verify", "pkg/rules", "pkg/union", "pkg/diag", "internal/source", "internal/yamltext", "pkg/limit"},
	"pkg/compile":         {"pkg/rules", "pkg/cost", "pkg/verify", "pkg/union", "pkg/diag", "internal/yamltext", "internal/spelling", "pkg/limit"},
	"pkg/verify":          {"pkg/union", "pkg/diag"},
	"pkg/cost":            {},
	"pkg/rules":           {"pkg/union"},
	"pkg/union":           {"pkg/diag", "internal/yamltext", "internal/spelling"},
	"pkg/diag":            {},
	"pkg/limit":           {},
	"internal/source":     {"pkg/diag", "internal/yamltext", "pkg/limit"},
	"internal/spelling":   {},
	"internal/yamltext":   {},
	"internal/servertest": {},
	"internal/scripttest": {},
	"test/hostile":        {},
	"internal/unioncases": {"pkg/union"},
}

type listed struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func TestImportsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		may, known := allowed[name]
		if !known {
			if len(p.Imports) > 0 && !strings.HasPrefix(name, "examples/") {
				t.Errorf("%s: add the package to this test and to docs/architecture.md", name)
			}
			continue
		}
		seen++
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(may, own) {
				t.Errorf("%s imports %s, against the direction of imports", name, own)
			}
			if name == "pkg/diag" && strings.Contains(imported, ".") {
				t.Errorf("pkg/diag imports %s; it needs only the standard library", imported)
			}
		}
	}
	if seen != len(allowed) {
		t.Errorf("saw %d of %d packages", seen, len(allowed))
	}
}
