package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerify runs the command of verify.md on its CRD, which is not proved, and on the
// same CRD with other rules, which is: the block behind each is what it prints.
func TestVerify(t *testing.T) {
	d := open(t, "verify.md")
	dir := t.TempDir()
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "text" || l[3].info != "yaml" || l[4].info != "text" {
		t.Fatal("verify.md does not show a CRD, a command and what it prints, then rules and what it prints for these")
	}
	run := func(crd string, code int) string {
		if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(crd), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", l[1].text)
		cmd.Dir = dir
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() != code || len(out) == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	first, _, _ := strings.Cut(l[3].text, "\n")
	above, _, found := strings.Cut(l[0].text, first)
	if !found {
		t.Fatalf("the CRD of verify.md has no %q", first)
	}
	d.generated(t, l[2].from, l[2].to, run(l[0].text, 1))
	d.generated(t, l[4].from, l[4].to, run(above+l[3].text, 0))
	d.save(t)
}
