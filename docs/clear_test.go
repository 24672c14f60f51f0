package docs_test

import (
	"strings"
	"testing"
)

// TestClear runs the commands of clear.md for normalize and policy on its CRD and its object, and
// compares the output with the blocks that follow. The page shows a part of the policies that kubectl
// would apply.
func TestClear(t *testing.T) {
	d := open(t, "clear.md")
	l := d.blocks(t, 0, len(d.lines))
	shape := ""
	for _, b := range l {
		shape += b.info + " "
	}
	if shape != "yaml yaml sh yaml text sh yaml sh sh " {
		t.Fatal("clear.md does not show a CRD, an object, commands and their output: ", shape)
	}
	files := map[string]string{"crd.yaml": l[0].text, "route.yaml": l[1].text}
	run := func(command string) (out, errs string) {
		out, errs, code := shellAmong(t, command, files)
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, errs)
		}
		return out, errs
	}
	out, errs := run(l[2].text)
	d.generated(t, l[3].from, l[3].to, out)
	d.generated(t, l[4].from, l[4].to, errs)
	out, _ = run(strings.Replace(l[5].text, "kubectl apply -f -", "grep -E '^---|^kind:|^  name:|Policy: |policyName:'", 1))
	d.generated(t, l[6].from, l[6].to, out)
	d.save(t)
}
