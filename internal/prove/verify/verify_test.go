package verify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
)

// The schemas of the tests. Tests append rules.
const (
	typedSchema = `
type: object
properties:
  type: {type: string, enum: [A, B]}
  a: {type: object, required: [x], properties: {x: {type: string, pattern: "^x+$"}}}
  b: {type: string, minLength: 2}
`
	plainSchema = `
type: object
properties:
  a: {type: object, required: [x], properties: {x: {type: string, pattern: "^x+$"}}}
  b: {type: string, minLength: 2}
  c: {type: integer, minimum: 5}
`
	nestedSchema = `
type: object
properties:
  platform: {type: object, nullable: true, required: [region], properties: {region: {type: string, minLength: 2}, type: {type: string, enum: [A, B]}}}
  a: {type: object, required: [x], properties: {x: {type: string, pattern: "^x+$"}}}
  b: {type: string, minLength: 2}
`
	listed = `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [type]
items: {type: object, required: [type], properties: {type: {type: string}, status: {type: string}}}
`
	keyed = `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [port, up]
items: {type: object, required: [port, up], properties: {port: {type: integer}, up: {type: boolean}}}
`
	elsewhere = "[{discriminator: platform.type, fields-to-discriminateBy: {a: A, b: B}}]"
	typed     = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]"
	frozen    = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid}]"
	plain     = "[{members: [a, b, c]}]"
	exactly   = "[{members: [a, b, c], cardinality: ExactlyOne}]"
	pairs     = `
x-kubernetes-validations:
- rule: "!(has(self.a) && (!has(self.type) || self.type != 'A'))"
- rule: "!(!has(self.a) && has(self.type) && self.type == 'A')"
- rule: "!(has(self.b) && (!has(self.type) || self.type != 'B'))"
- rule: "!(!has(self.b) && has(self.type) && self.type == 'B')"
`
)

