package unions_test

import (
	"path/filepath"
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
