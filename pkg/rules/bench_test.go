package rules_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// BenchmarkRequest measures the validation time that the rules of a union add to a request, with
// the API server's own validator. The requests are a creation, an update that keeps the state of
// the union, and an update from the first member to the last. The form hand has OpenShift's
// conditionals and controller-gen's counts; default is paired with the rule on changes. Compare
// bytes rather than times: allocations do not depend on the load of the machine.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{2, 4, 8, 16, 30, 100, 300} {
		for _, discriminated := range []bool{true, false} {
			kind := "counted"
			if discriminated {
				kind = "discriminated"
			}
			u, properties := manyMembers(b, n, discriminated)
			forms := []struct {
				name  string
				rules func() []rules.Rule
			}{
				{"hand", func() []rules.Rule { return byHand(u) }},
				{"paired", func() []rules.Rule { return rules.Static(u, rules.Paired) }},
				{"default", func() []rules.Rule {
					l := rules.Static(u, rules.Paired)
					if discriminated { // without a discriminator changes are allowed by default
						l = append(l, rules.Transition(u, rules.Comparison{})...)
					}
					return l
				}},
				{"fine", func() []rules.Rule { return rules.Static(u, rules.Fine) }},
				{"compact", func() []rules.Rule { return rules.Static(u, rules.Compact) }},
				{"clear", func() []rules.Rule { return rules.Transition(u, rules.Comparison{}) }},
			}
			for _, f := range forms {
				if !discriminated && f.name == "fine" && n > 100 {
					continue // never emitted
				}
				b.Run(fmt.Sprintf("%s/%d/%s", kind, n, f.name), func(b *testing.B) {
					validator := newServer(b, structural(b, schemaOf(b, properties)), f.rules()).validator
					benchmarkWrites(b, u, func(new, old any) bool {
						errs, _ := validator.Validate(context.Background(), nil, nil, new, old, math.MaxInt64)
						return len(errs) == 0
					})
				})
			}
		}
	}
}

func benchmarkWrites(b *testing.B, u *union.Union, valid func(new, old any) bool) {
	first, last := object(u, 0), object(u, len(u.Members)-1)
	for _, write := range []struct {
		name     string
		old, new any
	}{{"create", nil, last}, {"same", first, first}, {"switch", first, last}} {
		b.Run(write.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !valid(write.new, write.old) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

// manyMembers returns a union of n members, and the schema of its object.
func manyMembers(t testing.TB, n int, discriminated bool) (*union.Union, string) {
	schema := "type: object\nproperties:\n  type: {type: string}\n"
	for i := range n {
		schema += fmt.Sprintf("  member%d: {type: object, properties: {x: {type: string}}}\n", i)
	}
	return unionOf(t, manyDeclared(n, discriminated, "discriminatorChange: Clear"), schemaOf(t, schema)), schema
}

// manyDeclared returns the declaration of a union of n members, with additional keys.
func manyDeclared(n int, discriminated bool, keys string) string {
	var fields, names []string
	for i := range n {
		names = append(names, fmt.Sprintf("member%d", i))
		fields = append(fields, fmt.Sprintf("member%d: Value%d", i, i))
	}
	declaration := "members: [" + strings.Join(names, ", ") + "]"
	if discriminated {
		declaration = "discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	}
	if keys != "" {
		declaration += ", " + keys
	}
	return "{" + declaration + "}"
}

// object returns a legal object with member i set.
func object(u *union.Union, i int) map[string]any {
	m := u.Members[i]
	o := map[string]any{m.Name: map[string]any{"x": "x"}}
	if u.Discriminator != "" {
		o[u.Discriminator] = m.Values[0]
	}
	return o
}

// byHand returns rules in the form that CRD authors write.
func byHand(u *union.Union) []rules.Rule {
	var l []rules.Rule
	var counted []string
	for _, m := range u.Members {
		counted = append(counted, "(has(self."+m.Name+")?1:0)")
		if u.Discriminator != "" {
			l = append(l, rules.Rule{Message: "m", Rule: fmt.Sprintf("has(self.type) && self.type == '%s' ? has(self.%s) : !has(self.%s)", m.Values[0], m.Name, m.Name)})
		}
	}
	if u.Discriminator == "" {
		var sums []string // a longer sum is too deep for the API server's parser
		for part := range slices.Chunk(counted, 100) {
			sums = append(sums, "("+strings.Join(part, "+")+")")
		}
		l = append(l, rules.Rule{Message: "m", Rule: strings.Join(sums, "+") + " <= 1"})
	}
	return l
}
