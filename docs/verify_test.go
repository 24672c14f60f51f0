package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestVerify runs the command of verify.md on its CRD, which is not proved: the
// block behind it is what it prints.
func TestVerify(t *testing.T) {
	d := open(t, "verify.md")
	dir := t.TempDir()
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 3 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "text" {
		t.Fatal("verify.md does not show a CRD, a command and what it prints")
	}
	if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(l[0].text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", l[1].text)
	cmd.Dir = dir
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 || len(out) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	d.generated(t, l[2].from, l[2].to, string(out))
	d.save(t)
}
