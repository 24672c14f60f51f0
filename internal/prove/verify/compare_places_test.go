package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestComparePlaces tests that paths and surrounding schemas do not affect a comparison.
func TestComparePlaces(t *testing.T) {
	const (
		union = `
type: object
required: [type]
properties:
  type: {type: string, enum: [A, B]}
  name: {type: string}
  a: {type: object}
  b: {type: string}
` + rulesKey
		around = "type: object\nrequired: [other]\nminProperties: 2\nx-kubernetes-validations: [{rule: \"self.other != 'off' && !(has(self.l) && false)\"}, {rule: self == oldSelf}]\n" +
			"properties:\n  other: {type: string, x-kubernetes-validations: [{rule: \"self == 'on'\"}]}\n  l:"
	)
	inside := func(list, rules string) string {
		return around + list + strings.ReplaceAll(union+rules, "\n", "\n      ")
	}
	less := strings.Replace(gateway, rule("!(has(self.b) && self.type != 'B')"), "", 1)
	wrong := func(l string) string {
		return "tighter\ntightens: b is set while type is 'A': {" + l + ", other: \"on\"}"
	}
	tests := []struct {
		name, list string
		steps      []string
		wrong      string
	}{
		{"nested", "\n    type: object\n    properties: {u: {type: string}}\n    allOf: [{}]\n    maxProperties: 1\n    x-kubernetes-validations: [{rule: '!has(self.v.b)'}]\n    required: [v]\n    properties:\n     v:",
			[]string{"properties", "l", "properties", "v"}, wrong("l: {v: {a: {}, b: a, type: A}}")},
		{"list", "\n    type: array\n    x-kubernetes-validations: [{rule: 'self.all(x, !has(x.b))'}]\n    items:", []string{"properties", "l", "items"}, wrong("l: [{a: {}, b: a, type: A}]")},
		{"list-map", "\n    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:", []string{"properties", "l", "items"}, wrong("l: [{a: {}, b: a, type: A}]")},
		{"list-map keyed by the discriminator", "\n    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [type]\n    items:", []string{"properties", "l", "items"}, wrong("l: [{a: {}, b: a, type: A}]")},
		{"map", "\n    type: object\n    minProperties: 2\n    additionalProperties:", []string{"properties", "l", "additionalProperties"}, wrong("l: {example: {a: {}, b: a, type: A}}")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := inside(tt.list, gateway)
			if tt.name == "nested" {
				spec = strings.Replace(spec, "\n    properties: {u: {type: string}}", "", 1)
			}
			c, u := compareAll(t, spec, typed, tt.steps...)
			if got := verdict(t, c, u); got != "equivalent" {
				t.Error(got)
			}
			c, u = compareAll(t, strings.Replace(spec, strings.ReplaceAll("\n"+gateway, "\n", "\n      "), strings.ReplaceAll("\n"+less, "\n", "\n      "), 1), typed, tt.steps...)
			if got := verdict(t, c, u); got != tt.wrong {
				t.Errorf("got\n%s\nwant\n%s", got, tt.wrong)
			}
		})
	}
}

// TestCompareRoot compares a union at the root, where apiVersion, kind and metadata are always
// present.
func TestCompareRoot(t *testing.T) {
	compare := func(rest string) string {
		t.Helper()
		var s apiextensionsv1.JSONSchemaProps
		if err := sigsyaml.UnmarshalStrict([]byte(`
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  a: {type: string}
  b: {type: string}
`+rest), &s); err != nil {
			t.Fatal(err)
		}
		crd := crdWith(t, "{type: object}")
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &s
		u := unionsOf(t, exactlyTwo, &s)[0]
		c, err := verify.Compare(context.Background(), crd, 0, pathOf(nil), u, constraintsOn(&s))
		if err != nil {
			t.Fatal(err)
		}
		got := string(c.Verdict)
		for _, d := range []*verify.Finding{c.Tighter, c.Looser} {
			if d != nil {
				got += ": " + d.Words(u)
			}
		}
		return got
	}
	for rest, want := range map[string]string{
		"minProperties: 4\nmaxProperties: 4":                             "equivalent",
		"minProperties: 1\nmaxProperties: 4":                             "tighter: none of a, b is set",
		"  status: {type: object}\nminProperties: 4\nmaxProperties: 4":   "different: none of a, b is set (status is {}): a is set (status is {})",
		"oneOf: [{required: [a]}, {required: [b]}]":                      "equivalent",
		"x-kubernetes-validations: [{rule: has(self.a) != has(self.b)}]": "equivalent",
	} {
		if got := compare(rest); got != want {
			t.Errorf("%s: got %s, want %s", rest, got, want)
		}
	}
}

