package docs_test

import "testing"

// TestStored runs the commands of stored.md on the preceding files, and compares the output
// with the block that follows.
func TestStored(t *testing.T) {
	d := open(t, "stored.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 4 || l[0].info != "yaml" || l[1].info != "yaml" || l[2].info != "sh" || l[3].info != "text" {
		t.Fatal("stored.md does not show a CRD, objects, commands and their output")
	}
	out, errs, _ := shellAmong(t, l[2].text, map[string]string{"new.yaml": l[0].text, "live.yaml": l[1].text})
	if errs != "" {
		t.Error(errs)
	}
	d.generated(t, l[3].from, l[3].to, out)
	d.save(t)
}
