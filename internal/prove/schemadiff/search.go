package schemadiff

import (
	"errors"
	"slices"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
)

// rejection looks for an object that one side rejects because of a suspected check, and that the other
// side accepts.
func (b *pathComparison) rejection(refusing int, suspected []suspect) (r Rejection, err error) {
	if len(suspected) == 0 {
		return r, nil
	}
	accepting := 1 - refusing
	s, y := b.Space, b.sides[accepting]
	l := b.accepted(accepting)
	var violated []logic.Lit
	changing := false
	var checks []*prove.Check
	for _, c := range suspected {
		violated = append(violated, s.And(c.when, c.Holds.Not()))
		checks = append(checks, c.Check)
		changing = changing || c.Changing
	}
	l = append(l, s.Or(violated...))
	stored, created := s.And(append(y.stored, s.Old.Present())...), s.And(y.created...)
	modes := []logic.Lit{s.Old.Present().Not()}
	// A rule with optionalOldSelf may accept an update to a state that it rejects on creation.
	if changing || slices.ContainsFunc(y.checks, func(c *prove.Check) bool { return c.Optional() }) {
		modes = append(modes, s.And(stored, created))
	}
	b.accepting, b.suspected, b.exempt, y.doubt, y.masked = accepting, suspected, s.And(stored, created.Not()), "", ""
	l = append(l, b.Tell())
	for _, mode := range append(modes, b.exempt) {
		if mode == b.exempt && r.Doubt != "" {
			break // updates of other objects may differ, too
		}
		l := append(slices.Clone(l), mode)
		m, err := b.Possible(l...)
		if m == nil && err == nil {
			continue
		}
		var e *prove.Example
		if err == nil {
			e, err = b.shown(l, b.nothingElse(refusing, checks))
		}
		switch {
		case e != nil:
			return Rejection{Witness: &Witness{e.Old, e.New, mode == b.exempt}}, nil
		case err == nil:
			// The API server's results exclude all candidates, but other values may exist.
			r.Doubt = "no object was found that shows it"
		case logic.IsExhausted(err):
			return Rejection{Doubt: err.Error()}, nil
		case prove.Undecided(err):
			r.Doubt = err.Error()
		default:
			return r, err
		}
	}
	switch {
	case r.Doubt == "":
	case y.masked != "":
		return Rejection{Anyway: y.masked}, nil
	case y.doubt != "":
		r.Doubt = "the objects tried are rejected for another reason: " + y.doubt
	}
	return r, nil
}

// accepted returns the formulas that a side accepts an object.
func (b *pathComparison) accepted(side int) (l []logic.Lit) {
	y := b.sides[side]
	for _, c := range y.checks {
		l = append(l, c.Holds)
	}
	for _, at := range y.view.Dropped {
		l = append(l, at.Present().Not(), at.Null().Not())
	}
	return append(l, b.Space.Alike(y.view, b.sides[1-side].view))
}

// fails reports whether a suspected check of one side may fail to evaluate on an object that the other side
// accepts.
func (b *pathComparison) fails(refusing int, suspected []suspect) bool {
	var fails []logic.Lit
	for _, c := range suspected {
		fails = append(fails, b.Space.And(c.when, c.Fails))
	}
	return !b.Never(append(b.accepted(1-refusing), b.Space.Or(fails...))...)
}

// shown returns an example that satisfies as many of the first wishes as possible.
func (b *pathComparison) shown(l []logic.Lit, wishes []logic.Lit) (*prove.Example, error) {
	for n := len(wishes); ; n-- {
		e, err := b.Search(b.wishes, append(slices.Clone(l), wishes[:n]...)...)
		if e != nil || n == 0 || err != nil && !errors.Is(err, prove.ErrNotMade) {
			return e, err
		}
	}
}

// nothingElse returns the condition that the side rejects the object only because of the given
// checks: no other check fails, and no property is pruned.
func (b *pathComparison) nothingElse(side int, but []*prove.Check) []logic.Lit {
	var holds, kept []logic.Lit
	for _, c := range b.sides[side].checks {
		if !slices.Contains(but, c) {
			holds = append(holds, c.Holds)
		}
	}
	for _, at := range b.sides[side].view.Dropped {
		kept = append(kept, at.Key().Not())
	}
	return []logic.Lit{b.Space.And(holds...), b.Space.And(kept...)}
}

// wishes prefers examples with few properties and few changes.
func (b *pathComparison) wishes(update bool) []prove.Wish {
	var few, changed []logic.Lit
	for _, sl := range b.Slots {
		for side, chosen := range sl.Chosen {
			for i, l := range chosen {
				if sl.Values[i] == any(prove.Absent{}) && (side == prove.New || update) {
					few = append(few, b.Space.And(sl.Places[side].Parent.Present(), l.Not()))
				}
			}
		}
		if update {
			for i, l := range sl.Chosen[prove.New] {
				changed = append(changed, b.Space.And(l, sl.Chosen[prove.Old][i].Not()))
			}
		}
	}
	return []prove.Wish{{Few: few}, {Few: changed}}
}

// confirms validates an example with both sides, and evaluates the suspected checks.
func (b *pathComparison) confirms(e *prove.Example) bool {
	accepting, refusing := b.sides[b.accepting], b.sides[1-b.accepting]
	if e.Old != nil {
		e.Old = accepting.view.Decode(e.Old) // as stored, with the defaults of the accepting side
	}
	fails := func(s suspect) bool {
		if !e.Model(s.when) || e.Model(s.Holds) {
			return false
		}
		said, _ := b.Ask(s.Check, e.New, e.Old)
		return !s.Evaluable() || said != sample.Holds
	}
	var failing []suspect
	for _, s := range b.suspected {
		if fails(s) {
			failing = append(failing, s)
		}
	}
	if len(failing) == 0 {
		return false
	}
	if e.Old != nil {
		var said Refusal
		if e.Model(b.exempt) {
			said = accepting.Plain(b.Source.Context(), e.Old)
		} else {
			said = accepting.Refusal(b.Source.Context(), nil, e.Old)
		}
		if len(said.Errors) > 0 {
			accepting.doubt = said.String()
			return false
		}
	}
	if said := accepting.Refusal(b.Source.Context(), e.Old, e.New); len(said.Errors) > 0 {
		accepting.doubt = said.String()
		return false
	}
	said := refusing.Refusal(b.Source.Context(), e.Old, e.New)
	if said.NoRules && !slices.ContainsFunc(failing, func(s suspect) bool { return s.Validation == nil }) {
		accepting.masked = said.String()
		return false
	}
	return len(said.Errors) > 0
}

// tried adds values to try for a property.
func (b *pathComparison) tried(level int, name string, values []any) {
	k := property{level, name}
	b.try[k] = append(b.try[k], values...)
}

// widen adds values to a slot that only one of the schemas accepts.
func (b *pathComparison) widen(s *prove.Slot, r *prove.Reads) {
	name := s.Path[0] // the path has a single step
	holder := b.loose.Schemas[s.Level]
	n := holder.Property(name)
	if n == nil {
		return
	}
	s.Unset(holder.Removable(name))
	s.Add(b.try[property{s.Level, name}]...)
	s.Add(b.Source.Several(n)...)
	b.AddAccepted(s, n, r)
}
