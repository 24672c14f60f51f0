// Package logic decides whether Boolean formulas can be satisfied, and finds a model.
//
// A [Circuit] holds formulas over variables; equal formulas are the same [Lit]. A SAT solver
// receives formulas only when questions need them (G. Tseitin's encoding). Its learned clauses
// speed up later questions. Results are deterministic, and the number of conflicts of a question is
// bounded.
package logic

import (
	"context"
	"errors"
	"slices"
)

// Lit is a formula of a [Circuit], or the negation of one.
type Lit int32

// False and True are the constants.
const (
	False Lit = 0
	True  Lit = 1
)

// Not returns the negation of l.
func (l Lit) Not() Lit { return l ^ 1 }

// If returns l if holds is true, and otherwise its negation.
func (l Lit) If(holds bool) Lit {
	if holds {
		return l
	}
	return l.Not()
}

// MaxConflicts bounds the work for one question. Hand-written rules take a few hundred conflicts.
const MaxConflicts = 20_000

// MaxWork bounds the work for all questions to one circuit, in assignments of variables.
const MaxWork = 200_000_000

// ErrUnknown means that a question takes more work than permitted.
var ErrUnknown = errors.New("the rules are too intricate to be decided")

// Circuit is a set of formulas over variables. It must not be used concurrently.
type Circuit struct {
	gates  []gate // by variable; a free variable has no inputs
	known  map[gate]Lit
	solver *solver
	told   []bool // whether the solver has the clauses of the gate
}

// gate is the conjunction of two formulas.
type gate struct{ a, b Lit }

// New returns a circuit without variables.
func New() *Circuit {
	c := &Circuit{known: map[gate]Lit{}, solver: newSolver()}
	c.node(gate{}) // for the constants
	c.solver.add(True)
	return c
}

func (c *Circuit) node(g gate) Lit {
	l := Lit(len(c.gates)) << 1
	c.gates, c.told = append(c.gates, g), append(c.told, false)
	c.solver.backTo(0)
	c.solver.variable()
	return l
}

// Len returns the number of variables and formulas.
func (c *Circuit) Len() int { return len(c.gates) }

// Var returns a new variable.
func (c *Circuit) Var() Lit { return c.node(gate{}) }

// And returns the conjunction of formulas.
func (c *Circuit) And(l ...Lit) Lit {
	all := True
	for _, l := range l {
		all = c.and(all, l)
	}
	return all
}

func (c *Circuit) and(a, b Lit) Lit {
	switch {
	case a > b:
		a, b = b, a
		return c.and(a, b)
	case a == True || a == b:
		return b
	case a == False || a == b.Not():
		return False
	}
	g := gate{a, b}
	l, ok := c.known[g]
	if !ok {
		l = c.node(g)
		c.known[g] = l
	}
	return l
}

// Or returns the disjunction of formulas.
func (c *Circuit) Or(l ...Lit) Lit {
	none := True
	for _, l := range l {
		none = c.and(none, l.Not())
	}
	return none.Not()
}

// Implies returns the formula that b holds if a holds.
func (c *Circuit) Implies(a, b Lit) Lit { return c.and(a, b.Not()).Not() }

// Choose returns a formula that equals a if cond holds, and b otherwise.
func (c *Circuit) Choose(cond, a, b Lit) Lit {
	if a == b {
		return a
	}
	return c.Or(c.and(cond, a), c.and(cond.Not(), b))
}

// Equal returns the formula that both or neither of a and b hold.
func (c *Circuit) Equal(a, b Lit) Lit { return c.Choose(a, b, b.Not()) }

// AtLeast returns, by index up to n, the formulas that at least that many of l hold.
func (c *Circuit) AtLeast(n int, l []Lit) []Lit {
	counts := make([]Lit, n+1)
	for i := range counts {
		counts[i] = False
	}
	counts[0] = True
	for _, l := range l {
		for i := n; i > 0; i-- {
			counts[i] = c.Or(counts[i], c.and(counts[i-1], l))
		}
	}
	return counts
}

// Require restricts all later models to those in which the formula holds.
func (c *Circuit) Require(l Lit) { c.RequireAny(l) }

