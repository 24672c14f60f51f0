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

// allowed lists, for each package, the packages of this module that it imports directly.
var allowed = map[string][]string{
	"cmd/unioncel":                        {"internal/cli"},
	"docs":                                {},
	"internal/cli":                        {"internal/codes", "docs", "internal/carrier", "internal/yaml/resource", "internal/yaml/source", "internal/spelling", "internal/declared/builtin", "internal/output/clientschema", "pkg/compile", "internal/change/crddiff", "pkg/crdpatch", "pkg/diag", "internal/report/audit", "internal/report/explain", "internal/declared/infer", "pkg/kinds", "internal/krm", "internal/limit", "internal/report/lint", "pkg/markers", "pkg/normalize", "internal/output/patch", "pkg/policy", "internal/declared/project", "internal/change/rollout", "internal/report/sarif", "internal/change/stored", "internal/output/suite", "pkg/union", "internal/declared/unionset", "pkg/validate", "pkg/verify", "internal/ordered", "internal/report/proof", "pkg/crdfile", "internal/english", "internal/report"},
	"internal/krm":                        {"internal/codes", "internal/carrier", "internal/yaml/source", "internal/spelling", "internal/yaml/yamlconfig", "internal/yaml/yamltext", "internal/declared/builtin", "pkg/compile", "pkg/crdpatch", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/normalize", "pkg/union", "internal/declared/unionset", "internal/ordered", "pkg/crdfile"},
	"internal/declared/builtin":           {"internal/codes", "internal/spelling", "internal/yaml/yamltext", "pkg/diag", "pkg/kinds", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"internal/compiled":                   {"internal/codes", "internal/crdtext", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/compile", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"internal/crdtext":                    {"internal/codes", "internal/carrier", "internal/yaml/source", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/compile", "pkg/diag", "internal/limit", "pkg/schemapath", "pkg/union"},
	"pkg/crdfile":                         {"internal/codes", "internal/compiled", "internal/cost", "internal/crdtext", "internal/yaml/resource", "internal/yaml/source", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/compile", "pkg/diag", "internal/limit", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"internal/prove":                      {"internal/nested", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "pkg/schemapath", "internal/english", "internal/limit"},
	"internal/prove/sample":               {"internal/prove/formula", "pkg/schemapath", "internal/limit", "internal/cost"},
	"internal/prove/schemadiff":           {"internal/prove", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "pkg/schemapath", "internal/limit"},
	"internal/codes":                      {},
	"internal/english":                    {"internal/pattern"},
	"internal/pattern":                    {},
	"internal/report":                     {"internal/english", "pkg/diag"},
	"pkg/kinds":                           {"pkg/schemapath", "pkg/union"},
	"internal/output/clientschema":        {"internal/pattern", "pkg/union"},
	"internal/output/suite":               {"pkg/schemapath", "internal/codes", "internal/yaml/resource", "internal/yaml/yamlconfig", "pkg/compile", "pkg/diag", "internal/limit", "pkg/union", "pkg/validate", "pkg/verify"},
	"internal/output/patch":               {"internal/codes", "internal/yaml/resource", "internal/rewrite", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/schemapath", "pkg/union"},
	"pkg/policy":                          {"internal/codes", "pkg/diag", "pkg/kinds", "pkg/rules", "pkg/schemapath", "pkg/union", "internal/cel"},
	"pkg/normalize":                       {"internal/codes", "internal/yaml/resource", "internal/rewrite", "internal/yaml/yamledit", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/schemapath", "pkg/union"},
	"internal/change/storageversion":      {},
	"internal/change/rollout":             {"internal/codes", "internal/carrier", "internal/yaml/resource", "internal/report/shell", "internal/yaml/source", "internal/yaml/yamlconfig", "internal/yaml/yamltext", "internal/cost", "internal/change/crddiff", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/schemapath", "internal/change/stored", "pkg/union", "internal/report"},
	"internal/change/stored":              {"internal/codes", "internal/prove/formula", "internal/yaml/resource", "internal/report/shell", "pkg/diag", "pkg/kinds", "pkg/normalize", "internal/output/patch", "pkg/schemapath", "pkg/union", "pkg/validate", "internal/english", "internal/report"},
	"internal/change/crddiff":             {"internal/codes", "internal/prove/formula", "internal/prove/regular", "pkg/compile", "pkg/crdpatch", "pkg/diag", "pkg/schemapath", "internal/change/stored", "pkg/union", "pkg/validate", "pkg/crdfile", "internal/prove/sample", "internal/prove/schemadiff", "internal/english", "internal/report", "internal/limit", "internal/cost", "pkg/verify"},
	"pkg/validate":                        {"internal/codes", "internal/yaml/resource", "internal/spelling", "pkg/diag"},
	"internal/rewrite":                    {"internal/codes", "internal/nested", "internal/yaml/resource", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/schemapath", "pkg/union"},
	"internal/yaml/resource":              {"internal/codes", "internal/yaml/source", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/diag", "internal/limit"},
	"internal/report/audit":               {"internal/codes", "internal/pattern", "internal/cel", "internal/cost", "internal/english", "internal/nested", "internal/prove", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "internal/report", "internal/report/proof", "pkg/crdfile", "pkg/diag", "pkg/schemapath", "pkg/validate", "pkg/verify"},
	"internal/report/lint":                {"internal/codes", "internal/spelling", "internal/yaml/yamltext", "pkg/compile", "internal/cost", "internal/english", "internal/prove/formula", "internal/prove/sample", "internal/report/proof", "pkg/crdpatch", "pkg/diag", "pkg/schemapath", "pkg/union", "pkg/verify", "pkg/crdfile"},
	"internal/declared/project":           {"internal/codes", "internal/yaml/yamlconfig", "pkg/compile", "pkg/diag", "internal/report/lint"},
	"internal/report/sarif":               {"pkg/diag"},
	"internal/report/proof":               {"internal/codes", "pkg/compile", "pkg/diag", "pkg/union", "pkg/verify", "internal/english", "internal/report"},
	"pkg/markers":                         {"internal/codes", "internal/pattern", "internal/spelling", "internal/yaml/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/declared/unionset":          {"internal/codes", "internal/yaml/source", "internal/yaml/yamlconfig", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/diag", "internal/limit", "pkg/schemapath", "pkg/union"},
	"internal/declared/infer":             {"internal/codes", "internal/limit", "internal/pattern", "internal/prove", "internal/report/proof", "internal/prove/formula", "internal/prove/logic", "internal/yaml/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union", "pkg/verify", "pkg/crdfile", "internal/english", "internal/report"},
	"internal/report/explain":             {"pkg/compile", "pkg/crdpatch", "pkg/diag", "internal/cost", "pkg/rules", "pkg/schemapath", "pkg/union", "pkg/validate", "pkg/verify", "internal/english", "internal/report"},
	"pkg/crdpatch":                        {"internal/codes", "internal/carrier", "internal/yaml/yamledit", "internal/yaml/yamltext", "pkg/compile", "pkg/diag", "pkg/schemapath", "pkg/union", "internal/compiled", "internal/crdtext", "pkg/crdfile"},
	"pkg/uniontest":                       {"internal/cli", "internal/output/suite", "pkg/crdpatch", "pkg/diag", "pkg/schemapath", "pkg/validate"},
	"pkg/compile":                         {"internal/pattern", "internal/codes", "internal/carrier", "internal/spelling", "internal/work", "internal/yaml/yamltext", "internal/cost", "internal/english", "pkg/diag", "pkg/kinds", "internal/limit", "pkg/rules", "pkg/schemapath", "pkg/union", "pkg/verify"},
	"pkg/verify":                          {"internal/codes", "pkg/diag", "internal/prove/formula", "internal/prove/logic", "internal/nested", "pkg/schemapath", "pkg/union", "internal/prove", "internal/prove/sample", "internal/english", "internal/limit", "internal/cost"},
	"internal/prove/formula":              {"internal/prove/logic", "internal/limit", "internal/prove/regular", "pkg/schemapath", "internal/cost"},
	"internal/prove/logic":                {"internal/limit"},
	"internal/nested":                     {},
	"internal/ordered":                    {"internal/codes", "pkg/diag"},
	"internal/prove/regular":              {"internal/limit"},
	"internal/cost":                       {"internal/pattern", "pkg/schemapath"},
	"internal/cel":                        {},
	"pkg/rules":                           {"pkg/schemapath", "pkg/union", "internal/cel"},
	"pkg/union":                           {"internal/codes", "internal/nested", "internal/spelling", "internal/yaml/yamlconfig", "internal/yaml/yamltext", "pkg/diag", "pkg/schemapath", "internal/english"},
	"pkg/diag":                            {"internal/codes"},
	"pkg/schemapath":                      {},
	"internal/limit":                      {},
	"internal/carrier":                    {"internal/work", "pkg/schemapath"},
	"internal/report/shell":               {},
	"internal/yaml/source":                {"internal/pattern", "internal/codes", "internal/carrier", "internal/work", "internal/yaml/yamltext", "pkg/diag", "internal/limit"},
	"internal/spelling":                   {},
	"internal/yaml/yamlconfig":            {"internal/codes", "internal/yaml/source", "internal/spelling", "internal/yaml/yamltext", "pkg/diag", "internal/limit"},
	"internal/yaml/yamledit":              {"internal/yaml/yamltext"},
	"internal/work":                       {},
	"internal/yaml/yamltext":              {"internal/work"},
	"internal/testing/servertest":         {"internal/testing/testprog", "pkg/validate"},
	"internal/testing/schematest":         {"internal/yaml/yamltext"},
	"internal/testing/testcrd":            {"internal/carrier", "testdata"},
	"internal/testing/testmanifest":       {"internal/yaml/yamltext", "pkg/compile"},
	"internal/testing/crdchanges":         {},
	"test/hostile":                        {},
	"internal/testing/testgc":             {},
	"internal/testing/testprog":           {},
	"internal/testing/testprog/apiserver": {},
	"internal/testing/testprog/english":   {},
	"internal/testing/testprog/kubectl":   {"internal/testing/testprog/english"},
	"internal/testing/testprog/kustomize": {},
	"internal/testing/policytest":         {},
	"internal/testing/unioncases":         {"pkg/union"},
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
	page, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowed {
		folder := folderOf(name)
		if folder == "" {
			continue
		}
		_, row, found := strings.Cut(string(page), "\n| `"+folder+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if within := strings.TrimPrefix(name[len(folder):], "/"); !found || !strings.Contains(row, "`"+within+"`") && within != "" {
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
			if name == "pkg/diag" && strings.Contains(imported, ".") && imported != module+"internal/codes" {
				t.Errorf("pkg/diag imports %s; it needs only the standard library and the codes", imported)
			}
		}
	}
	if seen != len(allowed) {
		t.Errorf("saw %d of %d packages", seen, len(allowed))
	}
}

// TestUnion asserts that pkg/union depends on neither the prover nor the API server. Of the API
// server's packages it has only the types of schemas.
func TestUnion(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"pkg/union").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	types := "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	for name := range strings.FieldsSeq(string(out)) {
		server := strings.HasPrefix(name, "k8s.io/apiserver/") || strings.HasPrefix(name, "k8s.io/apiextensions-apiserver/") && name != types && name != types+"/v1"
		if server || strings.HasPrefix(name, module+"internal/prove") {
			t.Errorf("pkg/union depends on %s", name)
		}
	}
}
