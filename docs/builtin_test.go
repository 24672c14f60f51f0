package docs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBuiltin runs the command of builtin.md on its Deployment.
func TestBuiltin(t *testing.T) {
	d := open(t, "builtin.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "yaml" || l[3].info != "text" {
		t.Fatal("builtin.md does not show an object, a command and what it prints")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "deployment.yaml"), []byte(l[0].text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", l[1].text)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	d.generated(t, l[2].from, l[2].to, string(out))
	d.generated(t, l[3].from, l[3].to, stderr.String())
	d.save(t)
}
