package report_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
)

// TestFailingRule finds a rule that fails to evaluate on an object that the union allows, in a
// source and in a compiled CRD.
func TestFailingRule(t *testing.T) {
	const spec = `type: object
properties:
  type: {type: string, enum: [A, B]}
  a: {type: object}
  b: {type: object}
x-kubernetes-unions:
- {discriminator: type, fields-to-discriminateBy: {a: A, b: B}}
x-kubernetes-validations:
- rule: "!has(self.a) || self.type == 'A'"
- rule: "self.type == 'B' ? has(self.b) : true"
`
	const want = `UC532 warning: this rule fails to evaluate when no member is set and type is unset (no such key: type), and the API server rejects the creation: {"spec":{}}`
	f := crdpatch.Open("crd.yaml", []byte(crdOf("mounts", version{Name: "v1", Spec: spec})))
	l := report.Lint(f, crdpatch.Options{})
	if got := strings.Join(codesOf(l, codes.FailingRule), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, d := range l {
		if line := strings.Split(string(f.Bytes()), "\n")[d.Pos.Line-1]; d.Code == codes.FailingRule && !strings.Contains(line, "has(self.b) : true") {
			t.Errorf("at %s", line)
		}
	}
	out, _ := crdpatch.Compile(f, crdpatch.Options{})
	if got := strings.Join(codesOf(report.Lint(crdpatch.Open("crd.yaml", out), crdpatch.Options{}), codes.FailingRule), "\n"); got != want {
		t.Errorf("compiled: got\n%s\nwant\n%s", got, want)
	}
}

// TestUndecidedRule tells that no object was found on which a rule fails.
func TestUndecidedRule(t *testing.T) {
	const spec = `type: object
required: [count]
properties:
  count: {type: integer}
  a: {type: object}
  b: {type: object}
x-kubernetes-unions:
- members: [a, b]
x-kubernetes-validations:
- rule: "!has(self.a) || 100 % (self.count * self.count - 50) >= 0"
- rule: "!has(self.a) || self.count > 0"
`
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("mounts", version{Name: "v1", Spec: spec}))), crdpatch.Options{})
	const want = "UC933 info: this rule is not decided: no object was found on which it fails to evaluate, though there may be one"
	if got := strings.Join(codesOf(l, codes.NotDecided, codes.FailingRule), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
