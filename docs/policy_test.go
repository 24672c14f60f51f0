package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPolicy runs the command of policy.md on the CRD of normalize.md.
func TestPolicy(t *testing.T) {
	d := open(t, "policy.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 2 || l[0].info != "sh" || l[1].info != "yaml" {
		t.Fatal("policy.md does not show a command and what it prints")
	}
	n := open(t, "normalize.md")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(n.blocks(t, 0, len(n.lines))[0].text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", l[0].text)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	d.generated(t, l[1].from, l[1].to, string(out))
	d.save(t)
}
