package handwritten_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"
)

// TestMessages covers the messages of declarations.
func TestMessages(t *testing.T) {
	const (
		plain    = "type: object\nproperties: {a: {type: object}, b: {type: object}, c: {type: object}}\n"
		typed    = "type: object\nrequired: [type]\nproperties: {type: {type: string}, a: {type: object}, b: {type: object}}\n"
		enum     = "type: object\nrequired: [type]\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: object}}\n"
		optional = "type: object\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: object}}\n"
	)
	for _, tt := range []struct {
		name, schema string
		rules        string
		want         string // the keys message and messages
	}{
		{"one rule", plain, `[{rule: "(has(self.a)?1:0)+(has(self.b)?1:0) == 1", message: " one of a, b\n"}]`, "message: one of a, b\n"},
		{"several rules, one message", plain, `[{rule: "has(self.a) || has(self.b)", message: m}, {rule: "!(has(self.a) && has(self.b))", message: m}]`, "message: m\n"},
		{"none and too many", plain, `[{rule: "has(self.a) || has(self.b)", message: none}, {rule: "!(has(self.a) && has(self.b))", message: both}]`,
			"message: {required: none, forbidden: both}\n"},
		{"only too many", plain, `[{rule: "has(self.a) || has(self.b)"}, {rule: "!(has(self.a) && has(self.b))", message: both}]`, "message: {forbidden: both}\n"},
		{"a message for each two", plain, `[{rule: "!(has(self.a) && has(self.b))", message: ab}, {rule: "!(has(self.b) && has(self.c))", message: bc}, {rule: "!(has(self.a) && has(self.c))", message: ac}]`, ""},
		{"a group", plain, `[{rule: "has(self.a) != (has(self.b) || has(self.c))", message: one}, {rule: "has(self.b) == has(self.c)", message: together}]`, "message: {forbidden: one}\n"},
		{"true of some states only", plain, `[{rule: "!has(self.a) || !has(self.b)", message: no b beside a}, {rule: "!has(self.c) || has(self.b)", message: c needs b}, {rule: "has(self.a) != has(self.c)", message: a or c}]`, ""},
		{"computed", plain, `[{rule: "!(has(self.a) && has(self.b))", message: m, messageExpression: "'x'"}]`, ""},
		{"no message", plain, `[{rule: "!(has(self.a) && has(self.b))"}]`, ""},
		{"too long", plain, `[{rule: "!(has(self.a) && has(self.b))", message: ` + strings.Repeat("m", 5121) + `}]`, ""},
		{"each member", typed, `[{rule: "has(self.a) == (self.type == 'A')", message: a with A}, {rule: "has(self.b) == (self.type == 'B')", message: b with B}]`,
			"messages:\n  a: a with A\n  b: b with B\n"},
		{"one of two members", typed, `[{rule: "has(self.a) == (self.type == 'A')", message: a with A}, {rule: "has(self.b) == (self.type == 'B')"}]`,
			"messages:\n  a: a with A\n"},
		{"all members", typed, `[{rule: "(has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: m}]`, "message: m\n"},
		{"each direction", typed, `[{rule: "!(has(self.a) && self.type != 'A')", message: a only with A}, {rule: "!(!has(self.a) && self.type == 'A')", message: a for A}, {rule: "!(has(self.b) && self.type != 'B')", message: b only with B}]`,
			"messages:\n  a: {required: a for A, forbidden: a only with A}\n  b: b only with B\n"},
		{"values", typed, `[{rule: "(has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: m}, {rule: "self.type in ['A', 'B']", message: A or B}]`,
			"messages:\n  type: A or B\n  a: m\n  b: m\n"},
		{"a message for each value", typed, `[{rule: "self.type != 'A' || has(self.a)", message: a for A}, {rule: "self.type != 'C' || has(self.a)", message: a for C}, {rule: "!has(self.a) || self.type in ['A', 'C']", message: no a}]`,
			"messages:\n  a: {forbidden: no a}\n"},
		{"one member", enum, `[{rule: "self.type == 'A' || !has(self.a)", message: a only with A}]`, "messages:\n  a: a only with A\n"},
		{"the schema requires the discriminator", enum, `[{rule: "(has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: m}]`,
			"messages:\n  a: m\n  b: m\n"},
		{"a rule for the discriminator, too", enum, `[{rule: "has(self.type)", message: m}, {rule: "(has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: m}]`,
			"messages:\n  a: m\n  b: m\n"},
		{"optional discriminator", optional, `[{rule: "has(self.type) && (has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: m}]`, "message: m\n"},
		{"rules that fail without a discriminator", optional, `[{rule: "self.type == 'A' ? has(self.a) : !has(self.a)", message: a with A}, {rule: "self.type == 'B' ? has(self.b) : !has(self.b)", message: b with B}]`,
			"messages:\n  a: a with A\n  b: b with B\n"},
		{"only one direction", enum, `[{rule: "self.type != 'A' || has(self.a)", message: a for A}]`, "messages:\n  a: {required: a for A}\n"},
	} {
		var s apiextensionsv1.JSONSchemaProps
		if err := sigs.UnmarshalStrict([]byte(tt.schema+"x-kubernetes-validations: "+strings.ReplaceAll(tt.rules, "\n", `\n`)), &s); err != nil {
			t.Fatal(tt.name, err)
		}
		crd := crdOf(s)
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Required = []string{"spec"}
		found := find(t, crd)
		if len(found) != 1 {
			t.Errorf("%s: found %+v", tt.name, found)
			continue
		}
		got, want := map[string]any{}, map[string]any{}
		if err := sigs.Unmarshal([]byte(declaration(t, found[0])), &got); err != nil {
			t.Fatal(err)
		}
		for key := range got {
			if key != "message" && key != "messages" {
				delete(got, key)
			}
		}
		if err := sigs.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
