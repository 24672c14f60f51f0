package docs_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestValidate runs the commands of validate.md on its files, and compares the output with the
// blocks that follow.
func TestValidate(t *testing.T) {
	d := open(t, "validate.md")
	dir := t.TempDir()
	l := d.blocks(t, 0, len(d.lines))
	shape := ""
	for _, b := range l {
		shape += b.info + " "
	}
	if shape != "yaml yaml sh text yaml sh text " {
		t.Fatal("validate.md does not show a CRD, objects, a command, what it prints, an old object, a command and what it prints: ", shape)
	}
	for name, text := range map[string]string{"crd.yaml": l[0].text, "routes.yaml": l[1].text, "live.yaml": l[4].text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{2, 5} {
		printed, code := shell(t, dir, l[at].text)
		if code != 1 {
			t.Errorf("%s: exit code %d", l[at].text, code)
		}
		d.generated(t, l[at+1].from, l[at+1].to, printed)
	}
	d.save(t)
}
