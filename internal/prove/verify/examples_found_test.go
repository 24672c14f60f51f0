package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestExamplesFound tests that examples are minimal. The old object of an update satisfies the
// hand-written rules. Refused and Unchecked return objects that a rule or the schema rejects.
func TestExamplesFound(t *testing.T) {
	const schema = "type: object\nproperties: {type: {type: string, enum: [A, B, C]}, a: {type: object}, b: {type: string, minLength: 2}, num: {type: integer, minimum: 3}}\n"
	const frozen = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid, unmappedValues: Forbid}]"
	violating := func(c union.Condition, member int) func(*verify.Examples) (*verify.Example, error) {
		return func(x *verify.Examples) (*verify.Example, error) {
			return x.Violating(union.Violation{Condition: c, Member: member})
		}
	}
	changing := func(c union.Condition, unset bool) func(*verify.Examples) (*verify.Example, error) {
		return func(x *verify.Examples) (*verify.Example, error) { return x.Changing(c, unset) }
	}
	refused := func(x *verify.Examples) (*verify.Example, error) {
		return x.Refused(verify.Constraint{Key: "x-kubernetes-validations"})
	}
	unchecked := func(x *verify.Examples) (*verify.Example, error) {
		x, err := x.Unchecked()
		if err != nil {
			return nil, err
		}
		return x.Violating(union.Violation{Condition: union.Unmapped, Member: -1})
	}
	const closed = "type: object\nrequired: [type]\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: string, minLength: 2}}\n"
	for _, tt := range []struct {
		name, spec string
		ask        func(*verify.Examples) (*verify.Example, error)
		want       string
	}{
		{"forbidden", schema, violating(union.Forbidden, 1), "{b: aa}"},
		{"required", schema, violating(union.Required, 1), "{type: B}"},
		{"unmapped", schema, violating(union.Unmapped, -1), "{type: C}"},
		{"never", schema, violating(union.Selected, -1), "none"},
		{"beside another rule", schema + rulesKey + rule("!has(self.b) || has(self.num)"), violating(union.Forbidden, 1), "{b: aa, num: 3}"},
		{"that cannot be satisfied", schema + rulesKey + rule("!has(self.b) || has(self.num) && self.num < 0"), violating(union.Forbidden, 1), "{b: aa}"},
		{"changed", schema, changing(union.NotAllowed, false), "{a: {}, type: A} -> {b: aa, type: B}"},
		{"unset", schema, changing(union.NotAllowed, true), "{a: {}, type: A} -> {}"},
		{"what cannot be stored", schema + rulesKey + rule("!has(self.a)"), changing(union.NotAllowed, true), "{b: aa, type: B} -> {}"},
		{"refused", schema + rulesKey + rule("!has(self.b)"), refused, "{b: aa, type: B}"},
		{"refused as an update", schema + rulesKey + rule("has(self.type) == has(oldSelf.type)"), refused, "{} -> {a: {}, type: A}"},
		{"not refused", schema + rulesKey + rule("!has(self.a) || !has(self.b)"), refused, "none"},
		{"what the schema rejects", closed, violating(union.Unmapped, -1), "none"},
		{"unchecked", closed, unchecked, "{type: Unknown}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crd := crdWith(t, tt.spec)
			steps := []string{"properties", "spec"}
			u := unionsOf(t, frozen, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
			x, err := verify.NewExamples(context.Background(), crd, 0, pathOf(steps), u[0], u)
			if err != nil {
				t.Fatal(err)
			}
			e, err := tt.ask(x)
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if e != nil {
				got = example(t, *e)
			}
			if strings.TrimSpace(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
