package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// constraintsOn returns all constraints of a schema.
func constraintsOn(s *apiextensionsv1.JSONSchemaProps) []verify.Constraint {
	var l []verify.Constraint
	for i := range s.XValidations {
		l = append(l, verify.Constraint{Key: "x-kubernetes-validations", Index: i})
	}
	for i := range s.AllOf {
		l = append(l, verify.Constraint{Key: "allOf", Index: i})
	}
	for key, there := range map[string]bool{
		"anyOf": len(s.AnyOf) > 0, "oneOf": len(s.OneOf) > 0, "not": s.Not != nil,
		"minProperties": s.MinProperties != nil, "maxProperties": s.MaxProperties != nil,
	} {
		if there {
			l = append(l, verify.Constraint{Key: key})
		}
	}
	return l
}

// compareAll compares a union with all constraints of the schema at the path steps below spec.
func compareAll(t testing.TB, spec, declaration string, steps ...string) (verify.Comparison, *union.Union) {
	t.Helper()
	crd := crdWith(t, spec)
	steps = append([]string{"properties", "spec"}, steps...)
	s := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps)
	u := unionsOf(t, declaration, s)[0]
	c, err := verify.Compare(context.Background(), crd, 0, pathOf(steps), u, constraintsOn(s))
	if err != nil {
		t.Fatal(err)
	}
	return c, u
}

// verdict prints a comparison with short examples, one finding per line.
func verdict(t testing.TB, c verify.Comparison, u *union.Union) string {
	t.Helper()
	l := []string{string(c.Verdict)}
	for _, d := range []*verify.Finding{c.Tighter, c.Looser} {
		if d == nil {
			continue
		}
		kind := "loosens: "
		if d.Kind == verify.Accepted {
			kind = "tightens: "
		}
		l = append(l, kind+d.Words(u)+": "+example(t, d.Example))
	}
	for _, s := range c.Inconclusive {
		l = append(l, "inconclusive: "+s)
	}
	return strings.Join(l, "\n")
}

func rule(text string) string { return fmt.Sprintf("- rule: %q\n", text) }

// Schemas for comparisons. Tests append constraints.
const (
	compareTyped = `
type: object
properties:
  type: {type: string, enum: [A, B]}
  a: {type: object, properties: {x: {type: string}}}
  b: {type: string}
`
	comparePlain = `
type: object
properties:
  a: {type: object, properties: {x: {type: string}}}
  b: {type: string}
  c: {type: integer}
`
	compareMode     = comparePlain + "  mode: {type: string}\n"
	compareNullable = `
type: object
properties:
  a: {type: string, nullable: true}
  b: {type: string}
`
	rulesKey        = "x-kubernetes-validations:\n"
	needsType       = "required: [type]\n"
	optionalA       = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a]}]"
	selectedTyped   = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, cardinality: ExactlyOne}]"
	atLeast         = "[{members: [a, b, c], cardinality: AtLeastOne}]"
	two             = "[{members: [a, b]}]"
	exactlyTwo      = "[{members: [a, b], cardinality: ExactlyOne}]"
	emptyTwo        = "[{members: [a, b], emptyIsUnset: [b]}]"
	deduced         = "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true}]"
	conditionalA    = "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)"
	conditionalB    = "has(self.type) && self.type == 'B' ? has(self.b) : !has(self.b)"
	optionalCondA   = "has(self.type) && self.type == 'A' ? true : !has(self.a)"
	countTernary    = "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) "
	countFilter     = "[has(self.a), has(self.b), has(self.c)].filter(x, x == true).size() "
	gatewayNeedless = "!(has(self.a) && self.type != 'A')"
	inSpec          = "spec.versions[0].schema.openAPIV3Schema.properties[spec]"
)

// gateway has the Gateway API's pairs of rules on a required discriminator.
var gateway = rule("!(has(self.a) && self.type != 'A')") + rule("!(!has(self.a) && self.type == 'A')") +
	rule("!(has(self.b) && self.type != 'B')") + rule("!(!has(self.b) && self.type == 'B')")

