package docs_test

import "testing"

// TestDiff runs the first command of diff.md on the preceding CRDs, and compares the output with
// the block that follows.
func TestDiff(t *testing.T) {
	d := open(t, "diff.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) < 4 || l[0].info != "yaml" || l[1].info != "yaml" || l[2].info != "sh" || l[3].info != "text" {
		t.Fatal("diff.md does not show two CRDs, a command and what it prints")
	}
	out, errs, code := shellAmong(t, l[2].text, map[string]string{"old.yaml": l[0].text, "new.yaml": l[1].text})
	if code != 1 || errs != "" {
		t.Errorf("exit code %d, %s", code, errs)
	}
	d.generated(t, l[3].from, l[3].to, out)
	d.save(t)
}
