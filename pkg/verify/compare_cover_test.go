package verify

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// TestCovered: that constraints cover a union is never said of those that accept
// something the union forbids, and often enough of the others. Here all states are
// tried as well.
func TestCovered(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	members := []union.Member{{Name: "a", Values: []string{"A", "A2"}}, {Name: "b", Values: []string{"B"}}, {Name: "c", Values: []string{"C"}, Optional: true}}
	var unions []*union.Union
	for _, cardinality := range []union.Cardinality{union.AtMostOne, union.ExactlyOne} {
		unions = append(unions, &union.Union{Members: []union.Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Cardinality: cardinality})
		for _, forbid := range []bool{true, false} {
			unions = append(unions, &union.Union{Discriminator: "type", Members: members, Cardinality: cardinality, ForbidUnmapped: forbid})
		}
	}
	unions = append(unions, &union.Union{Discriminator: "type", Members: members, Cardinality: union.AtMostOne, Deduce: true})
	some := []string{
		"!(has(self.a) && has(self.b))", "!(has(self.a) && (has(self.b) || has(self.c)))", "!(has(self.b) && has(self.c))", "has(self.a) || has(self.b) || has(self.c)",
		"has(self.type) && self.type != ''", "!has(self.type) || self.type in ['', 'A', 'A2', 'B', 'C']",
		"(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) <= 1",
		"has(self.type) && self.type != '' || !(has(self.a) && has(self.b) || has(self.a) && has(self.c) || has(self.b) && has(self.c))",
		"!has(self.a) || has(self.type) && self.type in ['A', 'A2']", "!has(self.b) || has(self.type) && self.type == 'B'", "!has(self.c) || has(self.type) && self.type == 'C'",
		"!has(self.a) || !has(self.type) || self.type in ['', 'A', 'A2']", "!has(self.b) || !has(self.type) || self.type in ['', 'B']", "!has(self.c) || !has(self.type) || self.type in ['', 'C']",
		"has(self.a) || !has(self.type) || !(self.type in ['A', 'A2'])", "has(self.b) || !has(self.type) || self.type != 'B'",
	}
	// try is what comes of rules in all states.
	try := func(u *union.Union, rules []string) (*comparing, *findings) {
		t.Helper()
		schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": text, "a": text, "b": text, "c": text}}
		var constraints []Constraint
		for i, rule := range rules {
			constraints = append(constraints, Constraint{ruleKey, i})
			schema.XValidations = append(schema.XValidations, apiextensionsv1.ValidationRule{Rule: rule})
		}
		n := newNode(schema, "schema", nil, false)
		p, err := newProver(context.Background(), &chain{nodes: []*node{n}, correlated: 1}, u)
		if err != nil {
			t.Fatal(err)
		}
		q := &comparing{prover: p}
		if broken := q.collect(constraints, make([]bool, len(constraints))); len(broken) > 0 {
			t.Fatal(broken)
		}
		if doubts, err := q.prepare(&generator{ctx: context.Background()}, []*union.Union{u}, nil); err != nil || len(doubts) > 0 {
			t.Fatal(err, doubts)
		}
		f := &findings{prover: p}
		q.enumerate(f)
		q.create(f)
		return q, f
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, u := range unions {
		u = stateful(u)
		some := slices.DeleteFunc(slices.Clone(some), func(rule string) bool {
			return u.Discriminator == "" && strings.Contains(rule, "self.type")
		})
		// In half of the rounds rules that refuse something legal are left out.
		var l []string
		for _, rule := range some {
			_, f := try(u, []string{rule})
			looser := false
			for k := range f.found {
				looser = looser || !k.accepted
			}
			if !looser {
				l = append(l, rule)
			}
		}
		equivalent, tighter := 0, 0
		for i := range 160 {
			var rules []string
			for _, rule := range [][]string{l, some}[i%2] {
				if r.IntN(2+i%8) > 0 {
					rules = append(rules, rule)
				}
			}
			q, f := try(u, rules)
			accepts := false
			for k := range f.found {
				accepts = accepts || k.accepted
			}
			switch covered := q.covered(); {
			case covered && accepts:
				t.Errorf("%+v is covered, but: %q", u, rules)
			case covered && len(f.found) == 0:
				equivalent++
			case accepts:
				tighter++
			}
		}
		if equivalent == 0 || tighter == 0 {
			t.Errorf("%+v: %d times equivalent, %d tighter: too few to say anything", u, equivalent, tighter)
		}
	}
}