// TestCompareInside tests that a comparison respects the schemas of members. If it finds no valid
// value of a member, it omits this member.
func TestCompareInside(t *testing.T) {
	spec := func(a string) string {
		return "type: object\nproperties:\n  a: " + a + "\n  b: {type: string}\n" + rulesKey + rule("!(has(self.a) && has(self.b))")
	}
	tests := []struct{ name, a, declaration, want string }{
		{"an empty map", "{type: object, additionalProperties: {type: string}}", "[{members: [a, b], emptyIsUnset: [a]}]", "looser\nloosens: b is set (a is {}): {a: {}, b: a}"},
		{"no empty map", "{type: object, minProperties: 1, additionalProperties: {type: string}}", "[{members: [a, b], emptyIsUnset: [a]}]", "equivalent"},
		{"no empty string, by a rule", "{type: string, x-kubernetes-validations: [{rule: \"self != ''\"}]}", "[{members: [a, b], emptyIsUnset: [a]}]", "equivalent"},
		{"a rule that is hard to satisfy", "{type: string, x-kubernetes-validations: [{rule: self.size() > 5000}]}", two, "equivalent"},
		{"a rule that is hard to satisfy, deeper", "{type: object, required: [l], properties: {l: {type: array, minItems: 1, items: {type: string, x-kubernetes-validations: [{rule: self.size() > 5000}]}}}}", two, "equivalent"},
		{"a rule on changes", "{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}", two, "equivalent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, u := compareAll(t, spec(tt.a), tt.declaration)
			if got := verdict(t, c, u); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestReplaceable tests that Replaceable returns exactly the constraints that the union implies.
func TestReplaceable(t *testing.T) {
	tests := []struct{ name, spec, declaration, want string }{
		{"rules among others", compareMode + rulesKey + rule("!has(self.mode) || self.mode != 'off'") + rule(countFilter+"<= 1") + rule("!has(oldSelf.a) || has(self.a)") + rule("true"), plain,
			"x-kubernetes-validations[1]: equivalent"},
		{"pairs", compareTyped + needsType + rulesKey + gateway, typed, "x-kubernetes-validations[0] x-kubernetes-validations[1] x-kubernetes-validations[2] x-kubernetes-validations[3]: equivalent"},
		{"a pair less", compareTyped + needsType + rulesKey + strings.Replace(gateway, rule("!(has(self.b) && self.type != 'B')"), "", 1), typed,
			"x-kubernetes-validations[0] x-kubernetes-validations[1] x-kubernetes-validations[2]: tighter"},
		{"one that refuses more", compareTyped + needsType + rulesKey + gateway + rule("!has(self.b)") + rule("has(self.a) || self.type == 'B'"), typed,
			"x-kubernetes-validations[0] x-kubernetes-validations[1] x-kubernetes-validations[2] x-kubernetes-validations[3] x-kubernetes-validations[5]: equivalent"},
		{"unguarded where it matters", compareTyped + rulesKey + gateway, typed, "x-kubernetes-validations[0] x-kubernetes-validations[2]: tighter"},
		{"one unguarded", compareTyped + rulesKey + rule(conditionalA) + rule(conditionalB) + rule("self.type != 'A' || has(self.a)"), typed,
			"x-kubernetes-validations[0] x-kubernetes-validations[1]: equivalent"},
		{"all keys", comparePlain + "minProperties: 1\nmaxProperties: 1\noneOf: [{required: [a]}, {required: [b]}, {required: [c]}]\nanyOf: [{required: [a]}, {required: [b]}, {required: [c]}]\nnot: {required: [a, b]}\nallOf: [{not: {required: [b, c]}}]", exactly,
			"allOf[0] anyOf oneOf not minProperties maxProperties: equivalent"},
		{"allOf on something else", compareMode + "allOf: [{not: {required: [mode]}}, {not: {required: [a, b]}}, {not: {required: [a, c]}, properties: {mode: {maxLength: 4}}}, {not: {required: [a, c]}}, {not: {required: [b, c]}}]", plain,
			"allOf[1] allOf[3] allOf[4]: equivalent"},
		{"allOf with rules", compareMode + "allOf: [{x-kubernetes-validations: [{rule: '" + countTernary + "<= 1'}]}, {not: {required: [a, b]}, x-kubernetes-validations: [{rule: \"!has(self.mode) || self.mode != 'off'\"}]}]", plain,
			"allOf[0]: equivalent"},
		{"allOf with broken rules", compareMode + "allOf: [{not: {required: [a, b]}, x-kubernetes-validations: [{rule: has(self.nope)}]}, {x-kubernetes-validations: [{rule: '" + countTernary + "<= 1'}]}]", plain, "allOf[1]: equivalent"},
		{"allOf in allOf", compareMode + "allOf: [{allOf: [{x-kubernetes-validations: [{rule: \"!has(self.mode) || self.mode != 'off'\"}]}]}, {allOf: [{x-kubernetes-validations: [{rule: '" + countTernary + "<= 1'}]}]}]", plain, "allOf[1]: equivalent"},
		{"at least one of more", compareMode + "minProperties: 1\n" + rulesKey + rule(countTernary+"== 1"), exactly, "x-kubernetes-validations[0]: equivalent"},
		{"counting another property", compareMode + "maxProperties: 1\n" + rulesKey + rule(countTernary+"<= 1"), plain, "x-kubernetes-validations[0]: equivalent"},
		{"null", compareNullable + "oneOf: [{required: [a]}, {required: [b]}]\n" + rulesKey + rule("has(self.a) != has(self.b)"), exactlyTwo, "x-kubernetes-validations[0]: equivalent"},
		{"what is in a member", comparePlain + rulesKey + rule("!(has(self.b) && self.b == '' && has(self.a))"), plain, ""},
		{"another part of the discriminator", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(conditionalA) + rule(conditionalB) + rule("!has(self.type) || !self.type.startsWith('x') || !has(self.a)"), typed,
			"x-kubernetes-validations[0] x-kubernetes-validations[1]: equivalent"},
		{"broken", comparePlain + rulesKey + rule("has(self.nope)") + rule("has(self.") + rule("") + rule("has(self.a) || self.size() > 1") + rule(countTernary+"<= 1"), plain, "x-kubernetes-validations[4]: equivalent"},
		{"optional oldSelf", comparePlain + rulesKey + strings.Replace(rule(countTernary+"<= 1"), "\n", "\n  optionalOldSelf: true\n", 1), plain, ""},
		{"ratchet", comparePlain + rulesKey + rule(countTernary+"<= 1"), "[{members: [a, b, c], ratchet: true}]", "x-kubernetes-validations[0]: looser"},
		{"messages", comparePlain + rulesKey + strings.Replace(rule(countTernary+"<= 1"), "\n", "\n  messageExpression: self.nope\n  message: \"a\\nb\"\n  fieldPath: .zz\n  reason: Nope\n", 1), plain, "x-kubernetes-validations[0]: equivalent"},
		{"nothing", comparePlain, plain, ""},
		{"another union", compareMode + "  other: {type: string}\n" + rulesKey + rule(countTernary+"<= 1") + rule("has(self.mode) != has(self.other)"), plain, "x-kubernetes-validations[0]: equivalent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			crd := crdWith(t, tt.spec)
			before := crd.DeepCopy()
			steps := []string{"properties", "spec"}
			u := unionsOf(t, tt.declaration, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))[0]
			l, c, err := verify.Replaceable(context.Background(), crd, 0, pathOf(steps), u)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Trim(fmt.Sprint(l), "[]")
			if strings.Contains(fmt.Sprint(l), "]]") {
				got += "]"
			}
			if c.Verdict != "" {
				got += ": " + string(c.Verdict)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s\n%s", got, tt.want, verdict(t, c, u))
			}
			if flow(t, before) != flow(t, crd) {
				t.Error("the CRD has been changed")
			}
		})
	}
	crd := crdWith(t, comparePlain)
	if _, _, err := verify.Replaceable(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), nil); err == nil {
		t.Error("no error without a union")
	}
	if _, _, err := verify.Replaceable(context.Background(), crd, 0, pathOf([]string{"items"}), &union.Union{}); err == nil {
		t.Error("no error without a schema")
	}
}

