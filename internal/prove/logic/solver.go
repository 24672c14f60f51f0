package logic

import (
	"container/heap"
	"context"
	"slices"
)

// solver decides whether clauses can be satisfied together. It learns from conflicts like MiniSat
// (N. Eén and N. Sörensson, "An Extensible SAT-solver", SAT 2003): two watched literals, first
// unique implication points, activities, saved phases, Luby restarts. Assumptions are the first
// decisions, so learned clauses do not depend on them.
type solver struct {
	value   []int8    // of each variable: 0 unknown, 1 true, -1 false
	level   []int     // of the decision after which the variable was assigned
	reason  []*clause // that implied the value, nil for a decision
	phase   []int8    // the last value
	watches [][]*clause
	trail   []Lit
	limits  []int // positions of decisions on the trail
	head    int   // the literals before it on the trail are propagated
	learned []*clause
	broken  bool // the clauses contradict each other
	work    int  // number of assignments

	activity  []float64
	increment float64
	order     order
	seen      []bool
}

type clause struct {
	lits     []Lit // the first two are watched
	learned  bool
	activity float64
}

// The intervals of restarts and checks, and the number of kept clauses.
const (
	restartUnit  = 100
	keepLearned  = 4000
	checkContext = 256
)

func newSolver() *solver {
	s := &solver{increment: 1}
	s.order.solver = s
	return s
}

// variable adds a variable. The phase is the value tried first.
func (s *solver) variable() {
	v := len(s.value)
	s.value, s.level, s.reason = append(s.value, 0), append(s.level, 0), append(s.reason, nil)
	s.phase, s.watches = append(s.phase, -1), append(s.watches, nil, nil)
	s.activity, s.seen = append(s.activity, 0), append(s.seen, false)
	s.order.at = append(s.order.at, -1)
	heap.Push(&s.order, v)
}

func (s *solver) valueOf(l Lit) int8 {
	if l&1 == 1 {
		return -s.value[l>>1]
	}
	return s.value[l>>1]
}

// add adds a clause. No decision may be open.
func (s *solver) add(lits ...Lit) {
	if s.broken {
		return
	}
	lits = slices.Clone(lits)
	slices.Sort(lits)
	kept := lits[:0]
	for i, l := range lits {
		switch {
		case s.valueOf(l) > 0 || i > 0 && lits[i-1] == l.Not() && l&1 == 1:
			return // the clause always holds
		case s.valueOf(l) == 0 && (len(kept) == 0 || kept[len(kept)-1] != l):
			kept = append(kept, l)
		}
	}
	switch len(kept) {
	case 0:
		s.broken = true
	case 1:
		s.assign(kept[0], nil)
		s.broken = s.propagate() != nil
	default:
		s.watch(&clause{lits: kept})
	}
}

func (s *solver) watch(c *clause) {
	s.watches[c.lits[0]] = append(s.watches[c.lits[0]], c)
	s.watches[c.lits[1]] = append(s.watches[c.lits[1]], c)
}

func (s *solver) assign(l Lit, by *clause) {
	v := l >> 1
	s.work++
	s.value[v] = 1 - 2*int8(l&1)
	s.level[v], s.reason[v] = len(s.limits), by
	s.trail = append(s.trail, l)
}

// propagate assigns implied values. It returns a violated clause, or nil.
func (s *solver) propagate() *clause {
	for s.head < len(s.trail) {
		gone := s.trail[s.head].Not()
		s.head++
		watching := s.watches[gone]
		kept := watching[:0]
		for i, c := range watching {
			if c.lits[0] == gone {
				c.lits[0], c.lits[1] = c.lits[1], gone
			}
			if s.valueOf(c.lits[0]) > 0 || s.rewatch(c) {
				if c.lits[1] == gone {
					kept = append(kept, c)
				}
				continue
			}
			kept = append(kept, c)
			if s.valueOf(c.lits[0]) < 0 {
				s.watches[gone] = append(kept, watching[i+1:]...)
				return c
			}
			s.assign(c.lits[0], c)
		}
		s.watches[gone] = kept
	}
	return nil
}

// rewatch replaces the second watched literal, which is false, with another literal.
func (s *solver) rewatch(c *clause) bool {
	for i := 2; i < len(c.lits); i++ {
		if s.valueOf(c.lits[i]) >= 0 {
			c.lits[1], c.lits[i] = c.lits[i], c.lits[1]
			s.watches[c.lits[1]] = append(s.watches[c.lits[1]], c)
			return true
		}
	}
	return false
}

// learn returns the clause learned from a conflict, with its asserting literal first, and the level
// to return to.
func (s *solver) learn(conflict *clause) ([]Lit, int) {
	lits := []Lit{0}
	open, at := 0, len(s.trail)-1
	var seen []Lit
	for c, l := conflict, Lit(-1); ; {
		if c.learned {
			c.activity += s.increment
		}
		for _, q := range c.lits {
			v := q >> 1
			if q == l || s.seen[v] || s.level[v] == 0 {
				continue
			}
			s.seen[v] = true
			seen = append(seen, q)
			s.activity[v] += s.increment
			s.order.changed(int(v))
			if s.level[v] == len(s.limits) {
				open++
			} else {
				lits = append(lits, q)
			}
		}
		for !s.seen[s.trail[at]>>1] {
			at--
		}
		l = s.trail[at]
		c, at = s.reason[l>>1], at-1
		if open--; open == 0 {
			lits[0] = l.Not()
			break
		}
	}
	// Drop literals that other literals imply.
	kept := lits[:1]
	for _, q := range lits[1:] {
		if r := s.reason[q>>1]; r == nil || slices.ContainsFunc(r.lits, func(p Lit) bool {
			return p>>1 != q>>1 && !s.seen[p>>1] && s.level[p>>1] > 0
		}) {
			kept = append(kept, q)
		}
	}
	for _, q := range seen {
		s.seen[q>>1] = false
	}
	back := 0
	for i := 1; i < len(kept); i++ {
		if l := s.level[kept[i]>>1]; l > back {
			back = l
			kept[1], kept[i] = kept[i], kept[1]
		}
	}
	return kept, back
}

