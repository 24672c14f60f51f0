package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// TestLint runs the commands of lint.md on the files in the document, which begin with their names.
// It compares the output with the text block that follows a command.
func TestLint(t *testing.T) {
	d := open(t, "lint.md")
	dir := t.TempDir()
	l := d.blocks(t, 0, len(d.lines))
	commands := 0
	for i, b := range l {
		b.writeFile(t, dir)
		b.writeFile(t, filepath.Join(dir, "config", "crd"))
		if b.info != "sh" {
			continue
		}
		commands++
		var out bytes.Buffer
		code := sh(t, dir, b.text, &out, &out)
		switch {
		case strings.Contains(b.text, "--fail-on warning"): // the files have warnings
			if code != 1 || !strings.Contains(out.String(), "::error file=config/crd/mount.yaml") {
				t.Errorf("%s: exit code %d\n%s", b.text, code, &out)
			}
		case code != 0:
			t.Errorf("%s: exit code %d\n%s", b.text, code, &out)
		case i+1 < len(l) && l[i+1].info == "text":
			d.generated(t, l[i+1].from, l[i+1].to, out.String())
		}
	}
	if commands == 0 {
		t.Error("lint.md has no commands")
	}
	if written, err := os.ReadFile(filepath.Join(dir, "unioncel.sarif")); err != nil || !json.Valid(written) {
		t.Errorf("the SARIF of lint.md: %v", err)
	}
	d.save(t)
}

// The table of lint.md has every code of lint, with its severity.
func TestLintTable(t *testing.T) {
	text := lines(open(t, "lint.md").lines)
	_, advice, _ := strings.Cut(text, "## Advice\n")
	advice, _, _ = strings.Cut(advice, "\n## ")
	for _, info := range diag.Codes {
		link := fmt.Sprintf("[%s](%s)", info.Code, strings.Replace(info.URL(), diag.Reference, "diagnostics.md", 1))
		if info.Code >= codes.NoEnum && info.Code < codes.GoPackage && !strings.Contains(advice, fmt.Sprintf("| %s | %s | ", link, info.Severity)) {
			t.Errorf("no row for %s", link)
		}
	}
}

// Lint has no advice for the examples.
func TestLintExamples(t *testing.T) {
	root := filepath.Join("..", "examples")
	for dir, command := range map[string]string{root: "unioncel lint backup.yaml broker.yaml route.yaml", filepath.Join(root, "kubebuilder"): "unioncel lint config/crd"} {
		var out, errs bytes.Buffer
		if code := sh(t, dir, command, &out, &errs); code != 0 || out.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", dir, code, &out, &errs)
		}
	}
}