// TestCompareLarge compares all constraints of large unions.
func TestCompareLarge(t *testing.T) {
	steps := []string{"properties", "spec"}
	for _, form := range []string{"pairs", "any", "sum", "oneOf", "count"} {
		for _, n := range []int{9, 20, 60} {
			if testing.Short() && n > 9 || n == 20 && !unioncases.Exhaustive {
				continue
			}
			spec, u := byHand(form, n)
			crd := crdWith(t, spec)
			l, c, err := verify.Replaceable(context.Background(), crd, 0, pathOf(steps), u)
			if err != nil || c.Verdict != verify.Equivalent || len(l) == 0 {
				t.Errorf("%s of %d: %v, %d constraints, %s", form, n, err, len(l), verdict(t, c, u))
			}
			if form != "pairs" && form != "any" {
				continue
			}
			s := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			rules := at(t, s, steps).XValidations
			for i := 0; i < len(rules); i += n * unioncases.Choose(8, 8, 1) {
				setRules(s, steps, append(rules[:i:i], rules[i+1:]...))
				if _, c, err := verify.Replaceable(context.Background(), crd, 0, pathOf(steps), u); err != nil || c.Verdict != verify.Tighter {
					t.Errorf("%s of %d without rule %d: %v %s", form, n, i, err, verdict(t, c, u))
				}
			}
		}
	}
	u := &union.Union{Cardinality: union.AtMostOne}
	schema := "type: object\nmaxProperties: 1\nproperties:\n"
	for i := range 257 {
		schema += fmt.Sprintf("  m%d: {type: string}\n", i)
		u.Members = append(u.Members, union.Member{Name: fmt.Sprintf("m%d", i)})
	}
	c, err := verify.Compare(context.Background(), crdWith(t, schema), 0, pathOf(steps), u, []verify.Constraint{{Key: "maxProperties"}})
	if err != nil || c.Verdict != verify.Equivalent {
		t.Error(err, c.Verdict)
	}
}

