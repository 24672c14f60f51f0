package verify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/verify"
)

// TestImplied tests that a union implies the rules of its other encodings, but no rules that
// require more, read other properties, or cannot be evaluated.
func TestImplied(t *testing.T) {
	const typed = "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"
	for _, tt := range []struct {
		name, declaration, rule string
		want                    bool
	}{
		{"another encoding", typed, "!has(self.a) || has(self.type) && self.type == 'A'", true},
		{"less than the union", typed, "!has(self.a) || has(self.type)", true},
		{"another union", "{members: [a, b]}", "has(self.a) || has(self.b)", false},
		{"something else", typed, "!has(self.n) || self.n < 5", false},
		{"something else that few values show", typed, "!has(self.n) || self.n * 7 != 538951", false},
		{"what is in a member", typed, "!has(self.b) || !self.b.startsWith('secret')", false},
		{"a member and its content", typed, "!(has(self.a) && has(self.b)) || self.b.size() < 3", false},
		{"nothing of the union", typed, "true", false},
		{"not CEL", typed, "has(", false},
		{"a change that is allowed", typed, "self.type == oldSelf.type", false},
		{"the clear rule", typed, "self.?type.orValue('') == oldSelf.?type.orValue('') || !(has(self.a) && has(oldSelf.a) && has(self.b))", true},
		{"clear, short", typed, "!(has(oldSelf.type) && oldSelf.type == 'A' && has(self.type) && self.type == 'B') || !has(self.a)", true},
		{"a change of something else", typed, "!has(oldSelf.n) || has(self.n)", false},
		{"a change, and something else", typed, "!has(self.a) || has(oldSelf.a) || !has(self.n) || self.n * 7 != 538951", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crd := crdWith(t, compareTyped+"  n: {type: integer}\nx-kubernetes-validations:\n"+rule(tt.rule))
			steps := []string{"properties", "spec"}
			u := unionsOf(t, "["+tt.declaration+"]", at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))[0]
			k := verify.Constraint{Key: "x-kubernetes-validations"}
			l, err := verify.Implied(context.Background(), crd, 0, pathOf(steps), u, []verify.Constraint{k})
			if err != nil || slices.Contains(l, k) != tt.want {
				t.Errorf("implied: %v, %v; want %t", l, err, tt.want)
			}
		})
	}
}

// TestImpliedLarge tests that a union of 20 members implies all rules of another encoding.
func TestImpliedLarge(t *testing.T) {
	var spec, fields strings.Builder
	var rules string
	spec.WriteString("type: object\nrequired: [type]\nproperties:\n  type: {type: string}\n")
	for i := range 20 {
		fmt.Fprintf(&spec, "  m%d: {type: object}\n", i)
		fmt.Fprintf(&fields, "m%d: M%d, ", i, i)
		rules += rule(fmt.Sprintf("has(self.m%d) == (has(self.type) && self.type == 'M%d')", i, i))
	}
	rules += rule("has(self.type) && self.type != ''")
	crd := crdWith(t, spec.String()+"x-kubernetes-validations:\n"+rules)
	steps := []string{"properties", "spec"}
	s := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps)
	u := unionsOf(t, "[{discriminator: type, fields-to-discriminateBy: {"+strings.TrimSuffix(fields.String(), ", ")+"}}]", s)[0]
	l, err := verify.Implied(context.Background(), crd, 0, pathOf(steps), u, constraintsOn(s))
	if err != nil || len(l) != 21 {
		t.Errorf("%d of 21 are implied: %v", len(l), err)
	}
}

// TestImpliedByMany tests that a union of many members implies no other rules.
func TestImpliedByMany(t *testing.T) {
	const members = 300
	var spec, names strings.Builder
	spec.WriteString("type: object\nproperties:\n")
	for i := range members {
		fmt.Fprintf(&spec, "  m%d: {type: object}\n", i)
		fmt.Fprintf(&names, "m%d, ", i)
	}
	spec.WriteString(rulesKey + rule("!has(self.m299)") + rule("!has(self.m0) || !has(self.m299)"))
	crd, steps := crdWith(t, spec.String()), []string{"properties", "spec"}
	s := at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps)
	u := unionsOf(t, "[{members: ["+names.String()+"]}]", s)[0]
	l, err := verify.Implied(context.Background(), crd, 0, pathOf(steps), u, constraintsOn(s))
	if want := (verify.Constraint{Key: "x-kubernetes-validations", Index: 1}); err != nil || len(l) != 1 || l[0] != want {
		t.Errorf("%v, %v", l, err)
	}
}
