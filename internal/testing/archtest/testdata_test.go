package archtest

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/testdata"
)

// TestTestdataReadme asserts that the README of testdata describes every CRD.
func TestTestdataReadme(t *testing.T) {
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
