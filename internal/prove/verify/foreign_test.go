package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
)

// TestForeignValues proves rules on discriminators without an enum, which may have any value. Rules
// that treat other values differently are differences or undecided.
func TestForeignValues(t *testing.T) {
	const (
		b       = "- rule: \"has(self.b) == (has(self.type) && self.type == 'B')\"\n"
		static  = b + "- rule: \"has(self.a) == (has(self.type) && self.type == 'A')\"\n"
		unclear = `inconclusive: rule %q at spec.versions[0].schema.openAPIV3Schema.properties[spec] reads type: no object was found that it accepts while `
	)
	a := func(is string) string {
		return "has(self.a) ? has(self.type) && " + is + " : !(has(self.type) && self.type == 'A')"
	}
	tests := []struct {
		name, rules, rule, declaration string
		want, when                     string
	}{
		{"in a list", b, a("self.type in ['A', 'Legacy']"), typed, "accepted: a is set while type is 'Legacy'", ""},
		{"rejected", static, "!has(self.type) || self.type != 'Legacy'", typed,
			"rejected by !has(self.type) || self.type != 'Legacy': no member is set and type is 'Legacy'", ""},
		{"before", static, "!has(oldSelf.type) || oldSelf.type in ['', 'Legacy'] || has(self.type) && self.type == oldSelf.type", frozen,
			"update accepted: type changes from 'Legacy' to unset", ""},
		{"the way it begins", b, a("self.type.startsWith('A')"), typed, "accepted: a is set while type is 'Ax'", ""},
		{"without case", b, a("self.type.upperAscii() == 'A'"), typed, "accepted: a is set while type is 'a'", ""},
		{"what it contains", b, a("self.type.contains('A')"), typed, "accepted: a is set while type is 'Ax'", ""},
		{"an expression", b, a("self.type.matches('^(A|LEGACY[0-9]{7})$')"), typed, "", "a is set and type is something else"},
		{"its length", static, "has(oldSelf.type) && size(oldSelf.type) > 0 && size(oldSelf.type) < 200 ? has(self.type) && self.type == oldSelf.type : true", frozen, "", "no member is set and type is something else (before: no member is set and type is something else)"},
		{"literals, absence and the old value", static, "(has(oldSelf.type) ? oldSelf.type : '') in ['', (has(self.type) ? self.type : '')]", frozen, "", ""},
		{"optional", b, "self.?type.orValue('') == 'A' ? has(self.a) : !has(self.a)", typed, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := strings.Replace(typedSchema, ", enum: [A, B]", "", 1) + "x-kubernetes-validations:\n" + tt.rules + fmt.Sprintf("- rule: %q\n", tt.rule)
			var want []string
			if tt.want != "" {
				want = append(want, tt.want)
			}
			if tt.when != "" {
				want = append(want, fmt.Sprintf(unclear, tt.rule)+tt.when)
			}
			if got := summary(proofs(t, spec, tt.declaration)[0]); got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
	t.Run("enumerated", func(t *testing.T) {
		spec := typedSchema + "x-kubernetes-validations:\n" + b + fmt.Sprintf("- rule: %q\n", a("self.type.startsWith('A')"))
		if p := proofs(t, spec, typed)[0]; !p.Proved() || p.Rules != 2 {
			t.Errorf("%d rules: %s", p.Rules, summary(p))
		}
	})
}

// TestFields sets each property of a member that is present when one of its properties is set.
func TestFields(t *testing.T) {
	const spec = `
type: object
properties:
  a: {type: object, properties: {x: {type: string}, w: {type: string}, z: {type: integer}}}
  b: {type: object}
x-kubernetes-validations:
`
	const declaration = "[{members: [a, b], emptyIsUnset: [a]}]"
	for rule, want := range map[string]string{
		"!(has(self.a) && (has(self.a.x) || has(self.a.w) || has(self.a.z)) && has(self.b))": "",
		"!(has(self.a) && (has(self.a.x) || has(self.a.w)) && has(self.b))":                  "accepted: a and b are set together",
		"!(has(self.a) && has(self.a.x) && has(self.b))":                                     "accepted: a and b are set together",
		"!(has(self.a) && has(self.a.x) != (has(self.a.w) || has(self.a.z)) && has(self.b))": "accepted: a and b are set together",
	} {
		if got := summary(proofs(t, spec+fmt.Sprintf("- rule: %q\n", rule), declaration)[0]); got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

func TestLarge(t *testing.T) {
	for _, discriminated := range []bool{true, false} {
		for _, encoding := range []compile.Encoding{compile.Fine, compile.Compact} {
			if testing.Short() && encoding == compile.Compact {
				continue
			}
			crd, unions := large(t, 40, discriminated, "", encoding)
			l, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), unions)
			if err != nil {
				t.Fatal(err)
			}
			if !l[0].Proved() || l[0].Rules == 0 {
				t.Errorf("discriminated: %t, %s: %d rules\n%s", discriminated, encoding, l[0].Rules, summary(l[0]))
			}
		}
	}
}
