package verify

// weight is what it takes to ask the checks in a scope about one pair, in about a
// tenth of a microsecond: nothing but remembering, as long as a check reads few
// members, else an evaluation of all it reads. The model takes its time, too.
func (p *prover) weight(s scope) int {
	n := 20 + 2*len(p.u.Members)
	for _, c := range p.checks {
		if s.includes(c) {
			n += c.weight()
		}
	}
	return n
}

func (k *check) weight() int {
	r := k.reads[0].set.or(k.reads[1].set)
	if !k.reads[0].whole && !k.reads[1].whole && r.count() <= 3 {
		return 1
	}
	if k.rule == nil {
		return 40 * len(k.test.reads) // the validators of schemas take their time
	}
	return 2 * len(k.test.reads)
}

// plan is the transitions to try, as indices of cells.
type plan struct {
	complete bool
	from     []int
	to       func(from int) []int
}

// plan chooses the transitions to try among those whose new state is eligible.
func (p *prover) plan(eligible []int, complete bool) plan {
	most := min(maxPairs, budget/p.weight(changing))
	if complete && len(p.cells)*len(eligible) <= most {
		all := make([]int, len(p.cells))
		for i := range all {
			all[i] = i
		}
		return plan{true, all, func(int) []int { return eligible }}
	}
	bases := p.bases()
	var targets, from []int
	for i, pt := range p.near(bases) {
		if c, ok := p.index[pt]; ok {
			from = append(from, c)
			if i < len(bases) && p.cells[c].fixed != rejected {
				targets = append(targets, c)
			}
		}
	}
	from = thinned(from, len(bases), most/max(1, len(targets)))
	targets = thinned(targets, 0, most/max(1, len(from)))
	distance := 3
	members, values := p.free(), p.choices()
	for distance >= 0 && len(from)*(len(targets)+min(len(eligible), ball(len(members), distance)*len(values))) > most {
		distance--
	}
	nearby := func(i int) []int {
		var l []int
		if len(eligible) < ball(len(members), distance)*len(values) {
			for _, j := range eligible {
				if p.cells[i].set.distance(p.cells[j].set) <= distance {
					l = append(l, j)
				}
			}
			return l
		}
		for s := range around(p.cells[i].set, members, distance) {
			for _, v := range values {
				if j, ok := p.index[point{value: v, set: s}]; ok && p.cells[j].fixed != rejected {
					l = append(l, j)
				}
			}
		}
		return l
	}
	return plan{false, from, func(i int) []int { return both(nearby(i), targets) }}
}

// thinned is no more than most of l, as evenly spread as can be, but for the
// first few, which all stay.
func thinned(l []int, first, most int) []int {
	if len(l) <= max(most, first) {
		return l
	}
	kept := l[:first:first]
	rest, room := l[first:], max(0, most-first)
	for i := range room {
		kept = append(kept, rest[i*len(rest)/room])
	}
	return kept
}

// stride is the step at which n things of some weight fit into the budget.
func stride(n, weight int) int { return 1 + n/max(1, budget/weight) }

// both is two lists as one.
func both(l, more []int) []int {
	seen := make(map[int]bool, len(l))
	for _, i := range l {
		seen[i] = true
	}
	for _, i := range more {
		if !seen[i] {
			l = append(l, i)
		}
	}
	return l
}