// TestHandWritten proves common hand-written constraints.
func TestHandWritten(t *testing.T) {
	tests := []struct{ name, spec, declaration string }{
		{"ternary sum", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1'}]", plain},
		{"ternary sum, exactly", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) == 1'}]", exactly},
		{"filter", plainSchema + "x-kubernetes-validations: [{rule: '[has(self.a), has(self.b), has(self.c)].filter(x, x == true).size() <= 1'}]", plain},
		{"filter, exactly", plainSchema + "x-kubernetes-validations: [{rule: 'size([has(self.a), has(self.b), has(self.c)].filter(x, x)) == 1'}]", exactly},
		{"maxProperties", plainSchema + "maxProperties: 1", plain},
		{"min and maxProperties", plainSchema + "maxProperties: 1\nminProperties: 1", exactly},
		{"oneOf", plainSchema + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]", exactly},
		{"oneOf and none", plainSchema + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}, {not: {anyOf: [{required: [a]}, {required: [b]}, {required: [c]}]}}]", plain},
		{"not allOf", plainSchema + "allOf: [{not: {required: [a, b]}}, {not: {required: [a, c]}}, {not: {required: [b, c]}}]", plain},
		{"anyOf", plainSchema + "anyOf: [{required: [a]}, {required: [b]}, {required: [c]}]", "[{members: [a, b, c], cardinality: AtLeastOne}]"},
		{"Gateway API pairs", typedSchema + pairs, typed},
		{"OpenShift conditional", typedSchema + `
required: [type]
x-kubernetes-validations:
- rule: "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)"
- rule: "has(self.type) && self.type == 'B' ? has(self.b) : !has(self.b)"`, typed},
		{"optional selection", typedSchema + `
x-kubernetes-validations:
- rule: "(self.?type.orValue('') == 'A') == self.?a.hasValue()"
- rule: "self.?type.orValue('') == 'B' ? self.?b.hasValue() : !self.?b.hasValue()"`, typed},
		{"oneOf with discriminator", typedSchema + `
oneOf:
- {properties: {type: {enum: [A]}}, required: [type, a], not: {required: [b]}}
- {properties: {type: {enum: [B]}}, required: [type, b], not: {required: [a]}}
- {not: {anyOf: [{required: [type]}, {required: [a]}, {required: [b]}]}}`, typed},
		{"rules in allOf", typedSchema + strings.ReplaceAll(strings.Replace(pairs, "x-kubernetes-validations:", "allOf:\n- x-kubernetes-validations:", 1), "\n- rule", "\n  - rule"), typed},
		{"discriminator in an object beside the members", nestedSchema + `
x-kubernetes-validations:
- rule: "has(self.a) == (has(self.platform) && has(self.platform.type) && self.platform.type == 'A')"
- rule: "(self.?platform.?type.orValue('') == 'B') == has(self.b)"`, elsewhere},
		{"items, exactly one", listed + "x-kubernetes-validations: [{rule: \"self.exists_one(c, c.type == 'A' || c.type == 'B')\"}]", "[{members: [{type: A}, {type: B}], cardinality: ExactlyOne}]"},
		{"items, filtered", listed + "x-kubernetes-validations: [{rule: \"self.filter(c, c.type in ['A', 'B']).size() <= 1\"}]", "[{members: [{type: A}, {type: B}]}]"},
		{"items, one and the other", listed + "x-kubernetes-validations: [{rule: \"!(self.exists(c, c.type == 'A') && self.exists(c, c.type == 'B'))\"}]", "[{members: [{type: A}, {type: B}]}]"},
		{"items, none of the other", listed + "x-kubernetes-validations: [{rule: \"self.all(c, c.type != 'A') || self.all(c, c.type != 'B')\"}]", "[{members: [{type: A}, {type: B}]}]"},
		{"items of two keys", keyed + "x-kubernetes-validations: [{rule: \"self.filter(c, c.port == 80 && c.up || c.port == 443 && !c.up).size() <= 1\"}]", "[{members: [{port: 80, up: true}, {port: 443, up: false}]}]"},
		{"items, kept", listed + `x-kubernetes-validations:
- rule: "!(self.exists(c, c.type == 'A') && self.exists(c, c.type == 'B'))"
- rule: "['A', 'B'].all(t, !oldSelf.exists(c, c.type == t) || self.exists(c, c.type == t) || oldSelf.filter(c, c.type in ['A', 'B']).size() > 1)"`, "[{members: [{type: A}, {type: B}], discriminatorChange: Forbid}]"},
		{"immutable discriminator", strings.Replace(typedSchema, "type: {", "type: {x-kubernetes-validations: [{rule: self == oldSelf}], ", 1) +
			"required: [type]" + pairs, frozen},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := proofs(t, tt.spec, tt.declaration)[0]
			if got := summary(p); got != "" || !p.Proved() {
				t.Errorf("proved: %t\n%s", p.Proved(), got)
			}
		})
	}
}

