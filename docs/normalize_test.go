package docs_test

import (
	"testing"
)

// TestNormalize runs the command of normalize.md on its CRD and its object, and compares the output
// with the blocks that follow.
func TestNormalize(t *testing.T) {
	d := open(t, "normalize.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "yaml" || l[2].info != "sh" || l[3].info != "yaml" || l[4].info != "text" {
		t.Fatal("normalize.md does not show a CRD, an object, a command and what it prints")
	}
	out, errs, code := shellAmong(t, l[2].text, map[string]string{"crd.yaml": l[0].text, "route.yaml": l[1].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[3].from, l[3].to, out)
	d.generated(t, l[4].from, l[4].to, errs)
	d.save(t)
}
