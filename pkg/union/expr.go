package union

import (
	"slices"
)

// Expr is a condition on the new state of a union object and, for updates, on the old state. It is
// plain data that callers evaluate or translate.
type Expr struct {
	Op Op
	// Of are the operands of And, Or, Not and AtLeast.
	Of []Expr
	// N is the least number of operands for AtLeast, and the index of the member for Set.
	N int
	// Values are the values for Is; "" is an unset discriminator.
	Values []string
	// Old makes Set and Is refer to the old state.
	Old bool
}

// Op is an operator of expressions, or an atom.
type Op int

const (
	And     Op = iota // all operands hold
	Or                // one of the operands holds
	Not               // the operand does not hold
	AtLeast           // N of the operands hold
	Set               // member N is present
	Is                // the discriminator has one of Values
	Same              // the discriminator has its old value
)

// Holds evaluates the expression for an update. It ignores old if the expression refers only to the
// new state.
func (e Expr) Holds(old, new State) bool {
	at := new
	if e.Old {
		at = old
	}
	switch e.Op {
	case And, Or:
		for i := range e.Of {
			if e.Of[i].Holds(old, new) == (e.Op == Or) {
				return e.Op == Or
			}
		}
		return e.Op == And
	case Not:
		return !e.Of[0].Holds(old, new)
	case AtLeast:
		n := 0
		for i := range e.Of {
			if e.Of[i].Holds(old, new) {
				n++
			}
		}
		return n >= e.N
	case Set:
		return at.Present[e.N]
	case Is:
		return slices.Contains(e.Values, at.Value)
	}
	return old.Value == new.Value
}

func and(of ...Expr) Expr { return Expr{Op: And, Of: of} }

func or(of ...Expr) Expr { return Expr{Op: Or, Of: of} }

func not(e Expr) Expr { return Expr{Op: Not, Of: []Expr{e}} }

// at builds expressions about the old or the new state.
type at struct {
	*Union
	old bool
}

func (s at) set(i int) Expr { return Expr{Op: Set, N: i, Old: s.old} }

func (s at) is(values ...string) Expr { return Expr{Op: Is, Values: values, Old: s.old} }

// several returns the condition that at least n groups are present.
func (s at) several(n int) Expr {
	e := Expr{Op: AtLeast, N: n}
	for _, g := range s.setGroups() {
		e.Of = append(e.Of, g.when)
	}
	return e
}

// choice is a possible result of [Union.Selection] with its condition.
type choice struct {
	name string // "" for no selection
	when Expr
}

// selection returns [Union.Selection] as expressions: first no selection, then the groups or, with
// a discriminator, values. The caller passes values sorted, with all values of members.
func (s at) selection(values []string) []choice {
	one := and(s.several(1), not(s.several(2)))
	if s.Discriminator == "" {
		l := []choice{{"", not(one)}}
		for _, g := range s.setGroups() {
			l = append(l, choice{g.name, and(g.when, one)})
		}
		return l
	}
	if !s.Deduce {
		l := []choice{{"", s.is("")}}
		for _, v := range values {
			l = append(l, choice{v, s.is(v)})
		}
		return l
	}
	l := []choice{{"", and(s.is(""), not(one))}}
	for _, v := range values {
		when := []Expr{s.is(v)}
		for i, m := range s.Members {
			if m.Values[0] == v {
				when = append(when, and(s.is(""), s.set(i), one))
			}
		}
		l = append(l, choice{v, or(when...)})
	}
	return l
}
