package verify

import "slices"

// enumerate fills in the states to try.
func (p *prover) enumerate(f *findings) {
	members := p.free()
	values := p.choices()
	add := func(pt point) {
		if _, ok := p.index[pt]; ok {
			return
		}
		p.index[pt] = len(p.cells)
		s := p.state(pt)
		p.cells = append(p.cells, cell{point: pt, state: s, legal: len(p.u.Violations(s)) == 0})
	}
	p.index = map[point]int{}
	if len(members) < 13 && len(values)<<len(members) <= maxStates {
		for _, s := range subsets(members) {
			for _, v := range values {
				add(point{value: v, set: s})
			}
		}
		return
	}
	f.complete = false
	bases := p.bases()
	distance := 3
	for distance > 1 && len(bases)*ball(len(members), distance) > 40*maxStates {
		distance--
	}
	for _, b := range bases {
		for s := range around(b.set, members, distance) {
			add(point{value: b.value, set: s})
		}
	}
	// Values that no legal state has, and all members at once.
	var all set
	for _, m := range members {
		all = all.flipped(m)
	}
	for _, v := range values {
		for s := range around(set{}, members, 1) {
			add(point{value: v, set: s})
		}
		add(point{value: v, set: all})
	}
	slices.SortStableFunc(p.cells, func(a, b cell) int { return a.set.count() - b.set.count() })
	for i, c := range p.cells {
		p.index[c.point] = i
	}
}

// choices are the values of the discriminator that can be written.
func (p *prover) choices() []int16 {
	var l []int16
	for v := range p.values {
		if v > 0 || p.canUnset {
			l = append(l, int16(v))
		}
	}
	return l
}

// ball is how many sets differ in up to distance of n members.
func ball(n, distance int) int {
	total, layer := 1, 1
	for d := 1; d <= distance; d++ {
		layer = layer * (n - d + 1) / d
		total += layer
	}
	return total
}

// near is bases, then the states one member away from one of them.
func (p *prover) near(bases []point) []point {
	l := slices.Clone(bases)
	seen := map[point]bool{}
	for _, b := range bases {
		seen[b] = true
	}
	for _, b := range bases {
		for s := range around(b.set, p.free(), 1) {
			if pt := (point{value: b.value, set: s}); !seen[pt] {
				seen[pt] = true
				l = append(l, pt)
			}
		}
	}
	return l
}

// plan is the transitions to try, as indices of cells.
type plan struct {
	complete bool
	from     []int
	to       func(from int) []int
	count    int
}

// plan chooses the transitions to try among those whose new state is eligible.
func (p *prover) plan(eligible []int, complete bool) plan {
	if complete && len(p.cells)*len(eligible) <= maxPairs {
		all := make([]int, len(p.cells))
		for i := range all {
			all[i] = i
		}
		return plan{true, all, func(int) []int { return eligible }, len(p.cells) * len(p.cells)}
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
	distance := 3
	members, values := p.free(), p.choices()
	for distance > 0 && len(from)*min(len(eligible), ball(len(members), distance)*len(values)) > maxPairs {
		distance--
	}
	var to func(int) []int
	if len(eligible) < ball(len(members), distance)*len(values) {
		to = func(i int) []int {
			var l []int
			for _, j := range eligible {
				if p.cells[i].set.distance(p.cells[j].set) <= distance {
					l = append(l, j)
				}
			}
			return p.both(l, targets)
		}
	} else {
		to = func(i int) []int {
			var l []int
			for s := range around(p.cells[i].set, members, distance) {
				for _, v := range values {
					if j, ok := p.index[point{value: v, set: s}]; ok && p.cells[j].fixed != rejected {
						l = append(l, j)
					}
				}
			}
			return p.both(l, targets)
		}
	}
	return plan{false, from, to, len(from) * ball(len(members), distance) * len(values)}
}

// both is two lists as one.
func (p *prover) both(l, more []int) []int {
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
