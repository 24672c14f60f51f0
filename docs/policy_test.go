package docs_test

import (
	"strings"
	"testing"
)

// TestPolicy runs the command of policy.md on the CRD of normalize.md. The page shows a part of the
// policies that kubectl would apply.
func TestPolicy(t *testing.T) {
	d := open(t, "policy.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 2 || l[0].info != "sh" || l[1].info != "yaml" {
		t.Fatal("policy.md does not show a command and what it prints")
	}
	n := open(t, "normalize.md")
	shorten := "grep -E '^---|^kind:|^  name:|Policy: |policyName:'"
	out, errs, code := shellAmong(t, strings.Replace(l[0].text, "kubectl apply -f -", shorten, 1), map[string]string{"crd.yaml": n.blocks(t, 0, len(n.lines))[0].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	d.generated(t, l[1].from, l[1].to, out)
	d.save(t)
}
