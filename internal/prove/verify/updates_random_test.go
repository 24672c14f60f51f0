package verify_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestRandomUpdates changes the rules of unions at random, including rules on changes and removals.
// Proofs have to agree with the API server's evaluation of all objects and updates. The environment
// variable UPDATES sets the number of unions.
func TestRandomUpdates(t *testing.T) {
	rounds := unioncases.Choose(10, 10, 150)
	if n, err := strconv.Atoi(os.Getenv("UPDATES")); err == nil {
		rounds = n
	}
	r := rand.New(rand.NewPCG(7, uint64(rounds)))
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	counts := map[string]int{}
	for range rounds {
		enum := pick("", ", enum: [A, B, C]", ", enum: [A, B, '']", ", nullable: true")
		spec := fmt.Sprintf(`
type: object
properties:
  type: {type: string, maxLength: 9%s}
  a: {type: string, maxLength: 9, %s}
  b: {type: string, maxLength: 9}
`, enum, pick("nullable: true", "nullable: false"))
		declaration := pick("members: [a, b]", "members: [a, b], cardinality: ExactlyOne", "members: [a, b], emptyIsUnset: [a]",
			"discriminator: type, fields-to-discriminateBy: {a: A, b: B}", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a]",
			"discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unmappedValues: Forbid")
		first, second := "a", "b"
		if declaration[0] == 'd' {
			first, second = "A", "B"
		}
		declaration += pick("", ", discriminatorChange: Allow", ", discriminatorChange: Forbid", ", discriminatorChange: Forbid", ", ratchet: true", ", ratchet: true, discriminatorChange: Forbid",
			fmt.Sprintf(", allowedChanges: {%s: [%s]}", first, second), fmt.Sprintf(", allowedChanges: {%s: [%s, '']}", second, first), fmt.Sprintf(", allowedChanges: {%s: ['']}", first))
		crd, unions := compiled(t, spec, "[{"+declaration+"}]", compile.Encoding(pick(string(compile.Fine), string(compile.Compact))))
		root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		s := root.Properties["spec"]
		disturb(r, &s, unions[0].Discriminator != "")
		root.Properties["spec"] = s
		if r.IntN(2) == 0 {
			root.Required = nil
			switch r.IntN(3) {
			case 0:
				root.XValidations = apiextensionsv1.ValidationRules{{Rule: "!(has(oldSelf.spec) && has(oldSelf.spec.type)) || has(self.spec)"}}
			case 1:
				root.XValidations = apiextensionsv1.ValidationRules{{Rule: "has(self.spec) || !has(oldSelf.spec) || !has(oldSelf.spec.a)" + pick("", " && !has(oldSelf.spec.b)")}}
			}
		}
		found, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), unions)
		if err != nil {
			t.Fatal(err)
		}
		accepted, rejected := everyUpdate(t, root, unions[0])
		p := found[0]
		said := map[bool]bool{}
		for _, d := range p.Differences() {
			said[d.Kind == verify.Accepted] = true
		}
		text, _ := sigsyaml.Marshal(root)
		switch {
		case len(p.OfKind(verify.Undecided)) > 0:
			counts["inconclusive"]++
		case len(p.OfKind(verify.Restricted)) > 0:
			counts["restricted"]++
		case p.Proved():
			counts["proved"]++
		default:
			counts["different"]++
		}
		if sure := len(p.OfKind(verify.Undecided))+len(p.OfKind(verify.Restricted)) == 0; said[true] && accepted == "" || sure && !said[true] && accepted != "" {
			t.Errorf("%s\n%s\naccepted: %s\n%s", declaration, text, accepted, summary(p))
		} else if p.Rules > 0 && (said[false] && rejected == "" || sure && !said[false] && rejected != "") {
			t.Errorf("%s\n%s\nrejected: %s\n%s", declaration, text, rejected, summary(p))
		}
	}
	t.Log(counts)
	if counts["inconclusive"]*10 > rounds || counts["proved"]*10 < rounds || counts["different"]*10 < rounds {
		t.Error("the verdicts are one-sided")
	}
}

