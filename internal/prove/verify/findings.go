package verify

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

const (
	maxDifferences = 64  // of one union
	maxMixed       = 300 // of the legal states tried for a check that reads more than the union
)

// findings collects the results of a proof: differences, with an example each, and other findings.
type findings struct {
	*unionProblem
	differences []difference
	others      []Finding
	doubtful    map[*prove.Check]bool
}

// difference is a counterexample: with violations if it is accepted, or with the check that rejects
// it.
type difference struct {
	*prove.Example
	violations []union.Violation
	check      *prove.Check // rejects the example
	removal    bool
}

// modes returns the formulas that select creations and updates. A static problem has only
// creations.
func (p *unionProblem) modes() [][]logic.Lit {
	create, update := p.Space.Old.Present().Not(), p.Space.Old.Present()
	if p.static() {
		return [][]logic.Lit{{create}}
	}
	return [][]logic.Lit{{create}, {update}}
}

// static reports whether neither a check nor a union depends on the old object.
func (p *unionProblem) static() bool {
	ratchets := slices.ContainsFunc(p.sharing, func(o [2]symbolic) bool { return o[prove.New].u.Ratchet })
	return !p.u.Guarded() && !p.u.Ratchet && !ratchets && !slices.ContainsFunc(p.Checks, func(c *prove.Check) bool { return c.Changing })
}

// accepts returns the formula that all checks of the union hold.
func (p *unionProblem) accepts() logic.Lit {
	var l []logic.Lit
	for _, c := range p.Checks {
		if c.Touches {
			l = append(l, c.Holds)
		}
	}
	return p.Space.And(l...)
}