// TestPlantedFaults tests that a proof finds every fault, with the smallest counterexample.
func TestPlantedFaults(t *testing.T) {
	tests := []struct {
		name, spec, declaration string
		want                    string // the expected summary
		example                 string // the first counterexample's spec; old and new for an update
	}{
		{"missing member", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1'}]", plain,
			"accepted: a and c are set together", "{a: {x: x}, c: 5}"},
		{"count off by one", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) < 1'}]", plain,
			"rejected by (has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) < 1: a is set", "{a: {x: x}}"},
		{"too few accepted", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1'}]", exactly,
			"accepted: none of a, b, c is set", "{}"},
		{"swapped values", typedSchema + strings.NewReplacer("'A'", "'B'", "'B'", "'A'").Replace(pairs), typed,
			`rejected by !(has(self.a) && (!has(self.type) || self.type != 'B')): a is set and type is 'A'
rejected by !(!has(self.b) && has(self.type) && self.type == 'A'): a is set and type is 'A'
rejected by !(!has(self.a) && has(self.type) && self.type == 'B'): b is set and type is 'B'
rejected by !(has(self.b) && (!has(self.type) || self.type != 'A')): b is set and type is 'B'
accepted: a is set while type is 'B'; b is not set while type is 'B'
accepted: a is not set while type is 'A'; b is set while type is 'A'`, ""},
		{"optional member required", typedSchema + pairs, "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a]}]",
			"rejected by !(!has(self.a) && has(self.type) && self.type == 'A'): no member is set and type is 'A'", "{type: A}"},
		{"a member without rules", typedSchema + strings.Join(strings.Split(pairs, "\n")[:4], "\n"), typed,
			"accepted: b is not set while type is 'B'\naccepted: b is set while type is unset", "{type: B}"},
		{"error when the discriminator is absent", typedSchema + "x-kubernetes-validations:\n- rule: \"self.type == 'A' ? has(self.a) : !has(self.a)\"\n- rule: \"has(self.b) == (has(self.type) && self.type == 'B')\"", typed,
			"rejected by self.type == 'A' ? has(self.a) : !has(self.a): no member is set and type is unset", "{}"},
		{"change forgotten", typedSchema + pairs + "- rule: \"!has(oldSelf.type) || has(self.type)\"", frozen,
			"update accepted: type changes from 'A' to 'B'", "{a: {x: x}, type: A} -> {b: aa, type: B}"},
		{"a member without rules, and one to be cleared", typedSchema + `x-kubernetes-validations:
- rule: "has(self.b) == (has(self.type) && self.type == 'B')"
- rule: "!(has(oldSelf.type) && oldSelf.type == 'B' && has(self.type) && self.type == 'A') || !has(self.b)"`, "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a]}]",
			`accepted: a is set while type is unset
update accepted: a is set while type is unset; type changes from 'A' to unset, but a is not cleared`, ""},
		{"unsetting forgotten", typedSchema + pairs + "- rule: \"!has(oldSelf.type) || !has(self.type) || self.type == oldSelf.type\"", frozen,
			"update accepted: type changes from 'A' to unset", "{a: {x: x}, type: A} -> {}"},
		{"change forbidden too much", typedSchema + pairs + "- rule: \"has(oldSelf.type) == has(self.type) && (!has(self.type) || self.type == oldSelf.type)\"", frozen,
			"update rejected by has(oldSelf.type) == has(self.type) && (!has(self.type) || self.type == oldSelf.type): a is set and type is 'A' (before: no member is set and type is unset)", "{} -> {a: {x: x}, type: A}"},
		{"immutable as a whole", typedSchema + pairs + "- rule: self == oldSelf", frozen,
			"update rejected by self == oldSelf: a is set and type is 'A' (before: no member is set and type is unset)", ""},
		{"static rule merged with a transition", plainSchema + "x-kubernetes-validations: [{rule: 'has(oldSelf.a) || (has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1'}]", plain,
			"accepted: a and b are set together", "{a: {x: x}, b: aa}"},
		{"ratchet forgotten", plainSchema + "x-kubernetes-validations: [{rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1'}]", "[{members: [a, b, c], ratchet: true}]",
			"update rejected by (has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1: a and b are set (before: a and b are set)", ""},
		{"oneOf forbids none", plainSchema + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]", plain,
			"rejected by oneOf: no member is set", "{}"},
		{"maxProperties counts the discriminator", typedSchema + "maxProperties: 1" + pairs, typed,
			"rejected by maxProperties: 1: a is set and type is 'A'", "{a: {x: x}, type: A}"},
		{"unguarded holder", nestedSchema + `x-kubernetes-validations:
- rule: "has(self.a) == (has(self.platform.type) && self.platform.type == 'A')"
- rule: "has(self.b) == (has(self.platform) && has(self.platform.type) && self.platform.type == 'B')"`, elsewhere,
			"rejected by has(self.a) == (has(self.platform.type) && self.platform.type == 'A'): no member is set and platform.type is unset", "{}"},
		{"unguarded discriminator in a holder", nestedSchema + `x-kubernetes-validations:
- rule: "has(self.a) == (has(self.platform) && self.platform.type == 'A')"
- rule: "has(self.b) == (has(self.platform) && has(self.platform.type) && self.platform.type == 'B')"`, elsewhere,
			"rejected by has(self.a) == (has(self.platform) && self.platform.type == 'A'): no member is set and platform.type is unset", "{platform: {region: aa}}"},
		{"discriminator in a holder forgotten", nestedSchema + `x-kubernetes-validations:
- rule: "!has(self.a) || (has(self.platform) && has(self.platform.type) && self.platform.type == 'A')"
- rule: "has(self.b) == (has(self.platform) && has(self.platform.type) && self.platform.type == 'B')"`, elsewhere,
			"accepted: a is not set while platform.type is 'A'", "{platform: {region: aa, type: A}}"},
		{"an item of two keys forgotten", keyed + "x-kubernetes-validations: [{rule: \"self.filter(c, c.port == 80 && c.up).size() <= 1\"}]", "[{members: [{port: 80, up: true}, {port: 443, up: false}]}]",
			"accepted: 80/true and 443/false are set together", "[{port: 443, up: false}, {port: 80, up: true}]"},
		{"other items counted, too", listed + "x-kubernetes-validations: [{rule: \"self.filter(c, c.type != 'C').size() < 1\"}]", "[{members: [{type: A}, {type: B}]}]",
			"rejected by self.filter(c, c.type != 'C').size() < 1: A is set\nrestricted by self.filter(c, c.type != 'C').size() < 1, which also reads other items", "[{type: A}]"},
		{"an item forgotten", listed + "x-kubernetes-validations: [{rule: \"self.filter(c, c.type in ['A', 'B']).size() <= 1\"}]", "[{members: [{type: A}, {type: B}, {type: C}]}]",
			"accepted: A and C are set together", "[{type: A}, {type: C}]"},
		{"null counts as present", strings.Replace(plainSchema, "b: {", "b: {nullable: true, ", 1) + "maxProperties: 1", plain,
			"rejected by maxProperties: 1: a is set", "{a: {x: x}, b: null}"},
		{"an enum rejects null", strings.Replace(typedSchema, "[A, B]}", "[A, B, null], nullable: true, default: A}", 1) + `x-kubernetes-validations:
- rule: "!has(self.type) || has(self.a) == (self.type == 'A')"
- rule: "!has(self.type) || has(self.b) == (self.type == 'B')"`, typed, "", ""},
		{"empty string counts as a value", strings.Replace(typedSchema, "[A, B]", "[A, B, '']", 1) + strings.ReplaceAll(pairs, "!(has(self.a) && (!has(self.type) || self.type != 'A'))", "!has(self.a) || has(self.type) && self.type in ['A', '']"), typed,
			"accepted: a is set while type is unset", "{a: {x: x}, type: \"\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := proofs(t, tt.spec, tt.declaration)[0]
			if got := summary(p); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if tt.example != "" && len(p.Differences()) > 0 {
				if got := example(t, p.Differences()[0].Example); got != tt.example {
					t.Errorf("example %s, want %s", got, tt.example)
				}
			}
		})
	}
}

