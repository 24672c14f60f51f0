package docs_test

import (
	"strings"
	"testing"
)

// TestVerify runs the command of verify.md on its CRD, which is not proved, and on the same CRD
// with other rules, which is proved. It compares the output with the blocks that follow.
func TestVerify(t *testing.T) {
	d := open(t, "verify.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "text" || l[3].info != "yaml" || l[4].info != "text" {
		t.Fatal("verify.md does not show a CRD, a command and what it prints, then rules and what it prints for these")
	}
	run := func(crd string, code int) string {
		out, errs, got := shellAmong(t, l[1].text, map[string]string{"crd.yaml": crd})
		if got != code || out == "" {
			t.Fatalf("exit code %d\n%s%s", got, out, errs)
		}
		return out
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
