package unions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/unioncel/unioncel/contrib/kube-api-linter/unions"
)

func analyze(t *testing.T, cfg *unions.Config, packages ...string) {
	t.Helper()
	a, err := unions.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	analysistest.RunWithSuggestedFixes(t, dir, a, packages...)
}

func TestMarkers(t *testing.T) {
	analyze(t, nil, "./markers", "./warned", "./shared", "./plain")
}

func TestCRDs(t *testing.T) {
	analyze(t, &unions.Config{CRDs: "config/crd"}, "./proved", "./missing", "./stale", "./imports", "./outdated", "./shared", "./plain")
}

// recorder records the errors of an analyzer.
type recorder struct{ strings.Builder }

func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(r, format, args...) }

// TestLink asserts that no link leads out of the directory of the CRDs.
func TestLink(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	crds := t.TempDir()
	if err := os.Symlink(filepath.Join(testdata, "config/crd/proved.yaml"), filepath.Join(crds, "link.yaml")); err != nil {
		t.Skip(err)
	}
	rel, err := filepath.Rel(testdata, crds)
	if err != nil {
		t.Fatal(err)
	}
	a, err := unions.New(&unions.Config{CRDs: rel})
	if err != nil {
		t.Fatal(err)
	}
	var errs recorder
	analysistest.Run(&errs, testdata, a, "./proved")
	if want := filepath.Join(crds, "link.yaml") + ": "; !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "escapes") {
		t.Errorf("no error about the link: %q", errs.String())
	}
}
