package verify

import (
	"errors"
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Bounds of the search for an object.
const (
	maxLearned  = 2000 // answers of the server taken into account for one example
	maxSmall    = 200  // rounds in which the smallest is tried; after that, any will do
	maxRefused  = 50   // objects that are not judged as predicted
	maxCounted  = 8    // members set, and changed, of the smallest example
	maxPolished = 2500 // values of slots in examples that are made as usual as can be
)

// example is an object, or an update, of which everything that the formulas say is
// what the API server's own code says.
type example struct {
	model    logic.Model
	old, new map[string]any // old is nil for a creation
}

// possible reports whether the formulas can hold, as far as they tell.
func (p *problem) possible(l ...logic.Lit) (logic.Model, error) {
	return p.space.Satisfy(p.ctx, l...)
}

// find makes the smallest example for which the formulas hold; nil if there is none.
// Broken, if any, are the conditions that it breaks.
func (p *problem) find(breaks []broken, l ...logic.Lit) (*example, error) {
	return p.search(func(update bool) []wish {
		var when, changed []logic.Lit
		for _, b := range breaks {
			when = append(when, b.when)
		}
		present := slices.Clone(p.new.present)
		if update {
			present = append(present, p.old.present...)
			for i := range p.new.present {
				changed = append(changed, p.space.Equal(p.new.present[i], p.old.present[i]).Not())
			}
			changed = append(changed, sameValue(p.space, p.old, p.new).Not())
		}
		return []wish{{few: when}, {few: present}, {few: changed}}
	}, l...)
}

// some makes any example.
func (p *problem) some(l ...logic.Lit) (*example, error) { return p.search(nil, l...) }

// wish is a wish for an example: that as few as possible of some formulas hold, or else the
// first that can.
type wish struct{ few, first []logic.Lit }

// search makes an example, the smallest if there are wishes for a creation or an update. One
// is more important than those that follow.
func (p *problem) search(wishes func(update bool) []wish, l ...logic.Lit) (*example, error) {
	l = append([]logic.Lit{p.made}, l...)
	refused := 0
	for round := range maxLearned {
		m, err := p.possible(l...)
		if err != nil || m == nil {
			return nil, err
		}
		if wishes != nil && round < maxSmall {
			if m, err = p.least(m, wishes(m(p.space.Old.Present())), l); err != nil {
				return nil, err
			}
		}
		e := &example{model: m, new: p.make(m, newSide)}
		if m(p.space.Old.Present()) {
			e.old = p.make(m, oldSide)
		}
		if p.learn(e) {
			continue
		}
		if p.confirms(e) {
			return e, nil
		}
		if refused++; refused > maxRefused {
			break
		}
		p.refuse(m)
	}
	return nil, errNotMade
}

var errNotMade = errors.New("no object was found that is judged so")

// learn takes into account what the server says about an example where that is not
// what the model has. It reports whether there is such a thing.
func (p *problem) learn(e *example) bool {
	var old any
	if e.old != nil {
		old = e.old
	}
	learned := false
	for _, f := range p.lazies {
		if old == nil && f.ReadsOld() {
			continue
		}
		holds, ok := p.answers.Holds(p.ctx, f, e.new, old)
		if !ok || holds == e.model(f.Lit) {
			continue
		}
		clause := []logic.Lit{p.made.Not(), f.Lit.If(holds)}
		for _, r := range p.reads(f, e.model) {
			clause = append(clause, r.Not())
		}
		p.space.RequireAny(clause...)
		learned = true
	}
	return learned
}

// confirms asks the server about each check, or whoever judges examples instead.
func (p *problem) confirms(e *example) bool {
	if p.judge != nil {
		return p.judge(e)
	}
	for _, c := range p.checks {
		if said, _ := p.asked(c, e.new, e.old); (said == holds) != e.model(c.holds) {
			return false
		}
	}
	return true
}

// refuse excludes the object of a model.
func (p *problem) refuse(m logic.Model) {
	clause := []logic.Lit{p.made.Not(), p.question.Not()}
	for _, s := range p.slots {
		for _, chosen := range s.chosen {
			for _, c := range chosen {
				if m(c) {
					clause = append(clause, c.Not())
				}
			}
		}
	}
	for _, pl := range p.places {
		for _, q := range []logic.Lit{pl.Present(), pl.Counterpart().Present()} {
			clause = append(clause, q.If(!m(q)))
		}
	}
	p.space.RequireAny(clause...)
}

// least makes a model smaller: what was stored is legal, wishes are granted, and values are
// the usual ones.
func (p *problem) least(m logic.Model, wishes []wish, l []logic.Lit) (logic.Model, error) {
	fixed := slices.Clone(l)
	try := func(soft logic.Lit) (bool, error) {
		if !m(soft) {
			// In this order, as most that is impossible is so for what was asked.
			better, err := p.possible(append([]logic.Lit{soft}, fixed...)...)
			if err != nil || better == nil {
				return false, err
			}
			m = better
		}
		fixed = append(fixed, soft)
		return true, nil
	}
	s := p.space
	fewest := func(l []logic.Lit) error {
		counts := s.AtLeast(maxCounted, l)
		for _, more := range counts[1:] {
			if ok, err := try(more.Not()); ok || err != nil {
				return err
			}
		}
		return nil
	}
	update := m(s.Old.Present())
	if update {
		// What is the same as before may be spared by the server.
		if _, err := try(p.differs()); err != nil {
			return nil, err
		}
		for _, b := range violations(s, p.u, p.old) {
			if _, err := try(b.when.Not()); err != nil {
				return nil, err
			}
		}
	}
	first := func(l []logic.Lit) error {
		for _, c := range l {
			if ok, err := try(c); ok || err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range wishes {
		if err := fewest(w.few); err != nil {
			return nil, err
		}
		if err := first(w.first); err != nil {
			return nil, err
		}
	}
	err := p.polish(update, try, first)
	return m, err // which is the last that was found
}

// differs says that the new object is made of other values than the old one.
func (p *problem) differs() logic.Lit {
	var l []logic.Lit
	for _, s := range p.slots {
		for i, c := range s.chosen[newSide] {
			l = append(l, p.space.And(c, s.chosen[oldSide][i].Not()))
		}
	}
	return p.space.Or(l...)
}

// polish prefers what is usual, and what comes first.
func (p *problem) polish(update bool, try func(logic.Lit) (bool, error), first func([]logic.Lit) error) error {
	sides := []int{newSide}
	if update {
		sides = []int{oldSide, newSide}
	}
	size := 0
	for _, s := range p.slots {
		size += len(s.values) * len(sides)
	}
	if size > maxPolished {
		return nil
	}
	for _, side := range sides {
		st := p.new
		if side == oldSide {
			st = p.old
		}
		for i := len(st.present) - 1; i >= 0; i-- {
			if _, err := try(st.present[i].Not()); err != nil {
				return err
			}
		}
		for _, s := range p.slots {
			var usual []logic.Lit
			for i, c := range s.chosen[side] {
				if p.usual(s, i) {
					usual = append(usual, c)
				}
			}
			if _, err := try(p.space.Or(usual...)); err != nil {
				return err
			}
		}
		for _, s := range p.slots {
			if err := first(s.chosen[side]); err != nil {
				return err
			}
		}
	}
	return nil
}
