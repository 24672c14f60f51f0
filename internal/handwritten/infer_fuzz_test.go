package handwritten_test

import (
	"context"
	"testing"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
)

// FuzzRules asserts that found unions may be declared, share no property and have a verdict.
func FuzzRules(f *testing.F) {
	for _, seed := range [][2]string{
		{"(has(self.m0)?1:0)+(has(self.m1)?1:0) == 1", "[has(self.m0),has(self.m1)].filter(x,x==true).size() <= 1"},
		{"!(has(self.m0) && self.d != 'A')", "!(!has(self.m0) && self.d == 'A')"},
		{"has(self.d) && self.d in ['A', 'B'] ? has(self.m0) : !has(self.m0)", "self.?m1.orValue('') == '' || has(self.d)"},
		{"has(self.m0) && size(self.m0) > 0", "has(self.m0) != has(self.m1)"},
		{"[has(self.m0), has(self.m1)].exists_one(x, x)", "self.d == oldSelf.d"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		crd := crdOf(with(members(3), one, other))
		found, _, err := handwritten.Infer(context.Background(), crd)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, g := range found {
			resolved(t, crd, g)
			for _, c := range g.Replaces {
				if seen[c.String()] {
					t.Errorf("%s is in two unions", c)
				}
				seen[c.String()] = true
			}
			if len(g.Replaces) == 0 || g.Comparison.Verdict == "" || g.Comparison.Verdict == verify.Inconclusive && len(g.Comparison.Inconclusive) == 0 {
				t.Errorf("found %+v", g)
			}
		}
	})
}