// run looks for differences. If no rule enforces the union, it stops at the first difference.
func (f *findings) run(enforced bool) error {
	p, s := f.unionProblem, f.Space
	legal, breaks := p.legal()
	for _, mode := range p.modes() {
		if err := f.accepted(breaks, enforced, append(mode, p.new.exists, p.accepts())...); err != nil {
			return err
		}
		if !enforced {
			return nil
		}
	}
	if err := f.removed(); err != nil {
		return err
	}
	allowed := s.Choose(p.new.exists, s.And(legal, p.othersAllow()), s.Or(p.old.exists.Not(), p.removable()))
	for _, c := range p.Checks {
		if !c.Touches {
			if err := f.keeps(c); err != nil {
				return err
			}
			continue
		}
		for i, mode := range p.modes() {
			if i > 0 && !c.Changing && !p.u.Ratchet {
				break // the check treats updates like creations
			}
			done, err := f.rejected(c, append(mode, allowed)...)
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	return nil
}

// accepted looks for states that the rules accept and the union forbids.
func (f *findings) accepted(breaks []broken, enforced bool, l ...logic.Lit) error {
	for len(f.differences) < maxDifferences {
		open := slices.DeleteFunc(slices.Clone(breaks), func(b broken) bool {
			return slices.ContainsFunc(f.differences, func(n difference) bool { return slices.Contains(n.violations, b.Violation) })
		})
		m, err := f.Possible(append(l, f.whenAny(open))...)
		if m == nil || err != nil {
			return f.unanswered(err, "the rules may accept states that the union forbids")
		}
		// Each condition gets its own smallest example.
		wanted := open[slices.IndexFunc(open, func(b broken) bool { return m(b.when) })].when
		if !enforced {
			wanted = f.whenAny(open)
		}
		e, err := f.Smallest(conditions(breaks), append(l, wanted)...)
		if e == nil {
			if err := f.withoutExample(err, m, "accepts", f.Checks...); err != nil {
				return err
			}
			breaks = slices.DeleteFunc(slices.Clone(breaks), func(b broken) bool { return b.when == wanted })
			if !enforced {
				return nil
			}
			continue // look for other conditions
		}
		var violations []union.Violation
		for _, b := range breaks {
			if e.Model(b.when) {
				violations = append(violations, b.Violation)
			}
		}
		f.differences = append(f.differences, difference{Example: e, violations: violations})
		if !enforced {
			return nil
		}
	}
	return nil
}

// removed looks for ways to remove the union object that the union forbids.
func (f *findings) removed() error {
	p, s := f.unionProblem, f.Space
	if !p.Correlates() || !p.u.Guarded() {
		return nil
	}
	var all []logic.Lit
	for _, c := range p.Checks {
		all = append(all, c.Holds)
	}
	for level := len(p.Path) - 1; level >= p.Anchor(); level-- {
		l := append(all, s.Old.Present(), p.old.exists, p.removable().Not(), p.Places[level].Present(), p.Places[level+1].Present().Not())
		m, err := p.Possible(l...)
		if err := f.unanswered(err, "the rules may let the union object be removed"); err != nil {
			return err
		}
		if m == nil {
			continue
		}
		e, err := p.Smallest(nil, l...)
		if e == nil {
			if err := f.withoutExample(err, m, "accepts", p.Checks...); err != nil {
				return err
			}
			continue
		}
		f.differences = append(f.differences, difference{Example: e, removal: true})
	}
	return nil
}

// keeps adds a restriction if a check requires the union object to stay, although the union allows
// an update from the old state to remove it.
func (f *findings) keeps(c *prove.Check) error {
	p, s := f.unionProblem, f.Space
	if !c.Links || !c.Changing || !p.u.Guarded() {
		return nil
	}
	l := []logic.Lit{s.Old.Present(), p.old.exists, p.removable()}
	refused, err := p.Smallest(nil, append(l, p.new.exists.Not(), c.Holds.Not())...)
	if refused == nil {
		return f.withoutExample(err, nil, "")
	}
	accepted, err := p.Smallest(nil, append(l, p.new.exists, c.Holds)...)
	if accepted == nil {
		return f.withoutExample(err, nil, "")
	}
	f.restricted(c, "whether the union object is removed", accepted, refused)
	return nil
}

// rejected looks for objects that a check rejects and the union allows. It returns true if the
// check needs no further search.
func (f *findings) rejected(c *prove.Check, l ...logic.Lit) (bool, error) {
	p, s := f.unionProblem, f.Space
	if c.Costly {
		l = slices.Clone(l)
		e, err := p.Smallest(nil, append(l, c.Exceeds)...)
		if e != nil {
			f.differences = append(f.differences, difference{Example: e, check: c})
			return true, nil
		}
		if err != nil && !prove.Undecided(err) {
			return true, err
		}
		f.doubt(fmt.Sprintf("%s at %s: one evaluation may exceed the cost limit, but no object was found that shows it", c.Name(), c.At))
		l = append(l, c.Exceeds.Not())
	}
	refused := append(slices.Clone(l), c.Holds.Not())
	restricted := false
	for range maxMixed {
		m, err := p.Possible(refused...)
		if err := f.unanswered(err, c.Name()+" may reject states that the union allows"); err != nil || m == nil {
			return false, err
		}
		var e *prove.Example
		if c.Narrow || !restricted {
			if e, err = p.Smallest(nil, refused...); e != nil {
				m = e.Model
			}
		}
		if !c.Narrow {
			state := p.StateOf(c, m)
			other, unknown := p.Possible(append(slices.Concat(l, state), c.Holds)...)
			if unknown != nil {
				return true, f.unanswered(unknown, c.Name()+" may reject states that the union allows")
			}
			if other != nil {
				done, err := f.restricts(c, m, restricted, l, state)
				if done || err != nil {
					return done, err
				}
				restricted = true
				refused = append(refused, s.And(state...).Not())
				continue
			}
			if e == nil {
				e, err = p.Smallest(nil, append(refused, state...)...)
			}
		}
		if e == nil {
			return true, f.withoutExample(err, m, "rejects", c)
		}
		if c.Changing && p.u.Change == union.Allow && e.Old != nil {
			// The union leaves changes to other rules, and this rule accepts some of them.
			accepted, err := p.Smallest(nil, append(slices.Clone(l), c.Holds)...)
			if accepted != nil {
				f.restricted(c, "the stored object", accepted, e)
				return true, nil
			}
			if err != nil {
				return true, f.withoutExample(err, m, "accepts", c)
			}
		}
		f.differences = append(f.differences, difference{Example: e, check: c})
		return true, nil
	}
	f.doubt(fmt.Sprintf("%s at %s also depends on %s, in more states of the union than can be tried", c.Name(), c.At, p.Others(c)))
	return true, nil
}

// restricts adds a restriction, unless one is known: the check accepts some objects in a legal
// state and rejects others. done is set if no accepted object was found.
func (f *findings) restricts(c *prove.Check, m logic.Model, known bool, l, state []logic.Lit) (done bool, err error) {
	p := f.unionProblem
	l = slices.Concat(l, state)
	search := p.Any
	if !known {
		search = func(l ...logic.Lit) (*prove.Example, error) { return p.Smallest(nil, l...) }
	}
	accepted, err := search(append(l, c.Holds)...)
	if accepted == nil {
		return true, f.withoutExample(err, m, "accepts", c)
	}
	if known {
		return false, nil
	}
	refused, err := p.Smallest(nil, append(l, c.Holds.Not())...)
	if refused == nil {
		return false, f.withoutExample(err, nil, "")
	}
	f.restricted(c, p.Others(c), accepted, refused)
	return false, nil
}

func (f *findings) restricted(c *prove.Check, reads string, accepted, refused *prove.Example) {
	other := f.example(accepted)
	f.others = append(f.others, Finding{Kind: Restricted, Text: reads, Rule: c.Text, RuleAt: c.At, Example: f.example(refused), Other: &other})
}

func (f *findings) doubt(text string) { f.others = add(f.others, Undecided, text) }

// add appends findings that have only a text. It skips texts that l contains.
func add(l []Finding, kind Kind, texts ...string) []Finding {
	for _, text := range texts {
		if !slices.ContainsFunc(l, func(f Finding) bool { return f.Kind == kind && f.Text == text }) {
			l = append(l, Finding{Kind: kind, Text: text})
		}
	}
	return l
}

// unanswered records a question that the solver could not decide. It returns all other errors.
func (f *findings) unanswered(err error, what string) error {
	if errors.Is(err, logic.ErrUnknown) {
		f.doubt(fmt.Sprintf("%s: %v", what, err))
		return nil
	}
	return err
}

// unfound records that no object was found for a model. If a check reads more than the union, only
// the first such model is recorded.
func (f *findings) unfound(m logic.Model, verb string, checks ...*prove.Check) {
	p := f.unionProblem
	for i, err := range p.failures {
		if err != nil && (m(p.new.present[i]) || m(p.old.present[i])) {
			f.doubt(fmt.Sprintf("states with %s set: %v", p.u.Members[i].Name, err))
			return
		}
	}
	example := p.u.Describe(p.new.state(m))
	if !m(p.new.exists) {
		example = "the union object is removed"
	}
	if m(p.Space.Old.Present()) && m(p.old.exists) {
		example += " (before: " + p.u.Describe(p.old.state(m)) + ")"
	}
	// Checks with questions come first, because the solver may choose any answer.
	checks = slices.Clone(checks)
	slices.SortStableFunc(checks, func(a, b *prove.Check) int { return cmp.Compare(questions(b), questions(a)) })
	for _, c := range checks {
		if !c.Narrow {
			if !f.doubtful[c] {
				f.doubt(fmt.Sprintf("%s at %s reads %s: no object was found that it %s while %s", c.Name(), c.At, p.Others(c), verb, example))
			}
			f.doubtful[c] = true
			return
		}
	}
	what := "accept a state that the union forbids"
	if verb == "rejects" {
		what = "reject a state that the union allows"
	}
	f.doubt(fmt.Sprintf("the rules may %s, but no object was found that shows it: %s", what, example))
}

// questions counts the facts of a check that stand for unsupported expressions.
func questions(c *prove.Check) int {
	n := 0
	for _, f := range c.Other {
		if f.Question != nil {
			n++
		}
	}
	return n
}

// example adds the states of the union to an example.
func (p *unionProblem) example(e *prove.Example) Example {
	x := Example{Old: e.Old, New: e.New}
	if e.Model(p.new.exists) {
		s := p.u.StateOf(p.Self(prove.New).Value(e.New))
		x.Is = &s
	}
	if e.Old != nil && e.Model(p.old.exists) {
		s := p.u.StateOf(p.Self(prove.Old).Value(e.Old))
		x.Was = &s
	}
	return x
}

// finding converts a difference.
func (p *unionProblem) finding(d difference) Finding {
	f := Finding{Kind: Accepted, Violations: d.violations, Example: p.example(d.Example)}
	if f.Is == nil {
		level := 0
		for level < len(p.Path) && d.Model(p.Places[level+1].Present()) {
			level++
		}
		f.Removed = p.PathTo(level + 1)
	}
	if c := d.check; c != nil {
		f.Kind, f.Rule, f.RuleAt, f.Message = Rejected, c.Text, c.At, p.Message(c, d.New, d.Old)
	}
	return f
}

// all returns the findings: first the differences by size. An accepted example that the API server
// rejects for another reason is undecided. With unusual, differences list their unusual values.
func (f *findings) all(unusual bool) []Finding {
	p := f.unionProblem
	slices.SortStableFunc(f.differences, func(a, b difference) int { return slices.Compare(p.size(a), p.size(b)) })
	var l []Finding
	for i, n := range f.differences {
		if slices.ContainsFunc(f.differences[:i], func(o difference) bool {
			return o.check == n.check && slices.Equal(o.violations, n.violations) && reflect.DeepEqual(o.New, n.New) && reflect.DeepEqual(o.Old, n.Old)
		}) {
			continue
		}
		d := p.finding(n)
		d.Unusual = p.Lacking(n.Model)
		if unusual {
			d.Unusual = append(d.Unusual, p.Unusual(n.Model, n.Old != nil)...)
		}
		if d.Kind == Accepted {
			if err := p.rejection(d.Example); err != nil {
				f.others = append(f.others, Finding{Kind: Undecided, Text: fmt.Sprintf("%s: no rule on the union rejects it, but this does: %v", d.Words(p.u), err)})
				continue
			}
		}
		l = append(l, d)
	}
	others := Proof{Findings: f.others}
	return slices.Concat(l, others.OfKind(Restricted), others.OfKind(Undecided))
}

// size returns the sort key of a counterexample.
func (p *unionProblem) size(n difference) []int {
	update, stored, members, changes, unusual, removal, check := 0, 0, 0, 0, len(p.Unusual(n.Model, n.Old != nil)), 0, 0
	is := p.new.state(n.Model)
	if n.Old != nil {
		update = 1
		was := p.old.state(n.Model)
		members = len(was.Set())
		if n.Model(p.old.exists) && len(p.u.Violations(was)) > 0 {
			stored = 1
		}
		for i := range is.Present {
			if is.Present[i] != was.Present[i] {
				changes++
			}
		}
		if is.Value != was.Value {
			changes++
		}
	}
	if n.removal {
		removal = 1
	}
	if n.check != nil {
		check = 1 + slices.Index(p.Checks, n.check)
	}
	size := []int{update, stored, len(n.violations), members + len(is.Set()), changes, unusual, removal}
	for _, side := range []int{prove.Old, prove.New}[1-update:] {
		size = append(size, p.order(n.Model, side)...)
	}
	return append(size, check)
}

// order returns a sort key that prefers the first members and the first values.
func (p *unionProblem) order(m logic.Model, side int) []int {
	st := p.new
	if side == prove.Old {
		st = p.old
	}
	var l []int
	for i := len(st.present) - 1; i >= 0; i-- {
		present := 0
		if m(st.present[i]) {
			present = 1
		}
		l = append(l, present)
	}
	for _, s := range p.Slots {
		if s.Places[side] == st.discriminator {
			l = append(l, slices.IndexFunc(s.Chosen[side], m))
		}
	}
	return l
}

// withoutExample records that no example was found for a model. It returns all errors other than undecided
// searches.
func (f *findings) withoutExample(err error, m logic.Model, verb string, checks ...*prove.Check) error {
	if err != nil && !prove.Undecided(err) {
		return err
	}
	if m != nil {
		f.unfound(m, verb, checks...)
	}
	return nil
}
