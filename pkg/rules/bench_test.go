package rules_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// BenchmarkRequest measures what the rules of a union add to a request, with the
// API server's own validator: an update that leaves the union as it was, and one
// that switches the member. By hand are OpenShift's conditionals and
// controller-gen's counts.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{2, 8, 30, 100, 300} {
		for _, discriminated := range []bool{true, false} {
			u, properties := manyMembers(b, n, discriminated)
			kind := "counted"
			if discriminated {
				kind = "discriminated"
			}
			forms := []struct {
				name  string
				rules []rules.Rule
			}{
				{"hand", byHand(u)},
				{"fine", rules.Static(u, rules.Fine)},
				{"permember", rules.Static(u, rules.Encoding(n))},
				{"compact", rules.Static(u, rules.Compact)},
				{"clear", rules.Transition(u, rules.Comparison{})},
			}
			for _, f := range forms {
				if !discriminated && (f.name == "permember" || f.name == "fine" && n > 100) {
					continue
				}
				s := newServer(b, structural(b, schemaOf(b, properties)), f.rules)
				for _, update := range []string{"same", "switch"} {
					b.Run(fmt.Sprintf("%s/%d/%s/%s", kind, n, f.name, update), func(b *testing.B) {
						old, new := object(u, 0), object(u, n-1)
						if update == "same" {
							new = object(u, 0)
						}
						b.ReportAllocs()
						for b.Loop() {
							if errs, _ := s.validator.Validate(context.Background(), nil, nil, new, old, math.MaxInt64); len(errs) > 0 {
								b.Fatal(errs)
							}
						}
					})
				}
			}
		}
	}
}

// manyMembers is a union of n members, and the schema of its object.
func manyMembers(t testing.TB, n int, discriminated bool) (*union.Union, string) {
	var fields, names []string
	schema := "type: object\nproperties:\n  type: {type: string}\n"
	for i := range n {
		schema += fmt.Sprintf("  member%d: {type: object, properties: {x: {type: string}}}\n", i)
		names = append(names, fmt.Sprintf("member%d", i))
		fields = append(fields, fmt.Sprintf("member%d: Value%d", i, i))
	}
	declaration := "{members: [" + strings.Join(names, ", ") + "], discriminatorChange: Clear}"
	if discriminated {
		declaration = "{discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}}"
	}
	return unionOf(t, declaration, schemaOf(t, schema)), schema
}

// object is a legal object with member i set.
func object(u *union.Union, i int) map[string]any {
	m := u.Members[i]
	o := map[string]any{m.Name: map[string]any{"x": "x"}}
	if u.Discriminator != "" {
		o[u.Discriminator] = m.Values[0]
	}
	return o
}

// byHand are the rules that people write.
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
		l = append(l, rules.Rule{Message: "m", Rule: strings.Join(counted, "+") + " <= 1"})
	}
	return l
}
