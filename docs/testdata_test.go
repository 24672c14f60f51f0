package docs_test

import "testing"

// TestTestdata runs the commands of testdata.md on its CRD.
func TestTestdata(t *testing.T) {
	d := open(t, "testdata.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) < 5 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "yaml" || l[3].info != "sh" || l[4].info != "text" {
		t.Fatal("testdata.md does not show a CRD, and two commands with what they print")
	}
	files := map[string]string{"crd.yaml": l[0].text}
	_, errs, code := shellAmong(t, l[3].text, files)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[4].from, l[4].to, errs)
	out, errs, code := shellAmong(t, l[1].text, files)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[2].from, l[2].to, out)
	d.save(t)
}
