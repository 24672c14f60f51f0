package formula_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	. "github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

const listed = `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [type]
items: {type: object, required: [type], properties: {type: {type: string}, s: {type: string}}}
`

// TestItems tests that formulas agree with rules on items of a list, for every set of items.
func TestItems(t *testing.T) {
	schema := parse(t, listed)
	for _, test := range []struct {
		rule string
		want func(a, b, c bool) bool
	}{
		{"self.filter(c, c.type in ['A', 'B']).size() <= 1", func(a, b, _ bool) bool { return !(a && b) }},
		{"self.filter(c, c.type == 'A' || c.type == 'B').size() <= 1", func(a, b, _ bool) bool { return !(a && b) }},
		{"self.exists_one(c, has(c.type) && c.type in ['A', 'B', 'C'])", func(a, b, c bool) bool { return (a != b) != c && !(a && b && c) }},
		{"self.all(c, c.type != 'A') && self.exists(c, c.type == 'C')", func(a, _, c bool) bool { return !a && c }},
		{"size(self.filter(c, c.type in ['A', 'B', 'C'])) == 2", func(a, b, c bool) bool { return a && b && !c || a && c && !b || b && c && !a }},
	} {
		s := New(schema)
		var present []logic.Lit
		for _, name := range []string{"A", "B", "C"} {
			present = append(present, s.New.Child(ItemOf(map[string]any{"type": name})).Present())
		}
		rule, err := Parse(test.rule)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Rule(rule, s.New, Plain)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		for bits := range 8 {
			set := []bool{bits&1 > 0, bits&2 > 0, bits&4 > 0}
			l := []logic.Lit{f.Holds.If(!test.want(set[0], set[1], set[2]))}
			for i, p := range present {
				l = append(l, p.If(set[i]))
			}
			if m, err := s.Satisfy(context.Background(), l...); m != nil || err != nil {
				t.Errorf("%s: of %v, want %t; %v", test.rule, set, test.want(set[0], set[1], set[2]), err)
			}
		}
	}
}

