package docs_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNormalize runs the command of normalize.md on its CRD and its object: the blocks
// behind it are what it prints.
func TestNormalize(t *testing.T) {
	d := open(t, "normalize.md")
	dir := t.TempDir()
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "yaml" || l[2].info != "sh" || l[3].info != "yaml" || l[4].info != "text" {
		t.Fatal("normalize.md does not show a CRD, an object, a command and what it prints")
	}
	for name, text := range map[string]string{"crd.yaml": l[0].text, "route.yaml": l[1].text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", l[2].text)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	d.generated(t, l[3].from, l[3].to, string(out))
	d.generated(t, l[4].from, l[4].to, stderr.String())
	d.save(t)
}