// disturb may change the rules of a schema at random. The new rules read only the state of the
// union.
func disturb(r *rand.Rand, s *apiextensionsv1.JSONSchemaProps, typed bool) {
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	var condition func(of string, depth int) string
	condition = func(of string, depth int) string {
		if depth > 0 && r.IntN(3) > 0 {
			return "(" + condition(pick(of, "self"), depth-1) + pick(" && ", " || ") + condition(of, depth-1) + ")"
		}
		if !typed {
			return pick("", "!") + pick("has("+of+".a)", "has("+of+".b)", "(has(self.a) == has("+of+".a))", "(has("+of+".a) ? has(self.b) : !has(self.b))")
		}
		return pick("", "!") + pick("has("+of+".a)", "has("+of+".b)", "has("+of+".type)", "(has("+of+".type) && "+of+".type == 'A')", "("+of+".type in ['B', ''])", "("+of+".?type.orValue('') == '')",
			"(has(self.type) && has("+of+".type) && self.type == "+of+".type)", "("+of+".?type == self.?type)", "(has(self.a) == has("+of+".a))")
	}
	yes := true
	switch n := len(s.XValidations); r.IntN(6) {
	case 0:
	case 1:
		if n > 0 {
			i := r.IntN(n)
			s.XValidations = slices.Delete(s.XValidations, i, i+1)
		}
	case 2, 3:
		if n > 0 {
			v := &s.XValidations[r.IntN(n)]
			l := slices.DeleteFunc(mutants(v.Rule), func(m string) bool { return !typed && strings.Contains(m, "'other'") })
			if len(l) > 0 {
				v.Rule = l[r.IntN(len(l))]
			}
		}
	case 4:
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: condition(pick("self", "oldSelf"), 2)})
	case 5:
		l := []string{"!oldSelf.hasValue()", "oldSelf.hasValue()", "oldSelf.?a.hasValue()", "oldSelf.optMap(o, has(o.b)).orValue(true)", "has(oldSelf.orValue(self).b)"}
		if typed {
			l = append(l, "oldSelf.?type.orValue('') == self.?type.orValue('')", "oldSelf.orValue(self).?type == self.?type")
		}
		old := pick(l...)
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: old + pick(" || ", " && ") + condition("self", 1), OptionalOldSelf: &yes})
	}
	for i := range s.XValidations {
		v := &s.XValidations[i]
		v.MessageExpression, v.FieldPath, v.Message = "", "", ""
	}
}

// everyUpdate evaluates the creation and every update of objects with and without a spec, with the
// API server's validator. It returns an example that is accepted but illegal, and an example that
// is rejected but legal.
func everyUpdate(t testing.TB, root *apiextensionsv1.JSONSchemaProps, u *union.Union) (accepted, rejected string) {
	t.Helper()
	structural, err := server.Structural(root)
	if err != nil {
		t.Fatal(err)
	}
	object := root.Properties["spec"]
	var objects []map[string]any
	for _, spec := range product(object.Properties, u.Discriminator != "") {
		objects = append(objects, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "x"}, "spec": spec})
	}
	if len(root.Required) == 0 {
		objects = append(objects, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "x"}})
	}
	validator := schemacel.NewValidator(structural, true, celconfig.PerCallLimit)
	state := func(o map[string]any) *union.State {
		spec, ok := o["spec"].(map[string]any)
		if !ok {
			return nil
		}
		s := u.StateOf(spec)
		return &s
	}
	for _, next := range objects {
		for _, old := range append([]map[string]any{nil}, objects...) {
			var before any
			var was *union.State
			if old != nil {
				before, was = old, state(old)
			}
			ok := true
			if validator != nil {
				errs, _ := validator.Validate(context.Background(), nil, nil, next, before, math.MaxInt64)
				ok = len(errs) == 0
			}
			legal := was == nil || u.Removable(*was)
			if is := state(next); is != nil {
				legal = len(u.Judge(was, *is)) == 0
			}
			if ok != legal && ok {
				accepted = fmt.Sprint(old, " -> ", next)
			}
			if ok != legal && !ok {
				rejected = fmt.Sprint(old, " -> ", next)
			}
		}
	}
	return accepted, rejected
}

// product returns every combination of values of the discriminator and the members.
func product(properties map[string]apiextensionsv1.JSONSchemaProps, typed bool) []map[string]any {
	const absent = "absent"
	l := []map[string]any{{}}
	for _, name := range []string{"type", "a", "b"} {
		p := properties[name]
		values := []any{absent, "x"}
		if name == "a" {
			values = append(values, "")
		}
		switch {
		case name == "type" && typed:
			values = []any{absent, "A", "B", "", "C", "other"}
		case name == "type":
			continue
		}
		if p.Nullable {
			values = append(values, nil)
		}
		var more []map[string]any
		for _, v := range values {
			if text, ok := v.(string); ok && text != absent && len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(j apiextensionsv1.JSON) bool { return string(j.Raw) == strconv.Quote(text) }) {
				continue
			}
			for _, o := range l {
				if o = maps.Clone(o); v != absent {
					o[name] = v
				}
				more = append(more, o)
			}
		}
		l = more
	}
	return l
}
