package verify

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// symbolic is the state of a union object as formulas; see [union.State].
type symbolic struct {
	object        *formula.Place
	exists        logic.Lit
	discriminator *formula.Place // nil without one
	unset         logic.Lit
	present       []logic.Lit // by member
}

// newSymbolic is the state of the union object at a place.
func newSymbolic(s *formula.Space, u *union.Union, object *formula.Place) symbolic {
	paths := pathsOf(u)
	st := symbolic{object: object, exists: object.Present(), unset: logic.True}
	if u.Discriminator != "" {
		st.discriminator = object.At(paths[len(u.Members)]...)
		st.unset = s.Or(st.discriminator.Present().Not(), st.discriminator.Equals(""))
		for _, v := range append(u.MemberValues(), u.Values...) {
			st.discriminator.Equals(v)
		}
	}
	for i, m := range u.Members {
		p := object.At(paths[i]...)
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

// violations is [union.Union.Violations] as formulas.
func violations(s *formula.Space, u *union.Union, st symbolic) []broken {
	var l []broken
	add := func(c union.Condition, member int, when logic.Lit) {
		if when != logic.False {
			l = append(l, broken{union.Violation{Condition: c, Member: member}, when})
		}
	}
	if u.Discriminator == "" {
		counts := s.AtLeast(2, st.present)
		if u.Cardinality != union.AtLeastOne {
			add(union.TooMany, -1, counts[2])
		}
		if u.Cardinality != union.AtMostOne {
			add(union.TooFew, -1, counts[1].Not())
		}
		return l
	}
	var mapped []logic.Lit
	for _, m := range u.Members {
		mapped = append(mapped, st.selects(s, m))
	}
	if u.Cardinality == union.ExactlyOne {
		add(union.Selected, -1, st.unset)
	}
	if u.ForbidUnmapped {
		add(union.Unmapped, -1, s.And(st.unset.Not(), s.Or(mapped...).Not()))
	}
	deduced := logic.False
	if u.Deduce {
		deduced = st.unset
		add(union.TooMany, -1, s.And(deduced, s.AtLeast(2, st.present)[2]))
	}
	for i, m := range u.Members {
		add(union.Forbidden, i, s.And(st.present[i], mapped[i].Not(), deduced.Not()))
		add(union.Required, i, s.And(st.present[i].Not(), st.isOneOf(s, m.Required()), deduced.Not()))
	}
	return l
}

// changeViolations is [union.Union.ChangeViolations] as formulas.
func changeViolations(s *formula.Space, u *union.Union, old, new symbolic) []broken {
	switch u.Change {
	case union.Clear:
		return []broken{{union.Violation{Condition: union.NotCleared, Member: -1}, leavesBehind(s, u, old, new)}}
	case union.Forbid, union.AllowedChanges:
		return []broken{{union.Violation{Condition: union.NotAllowed, Member: -1}, changeAllowed(s, u, old, new).Not()}}
	}
	return nil
}

func leavesBehind(s *formula.Space, u *union.Union, old, new symbolic) logic.Lit {
	var left, set, kept []logic.Lit
	for i, m := range u.Members {
		if u.Discriminator != "" {
			deduced := logic.False
			if u.Deduce {
				deduced = new.unset
			}
			left = append(left, s.And(old.selects(s, m), new.present[i], new.selects(s, m).Not(), deduced.Not()))
			continue
		}
		set = append(set, s.And(new.present[i], old.present[i].Not()))
		kept = append(kept, s.And(new.present[i], old.present[i]))
	}
	if u.Discriminator != "" {
		return s.Or(left...)
	}
	return s.And(s.Or(set...), s.Or(kept...))
}

// selection is [union.Union.Selection]: for each thing that may be selected the
// formula that it is, "" for nothing. With a discriminator, none of them is when it
// has a value that is not among them.
func selection(s *formula.Space, u *union.Union, st symbolic) map[string]logic.Lit {
	counts := s.AtLeast(2, st.present)
	one := s.And(counts[1], counts[2].Not())
	l := map[string]logic.Lit{}
	if u.Discriminator == "" {
		l[""] = one.Not()
		for i, m := range u.Members {
			l[m.Name] = s.And(one, st.present[i])
		}
		return l
	}
	for _, f := range st.discriminator.Constants() {
		if v, ok := f.Constant.(string); ok && v != "" {
			l[v] = f.Lit
		}
	}
	l[""] = st.unset
	if u.Deduce {
		l[""] = s.And(st.unset, one.Not())
		for i, m := range u.Members {
			v := m.Values[0]
			l[v] = s.Or(st.is(v), s.And(st.unset, one, st.present[i]))
		}
	}
	return l
}

func changeAllowed(s *formula.Space, u *union.Union, old, new symbolic) logic.Lit {
	from := selection(s, u, old)
	allowed := []logic.Lit{from[""]}
	if u.Discriminator != "" {
		to := selection(s, u, new)
		known := from[""]
		for _, v := range sortedKeys(from) {
			if v == "" {
				continue
			}
			known = s.Or(known, from[v])
			targets := []logic.Lit{logic.False}
			for _, w := range append([]string{v}, u.Allowed[v]...) {
				if l, ok := to[w]; ok {
					targets = append(targets, l)
				}
			}
			allowed = append(allowed, s.And(from[v], s.Or(targets...)))
		}
		return s.Or(append(allowed, s.And(known.Not(), s.Same(old.discriminator, new.discriminator)))...)
	}
	none := s.Or(new.present...).Not()
	for i, m := range u.Members {
		row := u.Allowed[m.Name]
		var others []logic.Lit
		for j, n := range u.Members {
			if !slices.Contains(row, n.Name) {
				others = append(others, new.present[j])
			}
		}
		to := s.And(none.Not(), s.Or(others...).Not())
		if slices.Contains(row, "") {
			to = s.Or(to, none)
		}
		allowed = append(allowed, s.And(from[m.Name], s.Or(new.present[i], to)))
	}
	return s.Or(allowed...)
}

// removable is [union.Union.Removable] as a formula.
func removable(s *formula.Space, u *union.Union, old symbolic) logic.Lit {
	if !u.Guarded() {
		return logic.True
	}
	from := selection(s, u, old)
	l := []logic.Lit{from[""]}
	for _, v := range sortedKeys(from) {
		if v != "" && slices.Contains(u.Allowed[v], "") {
			l = append(l, from[v])
		}
	}
	return s.Or(l...)
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
