package prove

import (
	"errors"
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
)

// Bounds of the search for an object.
const (
	maxLearned  = 2000 // rounds of one search
	maxSmall    = 200  // rounds in which the model is minimized; later rounds use any model
	maxRefused  = 50   // examples that may fail to be confirmed
	maxCounted  = 8    // formulas that are counted for one wish
	maxPolished = 2500 // values of slots up to which examples prefer usual values

	stepsOfRound = 5000 // to make and confirm an example (see [logic.Question])
)

// Example is an object or an update for which the API server's own code confirms all facts of the
// model.
type Example struct {
	Model    logic.Model
	Old, New map[string]any // whole resources; Old is nil for a creation
}

// Wish is a preference for an example: the smallest possible number of formulas in Few holds, and
// the first possible formula in First holds.
type Wish struct{ Few, First []logic.Lit }

// ErrNotMade means that there is a model, but no object was found for it.
var ErrNotMade = errors.New("no object was found that the API server's code validates so")

// Undecided reports whether an error leaves a question open, because the search reached a bound.
func Undecided(err error) bool {
	return errors.Is(err, logic.ErrUnknown) || errors.Is(err, ErrNotMade) || logic.IsExhausted(err)
}

// Possible returns a model that satisfies the formulas, or nil if there is none.
func (p *Problem) Possible(l ...logic.Lit) (logic.Model, error) {
	return p.Space.Satisfy(p.Source.Context(), l...)
}

// Never reports whether no object satisfies the formulas, as proved.
func (p *Problem) Never(l ...logic.Lit) bool {
	m, err := p.Possible(l...)
	return m == nil && err == nil
}

// Smallest returns the smallest example that satisfies the formulas l, or nil if there is none. It
// prefers examples that satisfy fewer of the formulas in few.
func (p *Problem) Smallest(few []logic.Lit, l ...logic.Lit) (*Example, error) {
	return p.Search(func(update bool) []Wish {
		set := p.isSet(New)
		if !update {
			return []Wish{{Few: few}, {Few: set}}
		}
		var changed []logic.Lit
		for _, of := range p.Parts {
			if of.ByValue {
				changed = append(changed, p.SameValue(of).Not())
			} else {
				changed = append(changed, p.Space.Equal(of.IsSet[New], of.IsSet[Old]).Not())
			}
		}
		return []Wish{{Few: few}, {Few: append(set, p.isSet(Old)...)}, {Few: changed}}
	}, l...)
}

// isSet returns the formulas that parts are set, without parts that are ByValue.
func (p *Problem) isSet(side int) []logic.Lit {
	var l []logic.Lit
	for _, of := range p.Parts {
		if !of.ByValue {
			l = append(l, of.IsSet[side])
		}
	}
	return l
}

// SameValue returns the formula that a part has its old value.
func (p *Problem) SameValue(of *Part) logic.Lit {
	s, was, is := p.Space, p.Self(Old).Lookup(of.Path...), p.Self(New).Lookup(of.Path...)
	return s.Or(s.And(of.IsSet[Old].Not(), of.IsSet[New].Not()), s.Same(was, is))
}

// Any returns an example that satisfies the formulas, or nil if there is none.
func (p *Problem) Any(l ...logic.Lit) (*Example, error) { return p.Search(nil, l...) }

// Tell starts a new question: searches may again return examples that Confirm has rejected.
// Searches for this question must include the returned formula.
func (p *Problem) Tell() logic.Lit {
	p.question = p.Space.Var()
	return p.question
}

