package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestSteps tests that a proof is inconclusive, and no error, if it takes too many steps.
func TestSteps(t *testing.T) {
	crd := crdWith(t, "type: object\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: string}}\n"+rulesKey+rule(conditionalA))
	steps := []string{"properties", "spec"}
	unions := unionsOf(t, typed, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
	proofs, err := verify.Object(logic.WithSteps(t.Context(), 1000), crd, 0, pathOf(steps), unions)
	if err != nil || len(proofs) != 1 || proofs[0].Proved() || proofs[0].Findings[0].Text != "the search exceeds --limit steps=1000" {
		t.Errorf("%+v, %v", proofs, err)
	}
}

// TestInconclusive proves rules that do not compile or have no known accepted object: they are
// neither proved nor differences. Rules that also depend on other properties are restrictions.
func TestInconclusive(t *testing.T) {
	const sum = "\nx-kubernetes-validations:\n- rule: '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1'\n"
	const at = "spec.versions[0].schema.openAPIV3Schema.properties[spec]"
	schema := func(a string) string {
		return "type: object\nproperties:\n  a: " + a + "\n  b: {type: object, properties: {x: {type: integer}}}\n  mode: {type: string}\n"
	}
	tests := []struct{ name, spec, want string }{
		{"contradictory pattern", schema("{type: string, minLength: 3, pattern: '^x$'}") + sum, ""},
		{"contradictory lengths", schema("{type: string, minLength: 2, maxLength: 1, enum: ['']}") + sum, ""},
		{"contradictory values", schema("{type: string, minLength: 2, enum: [x, z]}") + sum, ""},
		{"contradictory long value", schema("{type: string, pattern: '^b$', enum: ["+strings.Repeat("a", 100)+"]}") + sum, ""},
		{"contradictory bounds", schema("{type: integer, minimum: 1, maximum: 0, enum: [0]}") + sum, ""},
		{"contradictory enum in a required property", schema("{type: object, required: [req], properties: {req: {type: string, enum: [z], maxLength: 0}}}") + sum, ""},
		{"a member's own rule", schema("{type: object, x-kubernetes-validations: [{rule: 'false'}]}") + sum, ""},
		{"no way to satisfy a rule", schema("{type: string}") + sum + "- rule: \"!has(self.b) || has(self.mode) && self.mode.size() > 100000\"",
			`inconclusive: rule "!has(self.b) || has(self.mode) && self.mode.size() > 100000" at ` + at + " reads mode: no object was found that it accepts while b is set"},
		{"no way to satisfy a rule on what is in a member", schema("{type: string}") + sum + "- rule: '!has(self.b) || has(self.b.x) && self.b.x * 7 == 864199'",
			`inconclusive: rule "!has(self.b) || has(self.b.x) && self.b.x * 7 == 864199" at ` + at + " reads b.x: no object was found that it accepts while b is set"},
		{"the only value of a member", schema("{type: string, enum: [only]}") + sum + "- rule: \"!has(self.a) || self.a != 'only'\"",
			"rejected by !has(self.a) || self.a != 'only': a is set"},
		{"something else must change", schema("{type: string}") + sum + "- rule: self != oldSelf",
			"restricted by self != oldSelf, which also reads the object as a whole"},
		{"a rule that does not compile", schema("{type: string}") + sum + "- rule: has(self.a) && self.nope",
			`inconclusive: rule "has(self.a) && self.nope" at ` + at + ": the rule does not compile: "},
		{"a rule that is not CEL", schema("{type: string}") + sum + "- rule: has(self.a",
			`inconclusive: rule "has(self.a" at ` + at + ": the rule is not CEL: "},

		{"another property must be chosen", schema("{type: string}") + sum + "- rule: \"!has(self.b) || has(self.mode) && self.mode == 'special'\"",
			`restricted by !has(self.b) || has(self.mode) && self.mode == 'special', which also reads mode`},
		{"what is in a member must be chosen", schema("{type: string}") + sum + "- rule: '!has(self.b) || has(self.b.x) && self.b.x == 77'",
			`restricted by !has(self.b) || has(self.b.x) && self.b.x == 77, which also reads b.x`},
		{"another property must not be there", schema("{type: string}") + sum + "- rule: '!(has(self.mode) && has(self.b))'",
			`restricted by !(has(self.mode) && has(self.b)), which also reads mode`},
		{"another property's value", schema("{type: string}") + sum + "- rule: \"has(self.mode) && self.mode == 'strange' ? has(self.b) : true\"",
			`restricted by has(self.mode) && self.mode == 'strange' ? has(self.b) : true, which also reads mode`},
		{"another property, on update", schema("{type: string}") + sum + "- rule: '!(has(self.mode) && has(oldSelf.b) && has(self.a))'",
			`restricted by !(has(self.mode) && has(oldSelf.b) && has(self.a)), which also reads mode`},
		{"what is in a member", schema("{type: string}") + sum + "- rule: \"!has(self.a) || self.a != 'odd'\"",
			`restricted by !has(self.a) || self.a != 'odd', which also reads a`},
		{"the size of a member", schema("{type: string}") + sum + "- rule: '!has(self.a) || size(self.a) <= 1'",
			`restricted by !has(self.a) || size(self.a) <= 1, which also reads a`},
		{"a property that counts", schema("{type: string}") + sum + "maxProperties: 1",
			"restricted by maxProperties: 1, which also reads mode"},

		{"another property, whose value another rule forbids", schema("{type: string}") + sum + "- rule: '!(has(self.mode) && has(self.b))'\n- rule: '!has(self.mode)'", ""},
		{"a value that the schema forbids", strings.Replace(schema("{type: string}"), "mode: {type: string}", "mode: {type: string, enum: [up, down]}", 1) + sum +
			"- rule: \"!has(self.b) || !has(self.mode) || self.mode != 'strange'\"", ""},
		{"a rule on the rest", schema("{type: string}") + sum + "- rule: \"!has(self.mode) || self.mode == 'special'\"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := proofs(t, tt.spec, "[{members: [a, b]}]")[0]
			got := summary(p)
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || strings.Contains(got, "\n") || p.Proved() != (got == "" || strings.HasPrefix(got, "restricted")) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestManyMembers tests that the number of members is not limited.
func TestManyMembers(t *testing.T) {
	for _, n := range []int{70, 257} {
		schema, u := "type: object\nproperties:\n", &union.Union{Cardinality: union.AtMostOne, Change: union.Allow}
		for i := range n {
			schema += fmt.Sprintf("  m%d: {type: string}\n", i)
			u.Members = append(u.Members, union.Member{Name: fmt.Sprintf("m%d", i)})
		}
		l, err := verify.Object(context.Background(), crdWith(t, schema+"maxProperties: 1"), 0, pathOf([]string{"properties", "spec"}), []*union.Union{nil, u})
		if err != nil || len(l) != 1 || !l[0].Proved() {
			t.Errorf("%d: %v %v", n, l, err)
		}
	}
}

// TestValues tests that the generator finds a valid value for each schema.
func TestValues(t *testing.T) {
	for _, schema := range []string{
		"{type: string}", "{type: string, minLength: 100}", "{type: string, maxLength: 1}", "{type: string, enum: ['', x]}",
		"{type: string, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?(\\.[a-z]+){2}$'}", "{type: string, pattern: '^(sha256|sha512):[0-9a-f]{64}$'}",
		"{type: array, minItems: 1, items: {type: string, pattern: '^subnet-[0-9A-Za-z]+$', minLength: 24, maxLength: 24}}",
		"{type: string, pattern: '^[a-z]+-[0-9]+(/[a-z]*)?$', minLength: 20, maxLength: 20}", "{type: string, pattern: '^(ab)+c*$', minLength: 9, maxLength: 9}",
		"{type: string, pattern: '^([a-z]{4}-){0,9}[0-9]{0,3}x$', minLength: 14, maxLength: 14}", "{type: string, pattern: '^[é-ü]+$', minLength: 6, maxLength: 6}",
		"{type: string, pattern: '^x-[a-z]+$', allOf: [{minLength: 12}, {maxLength: 12}]}", "{type: string, pattern: '^arn:x:', minLength: 30}", "{type: string, pattern: '^x(a+b)*$', minLength: 9, maxLength: 9}",
		"{type: string, pattern: '^subnet-[a-z]+$', x-kubernetes-validations: [{rule: self.size() == 24}]}",
		"{type: string, pattern: '^[a-z]+$', x-kubernetes-validations: [{rule: self.size() > 40 && self.size() < 44}]}", "{type: string, x-kubernetes-validations: [{rule: self.size() == 40}]}",
		"{type: string, minLength: 20, x-kubernetes-validations: [{rule: \"self.matches('^[a-z]+:[0-9]+$')\"}]}",
		"{type: string, x-kubernetes-validations: [{rule: \"self.matches('^[a-z]+:[0-9]+$')\"}, {rule: self.size() == 31}]}",
		"{type: string, minLength: 20, x-kubernetes-validations: [{rule: self.startsWith('arn:')}]}", "{type: string, minLength: 20, x-kubernetes-validations: [{rule: self.endsWith('.com')}]}",
		"{type: string, pattern: '^\\d+(ms|s|m|h)$', minLength: 6}", "{type: string, pattern: '^https?://'}", "{type: string, pattern: '^\\S+$'}",
		"{type: string, format: date-time}", "{type: string, format: duration}", "{type: string, format: ipv6}", "{type: string, format: byte, minLength: 4}",
		"{type: string, format: uuid}", "{type: string, format: cidr}", "{type: string, format: mac}", "{type: string, anyOf: [{format: ipv4}, {format: ipv6}]}",
		"{type: string, x-kubernetes-validations: [{rule: self.startsWith('arn:')}]}",
		"{type: string, x-kubernetes-validations: [{rule: \"self.matches('^arn:aws:[a-z]+:[0-9]{12}$')\"}]}",
		"{type: integer, minimum: 7, maximum: 13, multipleOf: 5}", "{type: integer, minimum: 5, exclusiveMinimum: true, maximum: 6}", "{type: number, minimum: 0.2, maximum: 0.3}",
		"{type: integer, enum: [3, 4]}", "{type: boolean, enum: [true]}", "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
		"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: '^[0-9]+%$', x-kubernetes-validations: [{rule: type(self) == string}]}",
		"{type: array, items: {type: string}, minItems: 3, x-kubernetes-list-type: set}", "{type: array, minItems: 1, items: {type: object, required: [k], properties: {k: {type: string}}}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}",
		"{type: object, additionalProperties: {type: string, minLength: 2}, minProperties: 2}", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
		"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
		"{type: object, minProperties: 1, properties: {x: {type: string}, k: {type: integer}}}",
		"{type: object, oneOf: [{required: [x]}, {required: [k, z]}], properties: {x: {type: string, pattern: '^b$', minLength: 2}, k: {type: integer}, z: {type: integer}}}",
		"{type: object, required: [kind], properties: {kind: {type: string}, x: {type: string}}, x-kubernetes-validations: [{rule: \"self.kind == 'X' && has(self.x)\"}]}",
		"{type: object, required: [kind], properties: {kind: {type: string, enum: [X, W]}, x: {type: string}, k: {type: object, properties: {i: {type: integer}}}}, x-kubernetes-validations: [{rule: \"self.kind == 'W'\"}, {rule: 'has(self.k) && has(self.k.i)'}]}",
		"{type: object, properties: {sub: {type: object, default: {}, properties: {port: {type: integer, default: 80}}}}, x-kubernetes-validations: [{rule: self.sub.port == 80}]}",
		"{type: object, required: [addr], properties: {addr: {type: string}}, oneOf: [{properties: {addr: {format: ipv4}}}, {properties: {addr: {format: ipv6}}}]}",
		"{type: array, items: {type: object, required: [k], properties: {k: {type: string, enum: [A, B, C, D]}}}, x-kubernetes-validations: [{rule: \"size(self) == 4 && self.exists(x, x.k == 'C')\"}]}",
		"{type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}]}",
	} {
		spec := "type: object\nproperties: {m: " + schema + ", other: {type: string}}\nx-kubernetes-validations: [{rule: '!(has(self.m) && has(self.other))'}]"
		if p := proofs(t, spec, "[{members: [other, m]}]")[0]; !p.Proved() {
			t.Errorf("%s: %s", schema, summary(p))
		}
	}
}

// TestOddSchemas proves meaningless and adversarial schemas. It gets errors, or proofs not Proved.
func TestOddSchemas(t *testing.T) {
	deep := "{type: string}"
	for range 80 {
		deep = "{type: object, required: [x], properties: {x: " + deep + "}}"
	}
	for _, schema := range []string{
		"{}", "{type: nope}", "{type: object, properties: {}}", "{type: array}", "{type: array, minItems: 1000000000, items: {type: string}}",
		"{type: string, minLength: 1000000000}", "{type: string, minLength: 5, maxLength: 4}", "{type: string, pattern: '('}", "{type: string, pattern: '((a{1,900}){1,2}b*)*$'}",
		"{type: string, pattern: '^(((((a+)+)+)+)+)+$', minLength: 3000}", "{type: string, format: nope}", "{type: string, enum: []}", "{type: string, enum: [1, {}, null]}",
		"{type: integer, multipleOf: 0}", "{type: integer, multipleOf: -1, minimum: 1e300}", "{type: integer, minimum: 9, maximum: 1}",
		"{type: object, required: [nope]}", "{type: object, minProperties: 1000000000, additionalProperties: true}", "{type: object, minProperties: -1}",
		"{type: object, additionalProperties: {type: object, additionalProperties: {type: array, items: {}}}}",
		"{type: array, items: {type: array, items: {type: array}}, minItems: 1}", "{type: object, allOf: [{}], anyOf: [], oneOf: [{}, {}], not: {}}",
		"{type: object, x-kubernetes-validations: [{rule: ''}, {rule: ')('}, {rule: 'self'}, {rule: 'oldSelf == self'}]}",
		"{type: object, default: [1], properties: {x: {type: string, default: {}}}}", "{type: object, x-kubernetes-list-type: map}", deep,
		strings.Repeat("{type: array, minItems: 16, items: ", 60) + "{type: string}" + strings.Repeat("}", 60),
		"{type: string, pattern: '^" + strings.Repeat("(", 14) + "a" + strings.Repeat("()*)*", 14) + "x$'}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [nope], minItems: 2, items: {type: object, properties: {}}}",
	} {
		for _, spec := range []string{
			"{type: object, properties: {m: " + schema + ", n: {type: string}}}",
			"{type: object, properties: {m: {type: object}, n: {type: string}, other: " + schema + "}, required: [other]}",
		} {
			var s apiextensionsv1.JSONSchemaProps
			if err := sigsyaml.Unmarshal([]byte(spec), &s); err != nil {
				t.Fatalf("%s: %v", spec, err)
			}
			crd := crdWith(t, "{type: object}")
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = s
			u := &union.Union{Members: []union.Member{{Name: "m"}, {Name: "n"}}, Cardinality: union.AtMostOne, Change: union.Clear}
			l, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), []*union.Union{u})
			if err == nil && (len(l) != 1 || l[0].Proved()) {
				t.Errorf("%s: proved, without any rule", spec)
			}
		}
	}
}
