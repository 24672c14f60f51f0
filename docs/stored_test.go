package docs_test

import "testing"

// TestStored runs the first command of stored.md on the preceding files, and compares the output
// with the block that follows.
func TestStored(t *testing.T) {
	d := open(t, "stored.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "yaml" || l[2].info != "yaml" || l[3].info != "sh" || l[4].info != "text" {
		t.Fatal("stored.md does not show two CRDs, objects, a command and what it prints")
	}
	out, errs, _ := shellAmong(t, l[3].text, map[string]string{"old.yaml": l[0].text, "new.yaml": l[1].text, "live.yaml": l[2].text})
	if errs != "" {
		t.Error(errs)
	}
	d.generated(t, l[4].from, l[4].to, out)
	d.save(t)
}