// TestNotes tests that rules are noted if they read more of an optional oldSelf than its presence.
func TestNotes(t *testing.T) {
	const sum = "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1"
	for rule, want := range map[string]bool{
		"!oldSelf.hasValue() || " + sum: false,
		sum:                             false,
		"(oldSelf.hasValue() && has(oldSelf.value().a) && has(oldSelf.value().b)) || " + sum: true,
		"oldSelf.?a.hasValue() || " + sum:                                                                   true,
		"oldSelf.optMap(o, has(o.a)).orValue(false) || " + sum:                                              true,
		"[oldSelf].exists(o, o.hasValue() && has(o.value().a)) || " + sum:                                   true,
		"['x'].exists(oldSelf, oldSelf == 'y') || " + sum:                                                   false,
		"oldSelf.or(optional.none()).hasValue() || " + sum:                                                  true,
		"has(self.c) == (oldSelf.hasValue() ? has(self.c) : has(self.c)) && (" + sum + ")":                  false,
		"oldSelf.hasValue() && oldSelf.value().c == 1 ? true : (" + sum + ") || size(oldSelf.?b.value())>9": true,
	} {
		p := proofs(t, plainSchema+"x-kubernetes-validations: [{optionalOldSelf: true, rule: \""+rule+"\"}]", plain)[0]
		if got := len(p.OfKind(verify.Noted)) == 1; got != want || got && !strings.Contains(p.OfKind(verify.Noted)[0].Text, "properties[spec] differently") {
			t.Errorf("%s: %+v", rule, p.Findings)
		}
	}
	p := proofs(t, plainSchema+"x-kubernetes-validations: [{rule: 'has(oldSelf.a) || "+sum+"'}]", plain)[0]
	if len(p.OfKind(verify.Noted)) > 0 {
		t.Errorf("oldSelf is not optional: %+v", p.Findings)
	}
}

