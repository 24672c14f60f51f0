package logic

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRandom compares answers with an enumeration of all values.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	counts := map[bool]int{}
	for range 2000 {
		c := New()
		const variables = 6
		var vars, pool []Lit
		for range variables {
			vars = append(vars, c.Var())
		}
		pool = append(pool, vars...)
		any := func() Lit { return pool[rng.IntN(len(pool))].If(rng.IntN(2) == 0) }
		for range 2 + rng.IntN(40) {
			switch rng.IntN(4) {
			case 0:
				pool = append(pool, c.And(any(), any(), any()))
			case 1:
				pool = append(pool, c.Or(any(), any()))
			case 2:
				pool = append(pool, c.Choose(any(), any(), any()))
			default:
				n := 1 + rng.IntN(3)
				pool = append(pool, c.AtLeast(n, []Lit{any(), any(), any()})[n])
			}
		}
		l, one, rest := any(), vars[0], rng.IntN(1<<variables)
		restricted := c.Restrict(l, map[Lit]bool{one: true})
		if got, want := c.values(vars, rest)(restricted), c.values(vars, rest|1)(l); got != want {
			t.Fatalf("restricted: got %v, want %v", got, want)
		}
		var required []Lit
		for range 3 { // several questions to the same circuit
			asked := []Lit{any(), any(), any()}
			if rng.IntN(3) == 0 {
				l := any()
				required = append(required, l)
				c.Require(l)
			}
			m, err := c.Satisfy(t.Context(), asked...)
			if err != nil {
				t.Fatal(err)
			}
			want := false
			for bits := range 1 << variables {
				at := c.values(vars, bits)
				ok := true
				for _, l := range append(asked, required...) {
					ok = ok && at(l)
				}
				want = want || ok
			}
			if got := m != nil; got != want {
				t.Fatalf("satisfiable: got %v, want %v", got, want)
			}
			for _, l := range append(asked, required...) {
				if m != nil && !m(l) {
					t.Fatalf("the model does not satisfy %v", l)
				}
			}
			counts[want]++
		}
	}
	if counts[true] < 500 || counts[false] < 500 {
		t.Errorf("the questions are one-sided: %v", counts)
	}
}

func (c *Circuit) values(vars []Lit, bits int) func(Lit) bool {
	return c.Evaluate(func(l Lit) bool { return bits&(1<<slices.Index(vars, l)) != 0 })
}

// TestPigeons takes many conflicts: n+1 pigeons do not fit into n holes.
func TestPigeons(t *testing.T) {
	ask := func(n int) error {
		c := New()
		in := make([][]Lit, n+1)
		for p := range in {
			for range n {
				in[p] = append(in[p], c.Var())
			}
			c.RequireAny(in[p]...)
		}
		for h := range n {
			for p := range in {
				for q := range p {
					c.RequireAny(in[p][h].Not(), in[q][h].Not())
				}
			}
		}
		m, err := c.Satisfy(t.Context())
		if m != nil {
			t.Errorf("%d pigeons fit into %d holes", n+1, n)
		}
		return err
	}
	if err := ask(6); err != nil {
		t.Error(err)
	}
	if testing.Short() {
		return // giving up takes a second
	}
	if err := ask(14); !errors.Is(err, ErrUnknown) {
		t.Errorf("14 holes: got %v, want %v", err, ErrUnknown)
	}
}

// TestChain has a formula too deep for a recursive solver, and large enough that the solver drops
// learned clauses.
func TestChain(t *testing.T) {
	c := New()
	var l []Lit
	for range 3000 {
		l = append(l, c.Var())
	}
	two := c.AtLeast(2, l)[2]
	for i, a := range l[:200] {
		for _, b := range l[:i] {
			c.RequireAny(a.Not(), b.Not())
		}
	}
	for _, a := range l[200:] {
		c.Require(a.Not())
	}
	m, err := c.Satisfy(t.Context(), two)
	if m != nil || err != nil {
		t.Errorf("two of pairwise exclusive variables hold (%v)", err)
	}
	m, err = c.Satisfy(t.Context(), l[7])
	if m == nil || err != nil || !m(l[7]) || m(l[8]) {
		t.Errorf("one alone: %v", err)
	}
}
