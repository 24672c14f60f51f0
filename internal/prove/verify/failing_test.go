package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestFailing tests that a rule which fails to evaluate is reported with an object that passes
// others.
func TestFailing(t *testing.T) {
	const plainType = "type: object\nproperties: {type: {type: string, enum: [A, B]}, a: {type: object, properties: {port: {type: integer}}}, b: {type: string}, mode: {type: string}}\n"
	for _, tt := range []struct{ name, spec, want string }{
		{"unguarded", plainType + rulesKey + rule("self.type == 'A' ? has(self.a) : !has(self.a)"), "0: no member is set and type is unset: {}: no such key: type"},
		{"absorbed after", plainType + rulesKey + rule("self.type == 'A' || !has(self.a)"), ""},
		{"absorbed", plainType + rulesKey + rule("!has(self.a) || self.type == 'A'"), ""},
		{"guarded", plainType + rulesKey + rule(conditionalA) + rule(conditionalB), ""},
		{"required", plainType + "required: [type]\n" + rulesKey + rule("self.type == 'A' ? has(self.a) : !has(self.a)"), ""},
		{"rejected by another rule", plainType + rulesKey + rule("self.type == 'A' ? has(self.a) : !has(self.a)") + rule("has(self.type)"), ""},
		{"two that fail", plainType + rulesKey + rule("self.type == 'A' ? has(self.a) : !has(self.a)") + rule("self.type == 'B' ? has(self.b) : !has(self.b)"),
			"0: no member is set and type is unset: {}: no such key: type\n1: no member is set and type is unset: {}: no such key: type"},
		{"what is in a member", plainType + rulesKey + rule("!has(self.a) || self.a.port > 0"), "0: a is set and type is 'A': {a: {}, type: A}: no such key: port"},
		{"before", plainType + rulesKey + rule("self.type == oldSelf.type"), "0: a is set and type is 'A' (before: no member is set and type is unset): {} -> {a: {}, type: A}: no such key: type"},
		{"something else", plainType + rulesKey + rule("self.mode == 'x'"), ""},
		{"the second of two", plainType + rulesKey + rule("true") + rule("has(self.a) == (self.type == 'A')"), "1: no member is set and type is unset: {}: no such key: type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crd := crdWith(t, tt.spec)
			steps := []string{"properties", "spec"}
			u := unionsOf(t, typed, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))[0]
			l, err := verify.Failing(context.Background(), crd, 0, pathOf(steps), u)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range l {
				got = append(got, strings.Join([]string{string(rune('0' + f.Rule)), f.Words(u), example(t, f.Example), f.Message}, ": "))
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got\n%s\nwant\n%s", s, tt.want)
			}
		})
	}
}
