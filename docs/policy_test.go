package docs_test

import (
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
	out, errs, code := shellAmong(t, l[0].text, map[string]string{"crd.yaml": n.blocks(t, 0, len(n.lines))[0].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[1].from, l[1].to, out)
	d.save(t)
}
