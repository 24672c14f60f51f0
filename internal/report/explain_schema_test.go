package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
)

// reads returns the errors of each situation of the first union, by situation.
func reads(crd report.Explanation) map[string][]string {
	l := map[string][]string{}
	for _, s := range crd.Unions[0].Errors {
		l[s.Situation] = s.Errors
	}
	return l
}

// TestRequiredDiscriminator asserts that the schema rejects its absence, and the rules reject "".
func TestRequiredDiscriminator(t *testing.T) {
	const declared = `
spec:
  type: object
  required: [type]
  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]
  properties: {type: {type: string%s}, a: {type: object}, b: {type: object}}
`
	absent, empty := "type unset, no member set", "type '', no member set"
	got := explained(t, fmt.Sprintf(declared, ""), rules.Fine)
	all := reads(got)
	if want := []string{"spec.type: Required value", notChecked}; !slices.Equal(all[absent], want) {
		t.Errorf("absent: %q", all[absent])
	}
	if want := []string{"spec.type: Required value: type must be set"}; !slices.Equal(all[empty], want) {
		t.Errorf("empty: %q", all[empty])
	}
	if s := got.Unions[0].Errors; s[0].New.Empty || !s[1].New.Empty {
		t.Errorf("%+v, %+v", s[0].New, s[1].New)
	}
	for name, restricted := range map[string]string{"enum": ", enum: [A, B]", "minLength": ", minLength: 1"} {
		all := reads(explained(t, fmt.Sprintf(declared, restricted), rules.Fine))
		if _, ok := all[empty]; ok || len(all[absent]) == 0 {
			t.Errorf("%s: %q", name, all)
		}
	}
	all = reads(explained(t, fmt.Sprintf(declared, ", default: A"), rules.Fine))
	if _, ok := all[absent]; ok || len(all[empty]) == 0 {
		t.Errorf("a default cannot be absent: %q", all)
	}
	// Without rules, no error may mention rules that were not checked.
	in := planOf(t, crd(fmt.Sprintf(declared, "")), rules.Fine)
	in.Unions[0].Rules = nil
	in.Bytes[0] = nil
	bare, err := report.Explain(in)
	if err != nil {
		t.Fatal(err)
	}
	if l := reads(bare)[absent]; !slices.Equal(l, []string{"spec.type: Required value"}) {
		t.Errorf("without rules: %q", l)
	}
}

// TestDefaultedDiscriminator asserts that a default prevents an unset discriminator, except for "".
func TestDefaultedDiscriminator(t *testing.T) {
	const declared = `
spec:
  type: object
  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true, discriminatorChange: Forbid}]
  properties: {type: {type: string, default: A%s}, a: {type: object}, b: {type: object}}
`
	got := explained(t, fmt.Sprintf(declared, ", enum: [A, B]"), rules.Fine)
	text := textOf(t, got)
	if strings.Contains(text, "type unset") || strings.Contains(text, "stay unset") {
		t.Error(text)
	}
	if want := "AtMostOne: type is 'A' when it is left out"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
	drawn := func(crd report.Explanation) []string { return diagrams(t, markdownOf(t, crd))[0].states }
	if !strings.Contains(text, "no change is allowed") || got.Unions[0].Default != "A" {
		t.Errorf("%+v", got.Unions[0])
	}
	if l := drawn(explained(t, fmt.Sprintf(declared, ""), rules.Fine)); !slices.Equal(l, []string{"type unset", "type A", "type B", "type any other"}) {
		t.Errorf(`"" is possible: %q`, l)
	}
	nullable := explained(t, fmt.Sprintf(declared, ", enum: [A, B], nullable: true"), rules.Fine)
	if l := drawn(nullable); !slices.Equal(l, []string{"type unset", "type A", "type B"}) || nullable.Unions[0].Default != "" {
		t.Errorf("null is possible: %q", l)
	}
}
