// Package archtest guards the direction of imports between the packages of this
// module (docs/contributing/architecture.md).
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/unioncel/unioncel/"

// allowed lists, for each package, the packages of this module that it imports directly.
var allowed = map[string][]string{
	"cmd/unioncel":                        {"internal/cli"},
	"docs":                                {},
	"internal/cli":                        {"docs", "internal/change", "internal/codes", "internal/crdpatch", "internal/crdpatch", "internal/declared", "internal/english", "internal/handwritten", "internal/product", "internal/prove/logic", "internal/prove/verify", "internal/report", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/markers", "pkg/policy", "pkg/union"},
	"internal/prove":                      {"internal/english", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "pkg/schemapath"},
	"internal/prove/sample":               {"internal/prove/formula", "internal/prove/logic", "internal/prove/regular", "internal/server", "pkg/schemapath"},
	"internal/prove/schemadiff":           {"internal/prove", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "internal/server", "pkg/schemapath"},
	"internal/codes":                      {},
	"internal/english":                    {},
	"internal/report":                     {"internal/codes", "internal/crdpatch", "internal/crdpatch", "internal/english", "internal/prove/formula", "internal/prove/sample", "internal/prove/verify", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"pkg/policy":                          {"internal/cel", "internal/codes", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"pkg/markers":                         {"internal/codes", "internal/english", "internal/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/crdpatch":                   {"internal/codes", "internal/english", "internal/prove/verify", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"pkg/uniontest":                       {"internal/product", "internal/server", "internal/yamltext", "pkg/crd", "pkg/diag", "pkg/schemapath"},
	"pkg/compile":                         {"internal/codes", "internal/english", "internal/prove/verify", "internal/server", "internal/yamltext", "pkg/diag", "pkg/rules", "pkg/schemapath", "pkg/union"},
	"internal/prove/verify":               {"internal/codes", "internal/english", "internal/prove", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "internal/server", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/prove/formula":              {"internal/prove/logic", "internal/prove/regular", "internal/server", "pkg/schemapath"},
	"internal/prove/logic":                {"internal/yamltext"},
	"internal/prove/regular":              {"internal/prove/logic"},
	"internal/cel":                        {},
	"pkg/rules":                           {"internal/cel", "pkg/schemapath", "pkg/union"},
	"pkg/union":                           {"internal/codes", "internal/english", "internal/yamltext", "pkg/diag", "pkg/schemapath"},
	"pkg/diag":                            {"internal/codes"},
	"pkg/schemapath":                      {},
	"internal/testing/servertest":         {"internal/server", "internal/testing/testprog"},
	"internal/testing/schematest":         {"internal/yamltext"},
	"internal/testing/testcrd":            {"internal/yamltext", "testdata"},
	"internal/testing/testmanifest":       {"internal/yamltext", "pkg/compile"},
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
	"internal/change":                     {"internal/codes", "internal/crdpatch", "internal/crdpatch", "internal/english", "internal/product", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "internal/prove/schemadiff", "internal/prove/verify", "internal/report", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/policy", "pkg/schemapath", "pkg/union"},
	"internal/declared":                   {"internal/codes", "internal/english", "internal/prove/verify", "internal/report", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/product":                    {"internal/codes", "internal/crdpatch", "internal/declared", "internal/english", "internal/prove/verify", "internal/server", "internal/yamltext", "pkg/compile", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/yamltext":                   {"internal/codes", "internal/english", "pkg/diag", "pkg/schemapath"},
	"internal/handwritten":                {"internal/cel", "internal/codes", "internal/crdpatch", "internal/english", "internal/prove", "internal/prove/formula", "internal/prove/logic", "internal/prove/sample", "internal/prove/verify", "internal/report", "internal/server", "internal/yamltext", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"pkg/crd":                             {"internal/change", "internal/crdpatch", "internal/product", "internal/prove/verify", "internal/report", "internal/server", "pkg/compile", "pkg/diag", "pkg/schemapath", "pkg/union"},
	"internal/server":                     {"internal/codes", "internal/english", "internal/yamltext", "pkg/diag", "pkg/schemapath"},
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
	page, err := os.ReadFile("../../../docs/contributing/architecture.md")
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
			t.Errorf("docs/contributing/architecture.md does not say what %s does", name)
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
				t.Errorf("%s: add the package to this test and to docs/contributing/architecture.md", name)
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

// TestPublic asserts that contrib and examples, which show the use of the library, import no internal
// package of it.
func TestPublic(t *testing.T) {
	seen := 0
	for _, dir := range []string{"contrib", "examples"} {
		err := filepath.WalkDir("../../../"+dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			file, _ := parsed(t, path)
			for _, spec := range file.Imports {
				seen++
				if strings.HasPrefix(spec.Path.Value, `"`+module+"internal/") {
					t.Errorf("%s imports %s", path, spec.Path.Value)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("no imports")
	}
}
