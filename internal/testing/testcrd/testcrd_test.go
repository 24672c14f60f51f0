package testcrd_test

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/testdata"
)

// The README describes every CRD.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../../testdata/README.md")
	if err != nil {
		t.Fatal(err)
	}
	crds, err := testdata.CRDs.ReadDir("crds")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range crds {
		if row := "\n| [" + f.Name() + "](" + path.Join("crds", f.Name()) + ") | "; !strings.Contains(string(readme), row) {
			t.Errorf("testdata/README.md does not say what %s is for", f.Name())
		}
	}
}
