package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
)

// TestStopping runs the commands for removing unioncel in trust.md, on the CRD of the README.
func TestStopping(t *testing.T) {
	page, err := os.ReadFile("trust.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source := marked(t, string(readme), "file")
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(source)), crdpatch.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var rulesOnly strings.Builder
	for line := range strings.Lines(string(compiled)) {
		if !strings.Contains(line, "annotations:") && !strings.Contains(line, crdpatch.Annotation) {
			rulesOnly.WriteString(line)
		}
	}
	for name, want := range map[string]string{"keep": rulesOnly.String(), "back": source} {
		_, rest, _ := strings.Cut(string(page), "<!-- run: "+name+" -->\n```sh\n")
		command, _, ok := strings.Cut(rest, "```\n")
		if !ok {
			t.Fatalf("trust.md has no command %q", name)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "config", "crd", "crd.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, compiled, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-ec", command)
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", command, err, got)
		}
	}
}
