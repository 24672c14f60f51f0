package docs_test

import (
	"testing"
)

// TestBuiltin runs the command of builtin.md on its Deployment.
func TestBuiltin(t *testing.T) {
	d := open(t, "builtin.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 5 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "yaml" || l[3].info != "text" {
		t.Fatal("builtin.md does not show an object, a command and what it prints")
	}
	out, errs, code := shellAmong(t, l[1].text, map[string]string{"deployment.yaml": l[0].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[2].from, l[2].to, out)
	d.generated(t, l[3].from, l[3].to, errs)
	d.save(t)
}
