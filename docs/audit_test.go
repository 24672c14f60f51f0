package docs_test

import (
	"strings"
	"testing"
)

// TestAudit runs the first command of audit.md on its CRD, and compares the output with the block
// that follows. The second command fails because of the findings.
func TestAudit(t *testing.T) {
	d := open(t, "audit.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 4 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "text" || l[3].info != "sh" {
		t.Fatal("audit.md does not show a CRD, a command and its output, then a command for CI")
	}
	out, errs, code := shellAmong(t, l[1].text, map[string]string{"crd.yaml": l[0].text})
	if code != 0 || errs != "" || !strings.Contains(out, "UC921") {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	d.generated(t, l[2].from, l[2].to, out)
	if out, errs, code := shellAmong(t, strings.Replace(l[3].text, "config/crd", ".", 1), map[string]string{"crd.yaml": l[0].text}); code != 1 || errs != "" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	d.save(t)
}