// Search returns an example that satisfies the formulas l, or nil if there is none. wishes, unless
// nil, returns the preferences for a creation or an update, most important first.
func (p *Problem) Search(wishes func(update bool) []Wish, l ...logic.Lit) (*Example, error) {
	l = append([]logic.Lit{p.made}, l...)
	refused := 0
	for round := range maxLearned {
		m, err := p.Possible(l...)
		if err != nil || m == nil {
			return nil, err
		}
		if wishes != nil && round < maxSmall {
			if m, err = p.least(m, wishes(p.Update(m)), l); err != nil {
				return nil, err
			}
		}
		logic.Spend(p.Source.Context(), stepsOfRound)
		e := &Example{Model: m, New: p.make(m, New)}
		if p.Update(m) {
			e.Old = p.make(m, Old)
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
	return nil, ErrNotMade
}

// learn adds results of the API server that contradict the model of an example. It reports whether
// it added any.
func (p *Problem) learn(e *Example) bool {
	var old any
	if e.Old != nil {
		old = e.Old
	}
	learned := false
	for _, f := range p.lazies {
		if old == nil && f.ReadsOld() {
			continue
		}
		holds, ok := p.answers.Holds(p.Source.Context(), f, e.New, old)
		if !ok || holds == e.Model(f.Lit) {
			continue
		}
		clause := []logic.Lit{p.made.Not(), f.Lit.If(holds)}
		for _, r := range p.reads(f, e.Model) {
			clause = append(clause, r.Not())
		}
		p.Space.RequireAny(clause...)
		learned = true
	}
	return learned
}

func (p *Problem) confirms(e *Example) bool {
	if p.Confirm != nil {
		return p.Confirm(e)
	}
	return !slices.ContainsFunc(p.Checks, func(c *Check) bool {
		said, _ := p.Ask(c, e.New, e.Old)
		return (said == sample.Holds) != e.Model(c.Holds)
	})
}

// refuse excludes the object of a model from later searches.
func (p *Problem) refuse(m logic.Model) {
	clause := []logic.Lit{p.made.Not(), p.question.Not()}
	for _, s := range p.Slots {
		for _, chosen := range s.Chosen {
			for _, c := range chosen {
				if m(c) {
					clause = append(clause, c.Not())
				}
			}
		}
	}
	for _, pl := range p.Places {
		for _, q := range []logic.Lit{pl.Present(), pl.Counterpart().Present()} {
			clause = append(clause, q.If(!m(q)))
		}
	}
	p.Space.RequireAny(clause...)
}

// least improves a model: the old object is legal, wishes are granted, and values are usual.
func (p *Problem) least(m logic.Model, wishes []Wish, l []logic.Lit) (logic.Model, error) {
	fixed := slices.Clone(l)
	try := func(soft logic.Lit) (bool, error) {
		if !m(soft) {
			// soft comes first: if it is impossible, it usually contradicts the question.
			better, err := p.Possible(append([]logic.Lit{soft}, fixed...)...)
			if err != nil || better == nil {
				return false, err
			}
			m = better
		}
		fixed = append(fixed, soft)
		return true, nil
	}
	s := p.Space
	fewest := func(l []logic.Lit) error {
		counts := s.AtLeast(maxCounted, l)
		for _, more := range counts[1:] {
			if ok, err := try(more.Not()); ok || err != nil {
				return err
			}
		}
		return nil
	}
	update := p.Update(m)
	if update {
		// Ratcheting may exempt unchanged values.
		if _, err := try(p.Changed()); err != nil {
			return nil, err
		}
		for _, l := range append(p.Legal(), p.lacking()...) {
			if _, err := try(l); err != nil {
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
		if err := fewest(w.Few); err != nil {
			return nil, err
		}
		if err := first(w.First); err != nil {
			return nil, err
		}
	}
	err := p.polish(update, try, first)
	return m, err // the best model so far
}

// lacking returns, for each property without the default that the old object may lack, the formula
// that it has the property.
func (p *Problem) lacking() []logic.Lit {
	var l []logic.Lit
	for _, s := range p.Slots {
		if s.lacks {
			l = append(l, s.Places[Old].Present())
		}
	}
	return l
}

// Changed returns the formula that the new object has other values than the old one.
func (p *Problem) Changed() logic.Lit {
	var l []logic.Lit
	for _, s := range p.Slots {
		for i, c := range s.Chosen[New] {
			l = append(l, p.Space.And(c, s.Chosen[Old][i].Not()))
		}
	}
	return p.Space.Or(l...)
}

// polish prefers usual values, and then the first values of slots.
func (p *Problem) polish(update bool, try func(logic.Lit) (bool, error), first func([]logic.Lit) error) error {
	sides := []int{New}
	if update {
		sides = []int{Old, New}
	}
	size := 0
	for _, s := range p.Slots {
		size += len(s.Values) * len(sides)
	}
	if size > maxPolished {
		return nil
	}
	for _, side := range sides {
		for _, set := range slices.Backward(p.isSet(side)) {
			if _, err := try(set.Not()); err != nil {
				return err
			}
		}
		for _, s := range p.Slots {
			var usual []logic.Lit
			for i, c := range s.Chosen[side] {
				if s.usual(i) {
					usual = append(usual, c)
				}
			}
			if _, err := try(p.Space.Or(usual...)); err != nil {
				return err
			}
		}
		for _, s := range p.Slots {
			if err := first(s.Chosen[side]); err != nil {
				return err
			}
		}
	}
	return nil
}
