package docs_test

import "testing"

// TestCrossplane runs the command of crossplane.md on its XRD.
func TestCrossplane(t *testing.T) {
	d := open(t, "crossplane.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 3 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "yaml" {
		t.Fatal("crossplane.md does not show an XRD, a command and what it prints")
	}
	out, errs, code := shellAmong(t, l[1].text, map[string]string{"xrd.yaml": l[0].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[2].from, l[2].to, out)
	d.save(t)
}
