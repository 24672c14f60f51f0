package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
)

// The documentation of lint lists all formats.
func TestFormatsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range report.DiagnosticFormats {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/check.md does not have the format %s", name)
		}
	}
}