// TestItemsSound tests that formulas admit the combined results of several rules on any list. Only
// the presence of the named items is given.
func TestItemsSound(t *testing.T) {
	schemas := []*apiextensionsv1.JSONSchemaProps{parse(t, listed), parse(t, strings.Replace(listed, "type: {type: string}", "type: {type: string, enum: [A, B, X, AB, z1]}", 1))}
	named := []string{"A", "B"}
	var lists []any
	for bits := range 1 << 5 {
		for _, status := range []string{"", "same", "each"} {
			l := []any{}
			for i, name := range []string{"A", "B", "X", "AB", "z1"} {
				if bits&(1<<i) == 0 {
					continue
				}
				item := map[string]any{"type": name}
				switch status {
				case "same":
					item["s"] = "A"
				case "each":
					item["s"] = fmt.Sprint(i)
				}
				l = append(l, item)
			}
			lists = append(lists, l)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	tests := [][]string{
		{"self.exists(c, c.type == 'A') || 'X' in self.map(c, c.type)"},
		{"self.filter(c, c.type != 'A').exists(c, c.type == 'X')"},
		{"self.map(c, c.type).exists(t, t == 'X')"},
		{"self.exists(c, c.type == 'A' + 'B')"},
		{"self.filter(c, !(c.type in ['A', 'B'])).size() > self.filter(c, c.type in ['A', 'B']).size()"},
		{"self.exists(c, !(c.type in ['A', 'B']))", "self.all(c, c.type in ['A', 'B', 'X'])"},
		{"self.exists(c, self.exists(d, c == d))"},
		{"self.exists(c, self.exists(d, c.type == d.type))"},
		{"['1', '2', '3', '4'].all(s, self.filter(c, c.type != 'A').exists(c, c.s == s))"},
		{"self.filter(c, c.type in ['A', 'B'])[0].type == 'A'"},
		{"self.all(c, c.type in ['A', 'B'] || has(c.s))"},
		{"(self.exists(c, c.type == 'A') ? self : []).exists(c, c.type == 'B')"},
		{"(self.exists(c, c.type == 'A') ? self : self.filter(c, c.type == 'X')).all(c, c.type == 'B' || c.s == 'A')"},
	}
	for range unioncases.Choose(100, 100, 1500) {
		texts := []string{itemRule(r, 3)}
		if r.IntN(3) == 0 {
			texts = append(texts, itemRule(r, 2))
		}
		tests = append(tests, texts)
	}
	for i, texts := range tests {
		s := schemas[i%2]
		structural, err := server.Structural(s)
		if err != nil {
			t.Fatal(err)
		}
		space := New(s)
		var items []string
		for _, name := range named {
			items = append(items, ItemOf(map[string]any{"type": name}))
			space.New.Child(items[len(items)-1]).Present()
		}
		var programs []*Program
		var formulas []Formula
		for _, text := range texts {
			ps, errs := Compile(structural, false, apiextensionsv1.ValidationRules{{Rule: text}})
			rule, err := Parse(text)
			if errs[0] != nil || err != nil {
				t.Fatal(text, errs[0], err)
			}
			programs = append(programs, ps[0])
			f, err := space.Rule(rule, space.New, Plain)
			if err != nil {
				t.Fatal(err)
			}
			formulas = append(formulas, f)
		}
		space.Close()
		seen := map[string]bool{}
		for _, l := range lists {
			old := lists[r.IntN(len(lists))]
			lits := []logic.Lit{space.Old.Present()}
			for _, name := range items {
				there := space.New.Child(name)
				lits = append(lits, there.Present().If(there.Value(l) != nil), there.Counterpart().Present().If(there.Value(old) != nil))
			}
			for i, p := range programs {
				holds, err := p.Run(t.Context(), l, old, true)
				lits = append(lits, formulas[i].Holds.If(holds && err == nil), formulas[i].Fails.If(err != nil))
			}
			key := fmt.Sprint(lits)
			if seen[key] {
				continue
			}
			seen[key] = true
			if m, err := space.Satisfy(t.Context(), lits...); m == nil || err != nil {
				t.Errorf("%s\nof %v, before %v: the formulas exclude what the rules say: %v", strings.Join(texts, "\n"), l, old, err)
				break
			}
		}
	}
}

func itemRule(r *rand.Rand, depth int) string {
	pick := func(l ...string) string { return l[r.IntN(len(l))] }
	var cond, list func(v string, depth int) string
	lit := func() string { return pick("'A'", "'B'", "'X'", "'A' + 'B'", "'AB'") }
	cond = func(v string, depth int) string {
		if depth > 0 {
			switch r.IntN(6) {
			case 0:
				return "(" + cond(v, depth-1) + " && " + cond(v, depth-1) + ")"
			case 1:
				return "(" + cond(v, depth-1) + " || " + cond(v, depth-1) + ")"
			case 2:
				return "!(" + cond(v, depth-1) + ")"
			case 3:
				w := pick("c", "d")
				return list(v, depth-1) + "." + pick("exists", "all", "exists_one") + "(" + w + ", " + cond(w, depth-1) + ")"
			case 4:
				return list(v, depth-1) + ".size() " + pick("<", "<=", "==", ">", "!=") + " " + pick("0", "1", "2", "3", list(v, depth-1)+".size()")
			}
		}
		if v == "" {
			return pick(lit()+" in self.map(c, c.type)", "self.exists(c, c.type == "+lit()+")", "self.all(c, c.type != "+lit()+")", "size(self) < 3", "self.map(c, c.type in ['A', "+lit()+"] ? 1 : 2).sum() > 2", "self.exists(c, c.type == 'A')", "self.exists(c, c.type == 'B')")
		}
		return pick(v+".type == "+lit(), v+".type in ["+lit()+", "+lit()+"]", v+".type != "+lit(), v+".type.startsWith('A')", "has("+v+".s)", "has("+v+".type)", v+".?s.orValue('') == "+v+".type", v+".type < 'B'", "self.exists(e, e.type == "+v+".type)", v+".type in self.map(e, e.type)", v+" in self", "{'X': true, 'A': false}[?"+v+".type].orValue(true)")
	}
	list = func(v string, depth int) string {
		if depth > 0 && r.IntN(2) == 0 {
			w := pick("c", "d")
			return list(v, depth-1) + ".filter(" + w + ", " + cond(w, depth-1) + ")"
		}
		return pick("self", "self", "oldSelf")
	}
	return cond("", depth)
}