// RequireAny restricts all later models to those in which at least one of the formulas holds.
func (c *Circuit) RequireAny(l ...Lit) {
	c.solver.backTo(0)
	for _, l := range l {
		c.tell(l)
	}
	c.solver.add(l...)
}

// tell gives a formula and its inputs to the solver.
func (c *Circuit) tell(l Lit) {
	todo := []Lit{l}
	for len(todo) > 0 {
		v := todo[len(todo)-1] >> 1
		todo = todo[:len(todo)-1]
		g := c.gates[v]
		if c.told[v] || g == (gate{}) {
			continue
		}
		c.told[v] = true
		out := v << 1
		c.solver.add(out.Not(), g.a)
		c.solver.add(out.Not(), g.b)
		c.solver.add(out, g.a.Not(), g.b.Not())
		todo = append(todo, g.a, g.b)
	}
}

// Model returns the truth value of a formula. Variables created after the model are false.
type Model func(Lit) bool

// Satisfy returns a model of the given formulas and all requirements, or nil if there is none.
// Each assignment of a variable spends a step of ctx (see [Question]). Errors are [ErrUnknown],
// and the cause of the end of ctx.
func (c *Circuit) Satisfy(ctx context.Context, formulas ...Lit) (Model, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	before := c.solver.work
	defer func() { Spend(ctx, c.solver.work-before) }()
	c.solver.backTo(0)
	for _, l := range formulas {
		c.tell(l)
	}
	if c.solver.work > MaxWork {
		return nil, ErrUnknown
	}
	satisfied, known := c.solver.solve(ctx, formulas, MaxConflicts)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !known:
		return nil, ErrUnknown
	case !satisfied:
		return nil, nil
	}
	// The solver may have inconsistent values for formulas that it did not receive.
	return c.Evaluate(func(l Lit) bool { return c.solver.value[l>>1] > 0 }), nil
}

// Evaluate returns the model for given values of the variables. It ignores requirements.
func (c *Circuit) Evaluate(variable func(Lit) bool) Model {
	var values []bool
	extend := func(to int) {
		for v := len(values); v < to; v++ {
			switch g := c.gates[v]; {
			case v == 0:
				values = append(values, false)
			case g == gate{}:
				values = append(values, variable(Lit(v)<<1))
			default:
				values = append(values, values[g.a>>1] != (g.a&1 == 1) && values[g.b>>1] != (g.b&1 == 1))
			}
		}
	}
	extend(len(c.gates))
	variable = func(Lit) bool { return false }
	return func(l Lit) bool {
		extend(int(l>>1) + 1)
		return values[l>>1] != (l&1 == 1)
	}
}

// Support returns the variables that a formula contains, in order of creation.
func (c *Circuit) Support(l Lit) []Lit {
	return slices.DeleteFunc(c.cone(l), func(v Lit) bool { return c.gates[v>>1] != (gate{}) })
}

// cone returns the variables and conjunctions that a formula contains, inputs before conjunctions.
func (c *Circuit) cone(l Lit) []Lit {
	seen := map[Lit]bool{False: true}
	var cone []Lit
	todo := []Lit{l}
	for len(todo) > 0 {
		v := todo[len(todo)-1] &^ 1
		todo = todo[:len(todo)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		cone = append(cone, v)
		if g := c.gates[v>>1]; g != (gate{}) {
			todo = append(todo, g.a, g.b)
		}
	}
	slices.Sort(cone)
	return cone
}

// Restrict returns a formula with values in the place of some variables.
func (c *Circuit) Restrict(l Lit, values map[Lit]bool) Lit {
	restricted := map[Lit]Lit{False: False}
	of := func(l Lit) Lit { return restricted[l&^1] ^ l&1 }
	for _, v := range c.cone(l) {
		value, known := values[v]
		switch g := c.gates[v>>1]; {
		case known:
			restricted[v] = True.If(value)
		case g == (gate{}):
			restricted[v] = v
		default:
			restricted[v] = c.and(of(g.a), of(g.b))
		}
	}
	return of(l)
}
