// Package archtest guards the direction of imports between the packages of this
// module (docs/architecture.md).
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/unioncel/unioncel/"

// allowed lists, for each package, those of this module that it imports directly.
var allowed = map[string][]string{
	"cmd/unioncel":                {"internal/cli"},
	"docs":                        {},
	"internal/cli":                {"docs", "internal/carrier", "internal/resource", "internal/shell", "internal/source", "internal/spelling", "internal/yamltext", "pkg/builtin", "pkg/clientschema", "pkg/compile", "pkg/crddiff", "pkg/crdpatch", "pkg/diag", "pkg/explain", "pkg/infer", "pkg/kinds", "pkg/krm", "pkg/limit", "pkg/lint", "pkg/markers", "pkg/normalize", "pkg/patch", "pkg/policy", "pkg/project", "pkg/rollout", "pkg/sarif", "pkg/stored", "pkg/suite", "pkg/union", "pkg/unionset", "pkg/validate", "pkg/verify"},
	"pkg/krm":                     {"internal/carrier", "internal/source", "internal/spelling", "internal/yamlconfig", "internal/yamltext", "pkg/builtin", "pkg/compile", "pkg/crdpatch", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/normalize", "pkg/union", "pkg/unionset"},
	"pkg/builtin":                 {"internal/yamltext", "pkg/diag", "pkg/kinds", "pkg/schemapath", "pkg/union"},
	"pkg/kinds":                   {"internal/spelling", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"pkg/clientschema":            {"pkg/schemapath", "pkg/union"},
	"pkg/suite":                   {"internal/resource", "internal/yamlconfig", "pkg/compile", "pkg/diag", "pkg/limit", "pkg/union", "pkg/validate", "pkg/verify"},
	"pkg/patch":                   {"internal/resource", "internal/rewrite", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/schemapath", "pkg/union"},
	"pkg/policy":                  {"pkg/diag", "pkg/kinds", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"pkg/normalize":               {"internal/resource", "internal/rewrite", "internal/yamledit", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/schemapath", "pkg/union"},
	"pkg/storageversion":          {},
	"pkg/rollout":                 {"internal/carrier", "internal/markdown", "internal/resource", "internal/shell", "internal/source", "internal/yamltext", "pkg/cost", "pkg/crddiff", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/schemapath", "pkg/storageversion", "pkg/stored", "pkg/union"},
	"pkg/stored":                  {"internal/formula", "internal/markdown", "internal/resource", "internal/shell", "pkg/diag", "pkg/kinds", "pkg/normalize", "pkg/patch", "pkg/schemapath", "pkg/union", "pkg/validate"},
	"pkg/crddiff":                 {"internal/formula", "internal/markdown", "internal/regular", "pkg/compile", "pkg/crdpatch", "pkg/diag", "pkg/schemapath", "pkg/stored", "pkg/union", "pkg/validate", "pkg/verify"},
	"pkg/validate":                {"internal/resource", "internal/spelling", "pkg/diag"},
	"internal/rewrite":            {"internal/nested", "internal/resource", "internal/yamledit", "internal/yamltext", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/schemapath", "pkg/union"},
	"internal/resource":           {"internal/source", "internal/yamledit", "internal/yamltext", "pkg/diag", "pkg/limit"},
	"pkg/lint":                    {"internal/source", "internal/spelling", "internal/yamltext", "pkg/compile", "pkg/cost", "pkg/crdpatch", "pkg/diag", "pkg/limit", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"pkg/project":                 {"internal/yamlconfig", "pkg/compile", "pkg/diag", "pkg/lint"},
	"pkg/sarif":                   {"pkg/diag"},
	"pkg/markers":                 {"internal/spelling", "internal/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"pkg/unionset":                {"internal/source", "internal/yamlconfig", "internal/yamltext", "pkg/diag", "pkg/limit", "pkg/schemapath", "pkg/union"},
	"pkg/infer":                   {"internal/formula", "internal/logic", "internal/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"pkg/explain":                 {"internal/markdown", "pkg/compile", "pkg/cost", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union", "pkg/validate", "pkg/verify"},
	"pkg/crdpatch":                {"internal/carrier", "internal/resource", "internal/source", "internal/yamledit", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/limit", "pkg/rules", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"pkg/compile":                 {"internal/carrier", "internal/spelling", "internal/work", "internal/yamltext", "pkg/cost", "pkg/diag", "pkg/kinds", "pkg/limit", "pkg/rules", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"pkg/verify":                  {"internal/formula", "internal/logic", "internal/nested", "pkg/schemapath", "pkg/union"},
	"internal/formula":            {"internal/logic"},
	"internal/logic":              {},
	"internal/nested":             {},
	"internal/regular":            {},
	"pkg/cost":                    {"pkg/schemapath"},
	"pkg/rules":                   {"pkg/schemapath", "pkg/union"},
	"pkg/union":                   {"internal/nested", "internal/spelling", "internal/yamlconfig", "internal/yamltext", "pkg/diag", "pkg/schemapath"},
	"pkg/diag":                    {},
	"pkg/schemapath":              {},
	"pkg/limit":                   {},
	"internal/markdown":           {"pkg/diag"},
	"internal/carrier":            {"internal/work", "pkg/schemapath"},
	"internal/shell":              {},
	"internal/source":             {"internal/carrier", "internal/work", "internal/yamltext", "pkg/diag", "pkg/limit"},
	"internal/spelling":           {},
	"internal/yamlconfig":         {"internal/source", "internal/spelling", "internal/yamltext", "pkg/diag", "pkg/limit"},
	"internal/yamledit":           {"internal/yamltext"},
	"internal/work":               {},
	"internal/yamltext":           {"internal/work"},
	"internal/servertest":         {"internal/testprog", "pkg/validate"},
	"internal/schematest":         {"internal/yamltext"},
	"internal/testcrd":            {"internal/carrier", "testdata"},
	"internal/crdchanges":         {},
	"test/hostile":                {},
	"internal/testgc":             {},
	"internal/testprog":           {},
	"internal/testprog/apiserver": {},
	"internal/testprog/english":   {},
	"internal/testprog/kubectl":   {"internal/testprog/english"},
	"internal/testprog/kustomize": {},
	"internal/policytest":         {},
	"internal/unioncases":         {"pkg/union"},
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
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowed {
		if isPackage := strings.HasPrefix(name, "pkg/") || strings.HasPrefix(name, "internal/"); isPackage && !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/architecture.md does not say what %s does", name)
		}
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
		for _, own := range may {
			if !slices.Contains(p.Imports, module+own) {
				t.Errorf("%s does not import %s any more: take it out of this test", name, own)
			}
		}
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
