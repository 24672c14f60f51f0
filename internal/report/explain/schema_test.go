package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/report/explain"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
)

// reads returns the errors of each situation of the first union, by situation.
func reads(crd explain.Explanation) map[string][]string {
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
	bare, err := explain.Explain(in)
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
	drawn := func(crd explain.Explanation) []string { return diagrams(t, markdownOf(t, crd))[0].states }
	if want := []string{"type A", "type B"}; !slices.Equal(drawn(got), want) || got.Unions[0].Default != "A" {
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

// TestOpenAPI explains a schema that replaces rules, and its errors, even in a list.
func TestOpenAPI(t *testing.T) {
	in := planOf(t, crd(strings.Replace(sources, "\n          emptyIsUnset: [image, oci]", "", 1)), rules.Fine)
	plan := &in.Unions[0]
	plan.Encoding, plan.Rules, in.Bytes[0] = string(compile.OpenAPI), nil, nil
	got, err := explain.Explain(in)
	if err != nil {
		t.Fatal(err)
	}
	const schema = "oneOf:\n- required:\n  - git\n- required:\n  - image\n- required:\n  - oci\n"
	text := textOf(t, got)
	if !strings.Contains(text, "\nRules\nNone.\n\nSchema (allOf)\n"+indent(schema, 4)+"\nErrors\n") {
		t.Error(text)
	}
	if markdown := markdownOf(t, got); !strings.Contains(markdown, "### Schema (allOf)\n\n```yaml\n"+schema+"```\n") {
		t.Error(markdown)
	}
	if json := jsonOf(t, []explain.Explanation{got}); !strings.Contains(json, "\"allOf\": {\n          \"oneOf\": [\n") {
		t.Error(json)
	}
	const every = `<nil>: Invalid value: "": "spec.sources[0]" must validate all the schemas (allOf). None validated`
	want := map[string][]string{
		"git and image set": {`<nil>: Invalid value: "": "spec.sources[0]" must validate one and only one schema (oneOf). Found 2 valid alternatives`, every},
		"no member set":     {`<nil>: Invalid value: "": "spec.sources[0]" must validate one and only one schema (oneOf). Found none valid`, "spec.sources[0].git: Required value", every},
	}
	if diff := cmp.Diff(want, reads(got)); diff != "" {
		t.Error(diff)
	}
}