// TestEquivalent tests that common hand-written forms are equivalent to their unions.
func TestEquivalent(t *testing.T) {
	tests := []struct{ name, spec, declaration string }{
		{"sum, at most", comparePlain + rulesKey + rule(countTernary+"<= 1"), plain},
		{"sum, exactly", comparePlain + rulesKey + rule(countTernary+"== 1"), exactly},
		{"sum, at least", comparePlain + rulesKey + rule(countTernary+">= 1"), atLeast},
		{"filter, at most", comparePlain + rulesKey + rule(countFilter+"<= 1"), plain},
		{"filter, exactly", comparePlain + rulesKey + rule(countFilter+"== 1"), exactly},
		{"filter, at least", comparePlain + rulesKey + rule(countFilter+">= 1"), atLeast},
		{"beside another property", compareMode + rulesKey + rule(countFilter+"== 1"), exactly},
		{"exactly, in two rules", comparePlain + rulesKey + rule(countTernary+"<= 1") + rule("has(self.a) || has(self.b) || has(self.c)"), exactly},

		{"Gateway API", compareTyped + needsType + rulesKey + gateway, typed},
		{"Gateway API, a member optional", compareTyped + needsType + rulesKey + strings.Replace(gateway, rule("!(!has(self.a) && self.type == 'A')"), "", 1), optionalA},
		{"Gateway API, guarded", typedSchema + strings.TrimPrefix(pairs, "\n"), typed},
		{"OpenShift", compareTyped + needsType + rulesKey + rule(conditionalA) + rule(conditionalB), typed},
		{"OpenShift, discriminator not required", compareTyped + rulesKey + rule(conditionalA) + rule(conditionalB), typed},
		{"OpenShift, optional", compareTyped + needsType + rulesKey + rule(optionalCondA) + rule(conditionalB), optionalA},
		{"OpenShift, optional, discriminator not required", compareTyped + rulesKey + rule(optionalCondA) + rule(conditionalB), optionalA},
		{"discriminator must be set", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(conditionalA) + rule(conditionalB) + rule("has(self.type)") + rule("!has(self.type) || self.type != ''"), selectedTyped},
		{"deduced", compareTyped + rulesKey + rule("!has(self.type) || "+gatewayNeedless) + rule("!has(self.type) || self.type != 'A' || has(self.a)") +
			rule("!has(self.type) || (has(self.b) == (self.type == 'B'))") + rule("has(self.type) || !(has(self.a) && has(self.b))"), deduced},
		{"any string", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(conditionalA) + rule(conditionalB), typed},

		{"oneOf", comparePlain + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]", exactly},
		{"oneOf beside another property", compareMode + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]", exactly},
		{"oneOf or none", comparePlain + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}, {not: {anyOf: [{required: [a]}, {required: [b]}, {required: [c]}]}}]", plain},
		{"oneOf with discriminator", compareTyped + needsType + "oneOf: [{properties: {type: {enum: [A]}}, required: [a], not: {required: [b]}}, {properties: {type: {enum: [B]}}, required: [b], not: {required: [a]}}]", typed},
		{"oneOf with discriminator, false schemas", compareTyped + needsType + "oneOf: [{properties: {type: {enum: [A]}, b: {not: {}}}, required: [a]}, {properties: {type: {enum: [B]}, a: {not: {}}}, required: [b]}]", typed},
		{"anyOf of false schemas", comparePlain + "anyOf: [{properties: {b: {not: {}}}}, {properties: {a: {not: {}}}}]", two},
		{"anyOf", comparePlain + "anyOf: [{required: [a]}, {required: [b]}, {required: [c]}]", atLeast},
		{"anyOf beside another property", compareMode + "anyOf: [{required: [a]}, {required: [b]}, {required: [c]}]", atLeast},
		{"not", compareNullable[:strings.Index(compareNullable, "  a:")] + "  a: {type: string}\n  b: {type: string}\nnot: {required: [a, b]}", two},
		{"allOf", comparePlain + "allOf: [{not: {required: [a, b]}}, {not: {required: [a, c]}}, {not: {required: [b, c]}}]", plain},
		{"allOf of rules", comparePlain + "allOf: [{not: {required: [a, b]}}, {x-kubernetes-validations: [{rule: '!has(self.c) || !(has(self.a) || has(self.b))'}]}]", plain},
		{"maxProperties", comparePlain + "maxProperties: 1", plain},
		{"minProperties", comparePlain + "minProperties: 1", atLeast},
		{"both", comparePlain + "maxProperties: 1\nminProperties: 1", exactly},
		{"both beside what is required", compareMode + "required: [mode]\nmaxProperties: 2\nminProperties: 2", exactly},
		{"both beside what has a default", strings.Replace(compareMode, "mode: {", "mode: {default: x, ", 1) + "maxProperties: 2\nminProperties: 2", exactly},
		{"of several kinds", comparePlain + "minProperties: 1\n" + rulesKey + rule(countTernary+"== 1"), exactly},

		{"nullable, by rules", compareNullable + rulesKey + rule("!(has(self.a) && has(self.b))"), two},
		{"empty counts as unset", compareNullable + rulesKey + rule("!(has(self.a) && has(self.b) && self.b != '')"), emptyTwo},
		{"empty counts as unset, by size", compareNullable + rulesKey + rule("(has(self.a) ? 1 : 0) + (has(self.b) && size(self.b) > 0 ? 1 : 0) <= 1"), emptyTwo},
		{"two empty members", compareNullable + rulesKey + rule("!(has(self.a) && self.a.size() > 0 && has(self.b) && self.b != '')"), "[{members: [a, b], emptyIsUnset: [a, b]}]"},
		{"a union that forbids nothing", comparePlain + rulesKey + rule("true"), "[{members: [a]}]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, u := compareAll(t, tt.spec, tt.declaration)
			if got := verdict(t, c, u); got != "equivalent" {
				t.Error(got)
			}
		})
	}
}

