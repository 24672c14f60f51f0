package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/declared"
)

// TestCheck runs the commands of check.md on the files in the document, which begin with their names.
// It compares the output with the text block that follows a command. The output after the block of
// rules is that of the preceding command, with these rules in the CRD.
func TestCheck(t *testing.T) {
	d := open(t, "check.md")
	dir := t.TempDir()
	crd, command := "", ""
	commands, rules := 0, 0
	l := d.blocks(t, 0, len(d.lines))
	for i, b := range l {
		wantCode := 0
		switch {
		case strings.HasPrefix(b.text, "# crd.yaml\n"):
			crd = b.text
			b.writeFile(t, dir)
			b.writeFile(t, filepath.Join(dir, "config", "crd"))
			continue
		case strings.HasPrefix(b.text, "# .unioncel.yaml\n"):
			if _, diags := declared.ParseConfig(".unioncel.yaml", []byte(b.text)); diags != nil {
				t.Error(diags)
			}
			continue
		case b.info == "sh":
			command = b.text
			if strings.HasPrefix(command, "unioncel verify ") || strings.Contains(command, "--fail-on warning") {
				wantCode = 1
			}
		case b.info == "yaml" && strings.HasPrefix(b.text, " "):
			rules++
			first, _, _ := strings.Cut(b.text, "\n")
			above, _, found := strings.Cut(crd, first)
			if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(above+b.text), 0o644); err != nil || !found {
				t.Fatalf("the CRD has no %q: %v", first, err)
			}
		default:
			continue
		}
		commands++
		var out bytes.Buffer
		if code := sh(t, dir, command, &out, &out); code != wantCode {
			t.Errorf("%s: exit code %d\n%s", command, code, &out)
		}
		if i+1 < len(l) && l[i+1].info == "text" {
			d.generated(t, l[i+1].from, l[i+1].to, out.String())
		} else if wantCode == 1 && !strings.Contains(out.String(), "::warning file=config/crd/crd.yaml") {
			t.Errorf("%s:\n%s", command, &out)
		}
		if b.info == "yaml" { // the following commands are about the first rules
			if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(crd), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if commands != 7 || rules != 1 {
		t.Errorf("check.md has %d commands and %d blocks of rules, want 7 and 1", commands, rules)
	}
	if written, err := os.ReadFile(filepath.Join(dir, "unioncel.sarif")); err != nil || !json.Valid(written) {
		t.Errorf("the SARIF of check.md: %v", err)
	}
	d.save(t)
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