// TestCompareAbove compares rules on an ancestor. They also apply if the union object is absent.
func TestCompareAbove(t *testing.T) {
	const members = "properties: {a: {type: string}, b: {type: string}}"
	for _, tt := range []struct {
		name, spec, rule, want string
		above                  int
		items                  bool
	}{
		{name: "where the object is required", spec: "{type: object, required: [u], properties: {u: {type: object, %s}}}", rule: "has(self.u.a) != has(self.u.b)", above: 1, want: "equivalent"},
		{name: "where it is optional", spec: "{type: object, properties: {u: {type: object, %s}}}", rule: "has(self.u.a) != has(self.u.b)", above: 1, want: "looser: spec.u is absent"},
		{name: "guarded", spec: "{type: object, properties: {u: {type: object, %s}}}", rule: "!has(self.u) || has(self.u.a) != has(self.u.b)", above: 1, want: "equivalent"},
		{name: "guarded, and demanding it", spec: "{type: object, properties: {u: {type: object, %s}}}", rule: "has(self.u) && has(self.u.a) != has(self.u.b)", above: 1, want: "looser: spec.u is absent"},
		{name: "guarded, and less", spec: "{type: object, properties: {u: {type: object, %s}}}", rule: "!has(self.u) || !has(self.u.a) || !has(self.u.b)", above: 1, want: "tighter: none of a, b is set"},
		{name: "at the root", spec: "{type: object, properties: {u: {type: object, %s}}}", rule: "!has(self.spec) || !has(self.spec.u) || has(self.spec.u.a) != has(self.spec.u.b)", above: 2, want: "equivalent"},
		{name: "about something else, too", spec: "{type: object, properties: {num: {type: integer}, u: {type: object, %s}}}", rule: "!has(self.u) || has(self.u.a) != has(self.u.b) || has(self.num) && self.num > 3", above: 1, want: "tighter: none of a, b is set (num is 10)"},
		{name: "for each item", spec: "{type: object, properties: {u: {type: array, items: {type: object, %s}}}}", items: true, rule: "!has(self.u) || self.u.all(x, has(x.a) != has(x.b))", above: 2, want: "equivalent"},
		{name: "for each item, and less", spec: "{type: object, properties: {u: {type: array, items: {type: object, %s}}}}", items: true, rule: "!has(self.u) || self.u.all(x, !has(x.a) || !has(x.b))", above: 2, want: "tighter: none of a, b is set"},
		{name: "for each item, and more", spec: "{type: object, properties: {u: {type: array, items: {type: object, %s}}}}", items: true, rule: "!has(self.u) || self.u.all(x, has(x.a) && !has(x.b))", above: 2, want: "looser: b is set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crd := crdWith(t, fmt.Sprintf(tt.spec, members))
			at := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			if tt.above == 1 || tt.items {
				spec := at.Properties["spec"]
				spec.XValidations = []apiextensionsv1.ValidationRule{{Rule: tt.rule}}
				at.Properties["spec"] = spec
			} else {
				at.XValidations = []apiextensionsv1.ValidationRule{{Rule: tt.rule}}
			}
			steps := []string{"properties", "spec", "properties", "u"}
			if tt.items {
				steps = append(steps, "items")
			}
			path := pathOf(steps)
			u := unionsOf(t, exactlyTwo, path.Schema(at))[0]
			k := verify.Constraint{Key: "x-kubernetes-validations", Above: tt.above}
			c, err := verify.Compare(context.Background(), crd, 0, path, u, []verify.Constraint{k})
			if err != nil {
				t.Fatal(err)
			}
			got := string(c.Verdict)
			for _, d := range []*verify.Finding{c.Tighter, c.Looser} {
				if d != nil {
					got += ": " + d.Words(u)
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s %v", got, tt.want, c.Inconclusive)
			}
		})
	}
}
