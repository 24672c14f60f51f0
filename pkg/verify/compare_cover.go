package verify

import "github.com/unioncel/unioncel/pkg/union"

// How much is asked to cover the states that were not tried.
const (
	maxCovering = 400_000 // states of what one constraint reads, of all conditions
	maxUnfixed  = 12      // members that it reads beside those of the condition
)

// partial is part of a state: some members are set, some are not, and there is a
// value of the discriminator. All states with it are illegal.
type partial struct {
	value      int16
	set, fixed set
}

// covered reports whether trying a sample of the states was enough, for
// constraints that look at nothing but the state. All legal states are in a
// sample, unless any number of members is legal. And every illegal one breaks a
// condition, which is about one member and the discriminator, or about two
// members: it is refused when one constraint refuses whatever breaks the
// condition.
func (q *comparing) covered() bool {
	if q.u.Cardinality == union.AtLeastOne {
		return false
	}
	w := q.worker()
	left := maxCovering
	for _, part := range q.illegal() {
		refused := false
		for _, k := range q.checks {
			if refused = w.refuses(k, part, &left); refused {
				break
			}
		}
		if !refused || q.ctx.Err() != nil {
			return false
		}
	}
	return true
}

// illegal are partial states such that a state is illegal if, and only if, it has
// one of them.
func (q *comparing) illegal() []partial {
	var l []partial
	illegal := func(pt point) bool { return len(q.u.Violations(q.state(pt))) > 0 }
	members := q.free()
	both := func(value int16) {
		for i, m := range members {
			for _, n := range members[:i] {
				s := set{}.flipped(m).flipped(n)
				l = append(l, partial{value, s, s})
			}
		}
	}
	if q.u.Discriminator == "" {
		if both(0); illegal(point{}) {
			var all set
			for _, m := range members {
				all = all.flipped(m)
			}
			l = append(l, partial{fixed: all})
		}
		return l
	}
	for _, v := range q.choices() {
		// What is legal with this value, if anything is: the selected member, or none.
		var selected set
		if m := q.u.MemberOf(q.values[v]); m >= 0 {
			selected = selected.flipped(m)
		}
		if illegal(point{value: v, set: selected}) {
			l = append(l, partial{value: v})
			continue
		}
		if q.u.Deduce && v == 0 {
			both(v)
			continue
		}
		for _, m := range members {
			one := set{}.flipped(m)
			if !selected.has(m) {
				l = append(l, partial{v, one, one})
			} else if illegal(point{value: v}) {
				l = append(l, partial{value: v, fixed: one})
			}
		}
	}
	return l
}

// refuses reports whether a constraint refuses every state that has a part.
func (w *worker) refuses(k *check, part partial, left *int) bool {
	var unfixed []int
	for _, m := range w.free() {
		if (k.reads[0].whole || k.reads[0].set.has(m)) && !part.fixed.has(m) {
			unfixed = append(unfixed, m)
		}
	}
	if len(unfixed) > maxUnfixed {
		return false
	}
	for _, s := range subsets(unfixed) {
		if *left--; *left < 0 {
			return false
		}
		if w.ask(k, nothing, point{value: part.value, set: s.or(part.set)}, nil) == holds {
			return false
		}
	}
	return true
}