// TestNearMisses compares almost equivalent constraints, and asserts the smallest example.
func TestNearMisses(t *testing.T) {
	tests := []struct{ name, spec, declaration, want string }{
		{"exactly for at most", comparePlain + rulesKey + rule(countTernary+"== 1"), plain, "looser\nloosens: no member is set: {}"},
		{"at most for exactly", comparePlain + rulesKey + rule(countFilter+"<= 1"), exactly, "tighter\ntightens: none of a, b, c is set: {}"},
		{"off by one", comparePlain + rulesKey + rule(countFilter+"<= 2"), plain, "tighter\ntightens: a and b are set together: {a: {}, b: a}"},
		{"a member less", comparePlain + rulesKey + rule("!(has(self.a) && has(self.b))"), plain, "tighter\ntightens: a and c are set together: {a: {}, c: 1}"},
		{"a member more", compareMode + rulesKey + rule("(has(self.mode) ? 1 : 0) + "+countTernary+"<= 1"), plain,
			"looser\nloosens: a is set (mode is 'a'): {a: {}, mode: a}"},
		{"a pair less", compareTyped + needsType + rulesKey + strings.Replace(gateway, rule("!(has(self.b) && self.type != 'B')"), "", 1), typed,
			"tighter\ntightens: b is set while type is 'A': {a: {}, b: a, type: A}"},
		{"a required pair less", compareTyped + needsType + rulesKey + strings.Replace(gateway, rule("!(!has(self.b) && self.type == 'B')"), "", 1), typed,
			"tighter\ntightens: b is not set while type is 'B': {type: B}"},
		{"unguarded", compareTyped + rulesKey + gateway, typed,
			"looser\nloosens: no member is set and type is unset: {}"},
		{"unguarded, after a guard elsewhere", compareTyped + rulesKey + rule("has(self.type)") + gateway, selectedTyped, "equivalent"},
		{"another literal", compareTyped + needsType + rulesKey + strings.Replace(gateway, "!has(self.b) && self.type == 'B'", "!has(self.b) && self.type == 'b'", 1), typed,
			"tighter\ntightens: b is not set while type is 'B': {type: B}"},
		{"another literal, any string", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(conditionalA) + rule(strings.Replace(conditionalB, "'B'", "'b'", 1)), typed,
			"different\ntightens: b is not set while type is 'B': {type: B}\nloosens: no member is set and type is 'b': {type: b}"},
		{"not optional", compareTyped + rulesKey + rule(conditionalA) + rule(conditionalB), optionalA, "looser\nloosens: no member is set and type is 'A': {type: A}"},
		{"optional", compareTyped + rulesKey + rule(optionalCondA) + rule(conditionalB), typed, "tighter\ntightens: a is not set while type is 'A': {type: A}"},
		{"swapped", compareTyped + needsType + rulesKey + strings.NewReplacer("'A'", "'B'", "'B'", "'A'").Replace(gateway), typed,
			"different\ntightens: a is set while type is 'B'; b is not set while type is 'B': {a: {}, type: B}\nloosens: a is set and type is 'A': {a: {}, type: A}"},
		{"a sibling as well", compareMode + rulesKey + rule("(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1 && (!has(self.mode) || self.mode != 'off')"), plain,
			"looser\nloosens: no member is set (mode is 'off'): {mode: \"off\"}"},
		{"a sibling in the way", compareMode + rulesKey + rule("has(self.mode) || !(has(self.a) && has(self.b))") + rule("!(has(self.a) && has(self.c))") + rule("!(has(self.b) && has(self.c))"), plain,
			"tighter\ntightens: a and b are set together (mode is 'a'): {a: {}, b: a, mode: a}"},
		{"a sibling that nothing was found for", compareMode + rulesKey + rule(countTernary+"<= 1 && (!has(self.mode) || self.mode.size() < 5000)"), plain,
			"inconclusive\ninconclusive: rule \"(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1 && (!has(self.mode) || self.mode.size() < 5000)\" at " + inSpec + " reads mode: no object was found that it rejects while no member is set"},
		{"something else only", compareMode + rulesKey + rule(countTernary+"<= 1") + rule("!has(self.mode) || self.mode != 'off'"), plain,
			"looser\nloosens: no member is set (mode is 'off'): {mode: \"off\"}"},
		{"nothing but false", compareMode + rulesKey + rule("false"), plain,
			"looser\nloosens: no member is set: {}"},
		{"what is in a member", comparePlain + rulesKey + rule(countTernary+"<= 1") + rule("!has(self.b) || self.b != ''"), plain,
			"looser\nloosens: b is set (b is ''): {b: \"\"}"},
		{"empty is not unset", compareNullable + rulesKey + rule("!(has(self.a) && has(self.b))"), emptyTwo,
			"looser\nloosens: a is set (b is ''): {a: a, b: \"\"}"},
		{"empty is unset", compareNullable + rulesKey + rule("!(has(self.a) && has(self.b) && self.b != '')"), two,
			"tighter\ntightens: a and b are set together (b is ''): {a: a, b: \"\"}"},
		{"both empty", compareNullable + "  c: {type: string}\n" + rulesKey + rule("!(has(self.a) && has(self.b) && has(self.c))") +
			rule("!(has(self.a) && self.a != '' && has(self.b) && self.b != '')") + rule("!(has(self.a) && self.a != '' && has(self.c) && self.c != '')") + rule("!(has(self.b) && self.b != '' && has(self.c) && self.c != '')"),
			"[{members: [a, b, c], emptyIsUnset: [a, b, c]}]",
			"looser\nloosens: no member is set (a is '', b is '' and c is ''): {a: \"\", b: \"\", c: \"\"}"},
		{"oneOf, at most", comparePlain + "oneOf: [{required: [a]}, {required: [b]}, {required: [c]}]", plain, "looser\nloosens: no member is set: {}"},
		{"oneOf and null", compareNullable + "oneOf: [{required: [a]}, {required: [b]}]", exactlyTwo,
			"different\ntightens: none of a, b is set (a is null): {a: null}\nloosens: b is set (a is null): {a: null, b: a}"},
		{"not and two nulls", strings.Replace(compareNullable, "b: {", "b: {nullable: true, ", 1) + "  c: {type: string}\nnot: {required: [a, b, c]}\n" + rulesKey +
			rule("!(has(self.a) && has(self.b))") + rule("!(has(self.a) && has(self.c))") + rule("!(has(self.b) && has(self.c))"), plain,
			"looser\nloosens: c is set (a is null and b is null): {a: null, b: null, c: a}"},
		{"anyOf and null, made good by a rule", strings.Replace(compareNullable, "b: {", "b: {nullable: true, ", 1) + "anyOf: [{required: [a]}, {required: [b]}]\n" + rulesKey + rule("has(self.a) != has(self.b)"), exactlyTwo,
			"equivalent"},
		{"maxProperties and null", compareNullable + "maxProperties: 1", two,
			"looser\nloosens: b is set (a is null): {a: null, b: a}"},
		{"maxProperties and another property", compareMode + "maxProperties: 1", plain,
			"looser\nloosens: a is set (mode is 'a'): {a: {}, mode: a}"},
		{"maxProperties and many others", comparePlain + "  d: {type: string}\n  e: {type: string}\n  f: {type: string}\n  g: {type: string}\n  h: {type: string}\nmaxProperties: 5\n" + rulesKey + rule(countTernary+"<= 1"), plain,
			"looser\nloosens: a is set (d is 'a', e is 'a', f is 'a', g is 'a' and h is 'a'): {a: {}, d: a, e: a, f: a, g: a, h: a}"},
		{"maxProperties that is never reached", comparePlain + "  d: {type: string}\n  e: {type: string}\n  f: {type: string}\n  g: {type: string}\n  h: {type: string}\nmaxProperties: 6\n" + rulesKey + rule(countTernary+"<= 1"), plain, "equivalent"},
		{"minProperties and another property", compareMode + "minProperties: 1", atLeast,
			"tighter\ntightens: none of a, b, c is set (mode is 'a'): {mode: a}"},
		{"maxProperties and unknown properties", comparePlain + "x-kubernetes-preserve-unknown-fields: true\nmaxProperties: 1", plain,
			"inconclusive\ninconclusive: maxProperties: 1 at " + inSpec + " reads the object as a whole: no object was found that it accepts while a and b are set"},
		{"a rule that reads oldSelf", comparePlain + rulesKey + rule(countTernary+"<= 1") + rule("!has(oldSelf.a) || has(self.a)"), plain,
			"looser\nloosens: no member is set (before: a is set): {a: {}} -> {}"},
		{"ratchet", comparePlain + rulesKey + rule(countTernary+"<= 1"), "[{members: [a, b, c], ratchet: true}]",
			"looser\nloosens: a and b are set (before: a and b are set) (b is ''): {a: {}, b: a} -> {a: {}, b: \"\"}"},
		{"changes are not compared", compareTyped + needsType + rulesKey + gateway, frozen, "equivalent"},
		{"changes on the one side only", compareTyped + needsType + rulesKey + gateway + rule("self.type == oldSelf.type"), frozen,
			"looser\nloosens: b is set and type is 'B' (before: a is set and type is 'A'): {a: {}, type: A} -> {b: a, type: B}"},
		{"startsWith", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(strings.Replace(conditionalA, "self.type == 'A'", "self.type.startsWith('A')", 1)) + rule(conditionalB), typed,
			"different\ntightens: a is set while type is 'Ax': {a: {}, type: Ax}\nloosens: no member is set and type is 'Ax': {type: Ax}"},
		{"matches", strings.Replace(compareTyped, ", enum: [A, B]", "", 1) + rulesKey + rule(strings.Replace(conditionalA, "self.type == 'A'", "self.type.matches('^(A|LEGACY[0-9]{7})$')", 1)) + rule(conditionalB), typed,
			"inconclusive\ninconclusive: rule \"has(self.type) && self.type.matches('^(A|LEGACY[0-9]{7})$') ? has(self.a) : !has(self.a)\" at " + inSpec + " reads type: no object was found that it accepts while a is set and type is something else"},
		{"broken", comparePlain + rulesKey + rule(countTernary+"<= 1") + rule("has(self.nope)"), plain,
			"inconclusive\ninconclusive: rule \"has(self.nope)\" at " + inSpec + ": the rule does not compile: ERROR: <input>:1:4: undefined field 'nope'"},
		{"no CEL", comparePlain + rulesKey + rule(countTernary+"<= 1") + rule("has(self."), plain,
			"inconclusive\ninconclusive: rule \"has(self.\" at " + inSpec + ": the rule is not CEL: ERROR: <input>:1:5: invalid argument to has() macro"},
		{"no constraint", comparePlain, plain, "tighter\ntightens: a and b are set together: {a: {}, b: a}"},
		{"an impossible member", strings.Replace(comparePlain, "b: {type: string", "b: {type: string, minLength: 3, maxLength: 2", 1) + rulesKey + rule(countTernary+"<= 1"), plain,
			"equivalent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, u := compareAll(t, tt.spec, tt.declaration)
			if got := verdict(t, c, u); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestCompareUnresolved compares a union that was not resolved against the schema.
func TestCompareUnresolved(t *testing.T) {
	crd := crdWith(t, strings.Replace(compareTyped, ", enum: [A, B]", "", 1)+rulesKey+rule(conditionalA))
	u := &union.Union{Discriminator: "type", Cardinality: union.AtMostOne, Members: []union.Member{{Name: "a", Values: []string{"A"}}, {Name: "b", Values: []string{"B"}, Optional: []string{"B"}}}}
	c, err := verify.Compare(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), u, []verify.Constraint{{Key: "x-kubernetes-validations"}})
	if got, want := verdict(t, c, u), "tighter\ntightens: b is set while type is unset: {b: a}"; err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	u.Members[1].Optional = nil
	crd = crdWith(t, strings.Replace(compareTyped, ", enum: [A, B]", "", 1)+rulesKey+rule(conditionalA)+rule("!has(self.b) || has(self.type) && self.type != ''"))
	c, err = verify.Compare(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), u, []verify.Constraint{{Key: "x-kubernetes-validations"}, {Key: "x-kubernetes-validations", Index: 1}})
	if got := verdict(t, c, u); err != nil || !strings.Contains(got, "{type: B}") || u.Values != nil {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestCompareErrors(t *testing.T) {
	crd := crdWith(t, comparePlain+rulesKey+rule(countTernary+"<= 1"))
	steps := []string{"properties", "spec"}
	u := unionsOf(t, plain, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))[0]
	first := verify.Constraint{Key: "x-kubernetes-validations"}
	tests := []struct {
		name        string
		steps       []string
		u           *union.Union
		constraints []verify.Constraint
		want        string
	}{
		{"no union", steps, nil, nil, "there is no union to compare with"},
		{"no such schema", []string{"properties", "nope"}, u, nil, "spec.versions[0].schema.openAPIV3Schema has no properties.nope"},
		{"no such rule", steps, u, []verify.Constraint{{Key: "x-kubernetes-validations", Index: 1}}, inSpec + " has no x-kubernetes-validations[1] to compare"},
		{"negative", steps, u, []verify.Constraint{{Key: "allOf", Index: -1}}, inSpec + " has no allOf[-1] to compare"},
		{"no such key", steps, u, []verify.Constraint{{Key: "oneOf"}}, inSpec + " has no oneOf to compare"},
		{"unknown key", steps, u, []verify.Constraint{{Key: "enum"}}, inSpec + " has no enum to compare"},
		{"twice", steps, u, []verify.Constraint{first, first}, "x-kubernetes-validations[0] of " + inSpec + " is given twice"},
		{"no such member", steps, &union.Union{Members: []union.Member{{Name: "nope"}}, Cardinality: union.AtMostOne}, nil, inSpec + ` has no property "nope", a member`},
		{"no such discriminator", steps, &union.Union{Discriminator: "nope", Members: []union.Member{{Name: "a"}}, Cardinality: union.AtMostOne}, nil, inSpec + ` has no property "nope", the discriminator`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := verify.Compare(context.Background(), crd, 0, pathOf(tt.steps), tt.u, tt.constraints); err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := verify.Compare(ctx, crd, 0, pathOf(steps), u, []verify.Constraint{first}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
