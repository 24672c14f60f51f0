package verify

import (
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// symbolic is the state of a union object as formulas; see [union.State].
type symbolic struct {
	exists        logic.Lit
	discriminator *formula.Place // nil without one
	unset         logic.Lit
	present       []logic.Lit // by member
}

// newSymbolic is the state of the union object at a place.
func newSymbolic(s *formula.Space, u *union.Union, object *formula.Place) symbolic {
	st := symbolic{exists: object.Present(), unset: logic.True}
	if u.Discriminator != "" {
		st.discriminator = object.At(u.Path(u.Discriminator).Properties()...)
		st.unset = s.Or(st.discriminator.Present().Not(), st.discriminator.Equals(""))
		for _, v := range append(u.MemberValues(), u.Values...) {
			st.discriminator.Equals(v)
		}
	}
	for _, m := range u.Members {
		p := object.At(memberPath(u, m)...)
		present := p.Present()
		switch m.Empty {
		case union.PresentWhenEmpty:
		case union.EmptyObject:
			var fields []logic.Lit
			for _, name := range m.Fields {
				fields = append(fields, p.Child(name).Present())
			}
			present = s.And(present, s.Or(fields...))
		default:
			present = s.And(present, p.Empty().Not())
		}
		st.present = append(st.present, present)
	}
	return st
}

// is says that the discriminator has a value; "" is unset.
func (st symbolic) is(v string) logic.Lit {
	if v == "" {
		return st.unset
	}
	return st.discriminator.Equals(v)
}

// selects says that the discriminator has one of a member's values.
func (st symbolic) selects(s *formula.Space, m union.Member) logic.Lit {
	return st.isOneOf(s, m.Values)
}

// isOneOf says that the discriminator has one of some values.
func (st symbolic) isOneOf(s *formula.Space, values []string) logic.Lit {
	var l []logic.Lit
	for _, v := range values {
		l = append(l, st.is(v))
	}
	return s.Or(l...)
}

// broken is a condition that a state or change breaks where the formula holds.
type broken struct {
	union.Violation
	when logic.Lit
}

// formulaOf is an expression about an old and a new state as a formula.
func formulaOf(s *formula.Space, e union.Expr, old, new symbolic) logic.Lit {
	at := new
	if e.Old {
		at = old
	}
	var of []logic.Lit
	for _, o := range e.Of {
		of = append(of, formulaOf(s, o, old, new))
	}
	switch e.Op {
	case union.And:
		return s.And(of...)
	case union.Or:
		return s.Or(of...)
	case union.Not:
		return of[0].Not()
	case union.AtLeast:
		return s.AtLeast(max(2, e.N), of)[e.N]
	case union.Set:
		return at.present[e.N]
	case union.Is:
		return at.isOneOf(s, e.Values)
	}
	return s.Same(old.discriminator, new.discriminator)
}

// formulasOf are the conditions that are broken in some state.
func formulasOf(s *formula.Space, l union.Clauses, old, new symbolic) []broken {
	var all []broken
	for _, c := range l {
		if when := formulaOf(s, c.When, old, new); when != logic.False {
			all = append(all, broken{c.Violation, when})
		}
	}
	return all
}

// violations is [union.Union.Violations] as formulas.
func violations(s *formula.Space, u *union.Union, st symbolic) []broken {
	return formulasOf(s, u.Conditions(), st, st)
}

// changeViolations is [union.Union.ChangeViolations] as formulas.
func changeViolations(s *formula.Space, u *union.Union, old, new symbolic) []broken {
	return formulasOf(s, u.Changes(new.values()...), old, new)
}

// values are the known values of the discriminator.
func (st symbolic) values() []string {
	var l []string
	if st.discriminator != nil {
		for _, f := range st.discriminator.Constants() {
			if v, ok := f.Constant.(string); ok && v != "" {
				l = append(l, v)
			}
		}
	}
	return l
}

// removable is [union.Union.Removable] as a formula.
func removable(s *formula.Space, u *union.Union, old symbolic) logic.Lit {
	return formulaOf(s, u.Removes(old.values()...), old, old)
}

// sameState says that both objects are in the same state.
func sameState(s *formula.Space, old, new symbolic) logic.Lit {
	same := sameValue(s, old, new)
	for i := range old.present {
		same = s.And(same, s.Equal(old.present[i], new.present[i]))
	}
	return same
}

func sameValue(s *formula.Space, old, new symbolic) logic.Lit {
	if old.discriminator == nil {
		return logic.True
	}
	return s.Or(s.And(old.unset, new.unset), s.Same(old.discriminator, new.discriminator))
}

// judge is [union.Union.Judge] as formulas, of a new state and, where there was one,
// the old.
func judge(s *formula.Space, u *union.Union, old, new symbolic) []broken {
	l := violations(s, u, new)
	if u.Ratchet {
		exempt := s.And(old.exists, sameState(s, old, new))
		for i := range l {
			l[i].when = s.And(l[i].when, exempt.Not())
		}
	}
	for _, b := range changeViolations(s, u, old, new) {
		b.when = s.And(old.exists, b.when)
		l = append(l, b)
	}
	return l
}
