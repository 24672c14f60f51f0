package verify

import (
	"cmp"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// findings collects differences, the smallest of each kind.
type findings struct {
	*prover
	complete            bool
	states, transitions int
	found               map[kind]finding
	open                []pair
	doubts              []doubt
}

// kind is what differences have in common of which one is enough.
type kind struct {
	accepted  bool
	condition union.Condition
	member    int
	removal   int // 1 + level of the link
	check     int // that rejects
}

// finding is a difference.
type finding struct {
	size
	old, new   point
	violations []union.Violation
	check      *check
	removal    bool
	with       *completion
}

// doubt is a check that left pairs open, or on a pair that it does not reject for
// itself rejects other values of what else it reads. The example is the smallest.
type doubt struct {
	check   *check
	example pair
	depends bool
}

// size orders counterexamples, the best first.
type size [10]int

func (s size) compare(t size) int { return slices.Compare(s[:], t[:]) }

func (p *prover) size(old, new point) size {
	update, stored, changes := 0, 0, 0
	if old != nothing {
		update = 1
		if i, ok := p.index[old]; ok && p.cells[i].created == rejected {
			stored = 1 // an example whose old object cannot be created is worth less
		}
		if old.exists() && new.exists() {
			changes = old.set.distance(new.set)
		}
		if old.value != new.value {
			changes++
		}
	}
	alts := 0
	for _, pt := range []point{old, new} {
		if pt.alt > 0 {
			alts++
		}
	}
	order := func(pt point) int { return p.index[point{value: pt.value, set: pt.set}] }
	return size{update, stored, 0, old.set.count() + new.set.count(), changes, alts, order(old), order(new), int(old.alt)<<16 + int(new.alt), int(old.gone)<<16 + int(new.gone)}
}

// compare holds a verdict to the model.
func (f *findings) compare(w *worker, s scope, old, new point, accepted bool) {
	f.compareWith(w, s, old, new, accepted, nil)
}

func (f *findings) compareWith(w *worker, s scope, old, new point, accepted bool, with *completion) {
	if new.exists() {
		var before *union.State
		if old.exists() {
			st := f.prover.state(old)
			before = &st
		}
		violations := f.u.Judge(before, f.prover.state(new))
		switch {
		case accepted && len(violations) > 0:
			size := f.prover.size(old, new)
			size[2] = len(violations)
			for _, v := range violations {
				if v.Condition == union.NotCleared && len(violations) > 1 {
					continue // a consequence: what is legal leaves nothing behind
				}
				f.add(kind{accepted: true, condition: v.Condition, member: v.Member}, finding{size: size, old: old, new: new, violations: violations, with: with})
			}
		case !accepted && len(violations) == 0:
			f.reject(w, s, old, new)
		}
		return
	}
	removable := f.u.Removable(f.prover.state(old))
	level := f.removals[new.gone-1].level
	switch {
	case accepted && !removable:
		f.add(kind{accepted: true, removal: level + 1}, finding{size: f.prover.size(old, new), old: old, new: new, removal: true, with: with})
	case !accepted && removable:
		f.reject(w, s, old, new)
	}
}

// reject notes the checks that reject what the model allows.
func (f *findings) reject(w *worker, s scope, old, new point) {
	for _, c := range w.rejecting(s, old, new, nil) {
		if c.sure(w.correlate(c.level, old), new, w.removals) {
			f.add(kind{check: c.id}, finding{size: f.prover.size(old, new), old: old, new: new, check: c})
		}
	}
}

func (f *findings) add(k kind, n finding) {
	if f.found == nil {
		f.found = map[kind]finding{}
	}
	if have, ok := f.found[k]; !ok || n.compare(have.size) < 0 {
		f.found[k] = n
	}
}

// undecided notes checks that no completion was found for.
func (f *findings) undecided(checks []*check, o pair) {
	for _, c := range checks {
		if !f.doubted(c) {
			f.doubts = append(f.doubts, doubt{check: c, example: o})
		}
	}
}

func (f *findings) doubted(c *check) bool {
	return slices.ContainsFunc(f.doubts, func(d doubt) bool { return d.check == c })
}

func (f *findings) merge(g *findings) {
	for k, n := range g.found {
		f.add(k, n)
	}
	f.open = append(f.open, g.open...)
	f.transitions += g.transitions
}

// sorted are the differences, those with the smallest counterexamples first. One
// example of several kinds stands once.
func (f *findings) sorted() []finding {
	var l []finding
	for _, n := range f.found {
		same := slices.IndexFunc(l, func(o finding) bool {
			return o.old == n.old && o.new == n.new && (o.check == nil) == (n.check == nil) && (n.check == nil || n.check == o.check)
		})
		if same < 0 {
			l = append(l, n)
		}
	}
	slices.SortFunc(l, func(a, b finding) int {
		return cmp.Or(a.compare(b.size), cmp.Compare(a.order(), b.order()))
	})
	return l
}

func (n finding) order() int {
	if n.check != nil {
		return 1 + n.check.id
	}
	return 0
}
