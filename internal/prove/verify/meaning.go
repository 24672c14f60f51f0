package verify

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// symbolic is the state of a union object as formulas; see [union.State].
type symbolic struct {
	space         *formula.Space
	u             *union.Union
	exists        logic.Lit
	discriminator *formula.Place // nil if there is none
	unset         logic.Lit
	present       []logic.Lit // by member
}

// newSymbolic returns the state of the union object at a place in formulas.
func newSymbolic(s *formula.Space, u *union.Union, object *formula.Place) symbolic {
	st := symbolic{space: s, u: u, exists: object.Present(), unset: logic.True}
	if u.Discriminator != "" {
		st.discriminator = object.Lookup(u.Path(u.Discriminator).Properties()...)
		st.unset = st.discriminator.Present().Not()
		if u.Type == union.StringValue {
			st.unset = s.Or(st.unset, st.discriminator.Equals(""))
		}
		for _, v := range append(u.MemberValues(), u.Values...) {
			st.discriminator.Equals(u.Type.Value(v))
		}
	}
	for _, m := range u.Members {
		p := object.Lookup(memberPath(u, m)...)
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

// isOneOf returns the formula that the discriminator has one of the values; "" means that it is
// unset, unless that is a value.
func (st symbolic) isOneOf(values []string) logic.Lit {
	var l []logic.Lit
	for _, v := range values {
		switch {
		case v == "" && st.u.Unset == "":
			l = append(l, st.unset)
		case v != "":
			l = append(l, st.discriminator.Equals(st.u.Type.Value(v)))
		}
	}
	if st.u.Unset != "" && slices.Contains(values, st.u.Unset) {
		l = append(l, st.unset)
	}
	return st.space.Or(l...)
}

// values returns the known values of the discriminator.
func (st symbolic) values() []string {
	var l []string
	switch {
	case st.discriminator == nil:
	case st.u.Type == union.BooleanValue:
		l = []string{"false", "true"}
	default:
		for _, f := range st.discriminator.Constants() {
			if v := st.u.Type.Text(f.Constant); v != "" {
				l = append(l, v)
			}
		}
	}
	return l
}

// state returns the state of the union object in a model.
func (st symbolic) state(m logic.Model) union.State {
	s := union.State{Present: make([]bool, len(st.present))}
	for i, l := range st.present {
		s.Present[i] = m(l)
	}
	if st.discriminator == nil {
		return s
	}
	if s.Value = st.u.Unset; !m(st.unset) {
		s.Value = union.AnotherValue
		for _, f := range st.discriminator.Constants() {
			if m(f.Lit) {
				s.Value = st.u.Type.Text(f.Constant)
			}
		}
		if st.u.Type == union.BooleanValue && s.Value == union.AnotherValue {
			s.Value = "false"
		}
	}
	return s
}

// translate translates an expression about the union of old and new.
func translate(e union.Expr, old, new symbolic) logic.Lit {
	s, at := new.space, new
	if e.Old {
		at = old
	}
	var of []logic.Lit
	for _, o := range e.Of {
		of = append(of, translate(o, old, new))
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
		return at.isOneOf(e.Values)
	}
	same := s.Or(s.And(old.unset, new.unset), s.Same(old.discriminator, new.discriminator))
	if v := new.u.Unset; v != "" {
		same = s.Or(same, s.And(old.isOneOf([]string{v}), new.isOneOf([]string{v})))
	}
	return same
}

// broken is a condition with the formula that a state or change breaks it.
type broken struct {
	union.Violation
	when logic.Lit
}

// conditions returns the formulas in breaks.
func conditions(breaks []broken) []logic.Lit {
	var l []logic.Lit
	for _, b := range breaks {
		l = append(l, b.when)
	}
	return l
}

// whenAny returns the formula that at least one of the conditions is broken.
func (p *unionProblem) whenAny(breaks []broken) logic.Lit { return p.Space.Or(conditions(breaks)...) }

// formulas translates clauses into formulas. It omits clauses that no state or change breaks.
func formulas(l union.Clauses, old, new symbolic) []broken {
	var all []broken
	for _, c := range l {
		if when := translate(c.When, old, new); when != logic.False {
			all = append(all, broken{c.Violation, when})
		}
	}
	return all
}

// violations returns the conditions on a state, with the formulas that the state breaks them.
func (st symbolic) violations() []broken { return formulas(st.u.Conditions(), st, st) }

// removable returns the formula that an update may remove the union object.
func (p *unionProblem) removable() logic.Lit {
	return translate(p.u.Removes(p.old.values()...), p.old, p.old)
}

// legal returns the formula that the union allows the creation or update, and the conditions with
// the formulas that they are broken.
func (p *unionProblem) legal() (logic.Lit, []broken) {
	breaks := p.breaks(p.u, p.old, p.new)
	return p.whenAny(breaks).Not(), breaks
}

// breaks returns the conditions of u on a creation or update, with the formulas that it breaks them.
func (p *unionProblem) breaks(u *union.Union, old, new symbolic) []broken {
	s := p.Space
	breaks := new.violations()
	if exempt := s.And(old.exists, translate(u.Exempts(), old, new)); exempt != logic.False {
		for i := range breaks {
			breaks[i].when = s.And(breaks[i].when, exempt.Not())
		}
	}
	for _, b := range formulas(u.Changes(new.values()...), old, new) {
		b.when = s.And(old.exists, b.when)
		breaks = append(breaks, b)
	}
	return breaks
}

// othersAllow returns the formula that the other unions with common properties allow the creation or
// update.
func (p *unionProblem) othersAllow() logic.Lit {
	allow := logic.True
	for _, o := range p.sharing {
		allow = p.Space.And(allow, p.whenAny(p.breaks(o[prove.New].u, o[prove.Old], o[prove.New])).Not())
	}
	return allow
}

// Broken returns the violations of a state of u, and for each the formula that the object at a place of a
// space has it.
func Broken(s *formula.Space, u *union.Union, object *formula.Place) (violations []union.Violation, when []logic.Lit) {
	breaks := newSymbolic(s, u, object).violations()
	for _, b := range breaks {
		violations = append(violations, b.Violation)
	}
	return violations, conditions(breaks)
}
