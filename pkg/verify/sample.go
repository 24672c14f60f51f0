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
	for distance > 1 && len(bases)*ball(len(members), distance) > min(40*maxStates, budget/p.weight(everything)) {
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
	if every := stride(len(p.cells), p.weight(everything)); every > 1 {
		var kept []cell
		for i, c := range p.cells {
			if i%every == 0 || c.legal {
				kept = append(kept, c)
			}
		}
		p.cells, p.index = kept, map[point]int{}
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
