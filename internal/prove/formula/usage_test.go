package formula_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/prove/formula"
)

func TestUsages(t *testing.T) {
	for rule, want := range map[string][]formula.Usage{
		"has(self.a) && !has(self.b.c)":                       {{Path: []string{"a"}}, {Path: []string{"b", "c"}}},
		"self.a != 'x' && 3 == self.b":                        {{Path: []string{"a"}, Literals: []any{"x"}}, {Path: []string{"b"}, Literals: []any{int64(3)}}},
		"self.a in ['x', 'y'] || self.a == 'x'":               {{Path: []string{"a"}, Literals: []any{"x", "y"}}},
		"size(self.a) == 0 || self.b.size() == 0":             {{Path: []string{"a"}, Sized: true}, {Path: []string{"b"}, Sized: true}},
		"self.a ? has(self.b) : !self.c":                      {{Path: []string{"a"}, Truth: true}, {Path: []string{"b"}}, {Path: []string{"c"}, Truth: true}},
		"[has(self.a), has(self.b)].filter(x, x).size() <= 1": {{Path: []string{"a"}}, {Path: []string{"b"}}},
		"self.a > 3 && self.b.all(x, x == self.c)":            {{Path: []string{"a"}, Other: true}, {Path: []string{"b"}, Other: true}, {Path: []string{"c"}, Other: true}},
	} {
		r, err := formula.Parse(rule)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Usages()); diff != "" {
			t.Errorf("%s: -want +got\n%s", rule, diff)
		}
	}
}