// example prints the specs of an example.
func example(t testing.TB, d verify.Example) string {
	t.Helper()
	short := func(resource map[string]any) string {
		if resource["apiVersion"] != "example.com/v1" || resource["kind"] != "Widget" || resource["metadata"] == nil {
			t.Errorf("no whole resource: %v", resource)
		}
		return flow(t, resource["spec"])
	}
	if d.Old == nil {
		return short(d.New)
	}
	return short(d.Old) + " -> " + short(d.New)
}

// flow prints a value as YAML on one line.
func flow(t testing.TB, v any) string {
	t.Helper()
	var l []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			l = append(l, name+": "+flow(t, v[name]))
		}
		return "{" + strings.Join(l, ", ") + "}"
	case []any:
		for _, item := range v {
			l = append(l, flow(t, item))
		}
		return "[" + strings.Join(l, ", ") + "]"
	}
	data, err := sigsyaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// TestMessages tests that findings include the server's messages and the evaluation errors of
// rules.
func TestMessages(t *testing.T) {
	p := proofs(t, plainSchema+"x-kubernetes-validations: [{rule: '!has(self.a)', message: no a, messageExpression: \"'never a, but ' + self.a.x\"}, {rule: 'self.b != \"zz\"'}]", plain)[0]
	var got []string
	for _, d := range p.Differences() {
		if d.Kind == verify.Rejected {
			got = append(got, d.Message, d.RuleAt)
		}
	}
	want := "the rule fails to evaluate: no such key: b|spec.versions[0].schema.openAPIV3Schema.properties[spec]|never a, but x|spec.versions[0].schema.openAPIV3Schema.properties[spec]"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q\n%s", got, summary(p))
	}
}

// TestFaultsOfLarge tests that faults of large unions are found at any position.
func TestFaultsOfLarge(t *testing.T) {
	plainRule := func(except string) string {
		var sum []string
		for i := range 16 {
			sum = append(sum, fmt.Sprintf("(has(self.member%02d) ? 1 : 0)", i))
		}
		return strings.Join(sum, " + ") + " <= 1" + except
	}
	crd, unions := large(t, 16, false, "", compile.Compact)
	check := func(rule, want string) {
		t.Helper()
		setRules(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, []string{"properties", "spec"}, apiextensionsv1.ValidationRules{{Rule: rule}})
		l, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), unions)
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(l[0]); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	check(plainRule(""), "")
	check(plainRule(" || has(self.member01) && has(self.member05) && has(self.member10) && has(self.member15)"),
		"accepted: member01, member05, member10 and member15 are set together")

	crd, unions = large(t, 16, true, "discriminatorChange: Forbid", compile.Fine)
	rules := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, []string{"properties", "spec"}).XValidations
	last := &rules[len(rules)-1]
	if !strings.Contains(last.Rule, "oldSelf.type") {
		t.Fatal(last.Rule)
	}
	last.Rule = "(" + last.Rule + ") || oldSelf.type == 'Value03' && self.type == 'Value11'"
	l, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), unions)
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(l[0]); got != "update accepted: type changes from 'Value03' to 'Value11'" {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	crd := crdWith(t, plainSchema)
	steps := []string{"properties", "spec"}
	unions := unionsOf(t, plain, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
	tests := []struct {
		version int
		steps   []string
		want    string
	}{
		{1, steps, "the CRD has 1 versions, there is none at index 1"},
		{0, []string{"properties", "nope"}, "spec.versions[0].schema.openAPIV3Schema has no properties.nope"},
		{0, []string{"items"}, "spec.versions[0].schema.openAPIV3Schema has no items"},
		{0, nil, `spec.versions[0].schema.openAPIV3Schema has no property "a", a member`},
	}
	for _, tt := range tests {
		if _, err := verify.Object(context.Background(), crd, tt.version, pathOf(tt.steps), unions); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %s", tt.steps, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := verify.Object(ctx, crd, 0, pathOf(steps), unions); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
