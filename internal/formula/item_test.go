package formula_test

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	. "github.com/unioncel/unioncel/internal/formula"
	"github.com/unioncel/unioncel/internal/logic"
)

// What rules say of items of a list, for every set of items.
func TestItems(t *testing.T) {
	var schema apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(`
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [type]
items: {type: object, required: [type], properties: {type: {type: string}, status: {type: string}}}
`), &schema); err != nil {
		t.Fatal(err)
	}
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
		s := New(&schema)
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