// decay reduces the weight of past activity.
func (s *solver) decay() {
	const large = 1e100
	if s.increment /= 0.95; s.increment < large {
		return
	}
	for v := range s.activity {
		s.activity[v] /= large
	}
	for _, c := range s.learned {
		c.activity /= large
	}
	s.increment /= large
}

func (s *solver) backTo(level int) {
	if len(s.limits) <= level {
		return
	}
	for _, l := range s.trail[s.limits[level]:] {
		v := l >> 1
		s.phase[v], s.value[v], s.reason[v] = s.value[v], 0, nil
		s.order.insert(int(v))
	}
	s.trail = s.trail[:s.limits[level]]
	s.limits = s.limits[:level]
	s.head = len(s.trail)
}

// solve looks for values that satisfy all clauses and assumptions. known is false if there are more
// conflicts than allowed, or if ctx ended. The values stay until the next call of backTo.
func (s *solver) solve(ctx context.Context, assumed []Lit, allowed int) (satisfied, known bool) {
	s.backTo(0)
	run, conflicts := 0, 0
	until := restartUnit * luby(run)
	for !s.broken {
		conflict := s.propagate()
		switch {
		case conflict != nil && len(s.limits) == 0:
			s.broken = true
		case conflict != nil:
			if conflicts++; conflicts > allowed || conflicts%checkContext == 0 && ctx.Err() != nil {
				return false, false
			}
			lits, level := s.learn(conflict)
			s.backTo(level)
			s.keep(lits)
			s.decay()
		case conflicts >= until && len(s.limits) > len(assumed):
			run++
			until = conflicts + restartUnit*luby(run)
			s.backTo(0)
			s.forget()
		default:
			l, ok := s.next(assumed)
			if !ok {
				return false, true // an assumption contradicts the clauses
			}
			if l < 0 {
				return true, true
			}
			s.limits = append(s.limits, len(s.trail))
			s.assign(l, nil)
		}
	}
	return false, true
}

// keep adds a learned clause and asserts its first literal.
func (s *solver) keep(lits []Lit) {
	if len(lits) == 1 {
		s.assign(lits[0], nil)
		return
	}
	c := &clause{lits: slices.Clone(lits), learned: true, activity: s.increment}
	s.learned = append(s.learned, c)
	s.watch(c)
	s.assign(lits[0], c)
}

// next returns the next decision, or -1 if every variable has a value. Assumptions come first. ok
// is false if an assumption is false.
func (s *solver) next(assumed []Lit) (l Lit, ok bool) {
	for len(s.limits) < len(assumed) {
		l := assumed[len(s.limits)]
		switch {
		case s.valueOf(l) < 0:
			return 0, false
		case s.valueOf(l) == 0:
			return l, true
		}
		s.limits = append(s.limits, len(s.trail)) // the assumption already holds
	}
	for s.order.Len() > 0 {
		v := heap.Pop(&s.order).(int)
		if s.value[v] == 0 {
			return Lit(v)<<1 | Lit((1-s.phase[v])/2), true
		}
	}
	return -1, true
}

// forget drops the less active half of the learned clauses if there are too many. All decisions
// must have been undone.
func (s *solver) forget() {
	if len(s.learned) < keepLearned {
		return
	}
	slices.SortFunc(s.learned, func(a, b *clause) int {
		if a.activity > b.activity {
			return -1
		}
		return 1
	})
	dropped := map[*clause]bool{}
	kept := s.learned[:0]
	for i, c := range s.learned {
		if i < keepLearned/2 || len(c.lits) == 2 {
			kept = append(kept, c)
		} else {
			dropped[c] = true
		}
	}
	s.learned = kept
	for l := range s.watches {
		s.watches[l] = slices.DeleteFunc(s.watches[l], func(c *clause) bool { return dropped[c] })
	}
	for _, l := range s.trail {
		s.reason[l>>1] = nil // nothing reads reasons at level 0
	}
}

// luby returns the i-th number of 1, 1, 2, 1, 1, 2, 4, ... (M. Luby et al., 1993).
func luby(i int) int {
	size, seq := 1, 0
	for size < i+1 {
		seq++
		size = 2*size + 1
	}
	for size-1 != i {
		size = (size - 1) / 2
		seq--
		i %= size
	}
	return 1 << seq
}

// order is a heap of the variables that have no value yet, with the most active first.
type order struct {
	*solver
	l  []int
	at []int // the position of each variable in l, or -1
}

func (o *order) Len() int           { return len(o.l) }
func (o *order) Less(i, j int) bool { return o.activity[o.l[i]] > o.activity[o.l[j]] }
func (o *order) Swap(i, j int) {
	o.l[i], o.l[j] = o.l[j], o.l[i]
	o.at[o.l[i]], o.at[o.l[j]] = i, j
}
func (o *order) Push(v any) {
	o.at[v.(int)] = len(o.l)
	o.l = append(o.l, v.(int))
}
func (o *order) Pop() any {
	v := o.l[len(o.l)-1]
	o.l, o.at[v] = o.l[:len(o.l)-1], -1
	return v
}

func (o *order) insert(v int) {
	if o.at[v] < 0 {
		heap.Push(o, v)
	}
}

func (o *order) changed(v int) {
	if o.at[v] >= 0 {
		heap.Fix(o, o.at[v])
	}
}
