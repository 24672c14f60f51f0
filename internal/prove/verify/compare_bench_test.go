package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// BenchmarkCompare compares unions of growing size with hand-written constraints. It also measures
// Replaceable.
func BenchmarkCompare(b *testing.B) {
	for _, form := range []string{"pairs", "any", "sum", "oneOf", "count"} {
		for _, n := range []int{8, 30, 100, 300} {
			if form == "sum" {
				n = min(n, 240) // cel-go's parser limits the nesting of operators
			}
			spec, u := byHand(form, n)
			crd := crdWith(b, spec)
			steps := []string{"properties", "spec"}
			l := constraintsOn(at(b, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
			check := func(b *testing.B, c verify.Comparison, err error) {
				if err != nil || c.Verdict != verify.Equivalent {
					b.Fatalf("%v, %s", err, verdict(b, c, u))
				}
			}
			b.Run(fmt.Sprintf("%s/%d", form, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c, err := verify.Compare(context.Background(), crd, 0, pathOf(steps), u, l)
					check(b, c, err)
				}
			})
			b.Run(fmt.Sprintf("replaceable/%s/%d", form, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, c, err := verify.Replaceable(context.Background(), crd, 0, pathOf(steps), u)
					check(b, c, err)
				}
			})
		}
	}
}

// byHand returns a schema with n members and hand-written constraints of a form, and the equivalent
// union.
func byHand(form string, n int) (spec string, u *union.Union) {
	u = &union.Union{Cardinality: union.ExactlyOne, Change: union.Clear}
	properties, rules := "", ""
	var terms, required, values []string
	for i := range n {
		name, value := fmt.Sprintf("member%02d", i), fmt.Sprintf("Value%02d", i)
		properties += fmt.Sprintf("  %s: {type: object, required: [port], properties: {port: {type: integer, minimum: 1}, host: {type: string}}}\n", name)
		m := union.Member{Name: name}
		if form == "pairs" || form == "any" {
			m.Values = []string{value}
			rules += rule(fmt.Sprintf("!(has(self.%s) && self.type != '%s')", name, value)) + rule(fmt.Sprintf("!(!has(self.%s) && self.type == '%s')", name, value))
		}
		u.Members = append(u.Members, m)
		values = append(values, value)
		terms = append(terms, "(has(self."+name+") ? 1 : 0)")
		required = append(required, "{required: ["+name+"]}")
	}
	spec = "type: object\nproperties:\n" + properties
	switch form {
	case "pairs":
		u.Discriminator = "type"
		return spec + "  type: {type: string, enum: [" + strings.Join(values, ", ") + "]}\nrequired: [type]\n" + rulesKey + rules, u
	case "any":
		u.Discriminator = "type"
		return spec + "  type: {type: string, minLength: 1}\nrequired: [type]\n" + rulesKey + rules, u
	case "sum":
		return spec + rulesKey + rule(strings.Join(terms, " + ")+" == 1"), u
	case "oneOf":
		return spec + "oneOf: [" + strings.Join(required, ", ") + "]", u
	}
	return spec + "minProperties: 1\nmaxProperties: 1", u
}
