package verify

import (
	"context"
	"maps"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// prover tries the states of one union.
type prover struct {
	ctx context.Context
	u   *union.Union
	*chain
	*writing
	*surroundings
	checks   []*check
	removals []removal
	cells    []cell
	index    map[point]int // of cells
	// static says that nothing depends on the old object: neither a check nor the
	// union. Then creations say it all.
	static bool
}

// removal is a way for the union object to disappear: a property on the way to
// it is left out, or null.
type removal struct {
	level int // of the schema that loses the property
	null  bool
}

// cell is a state to try, written in the usual way.
type cell struct {
	point
	state union.State
	legal bool
	// fixed is the verdict of the checks that do not read the old object, and
	// created that of all checks on a creation.
	fixed, created outcome
}

// outcome is what the server makes of a resource, as far as the union goes.
type outcome uint8

const (
	accepted outcome = iota + 1
	rejected
	// open is rejected by checks that look at more than the union.
	open
)

// object is the union object of a point.
func (p *prover) object(pt point) map[string]any {
	m := maps.Clone(p.own)
	if m == nil {
		m = map[string]any{}
	}
	write := func(name string, v any) {
		if v != any(absent{}) {
			m[name] = v
		}
	}
	if p.u.Discriminator != "" {
		if pt.value == 0 {
			write(p.u.Discriminator, p.unset)
		} else {
			m[p.u.Discriminator] = p.values[pt.value]
		}
	}
	for i, member := range p.u.Members {
		if pt.set.has(i) {
			m[member.Name] = p.members[i]
		}
	}
	if pt.alt > 0 {
		a := p.alts[pt.alt-1]
		name := p.u.Discriminator
		if a.property > 0 {
			name = p.u.Members[a.property-1].Name
		}
		m[name] = a.value
	}
	return m
}

// at is the value of the schema at level of the chain; nil when there is none.
func (p *prover) at(level int, pt point, c *completion) any {
	if pt == nothing {
		return nil
	}
	last := len(p.nodes) - 1
	var inner any
	from := last
	if pt.exists() {
		object := p.object(pt)
		if c != nil {
			c.apply(last, object)
			if !p.u.StateOf(object).Equal(p.state(pt)) {
				object = p.object(pt) // it would no longer be that state
			}
		}
		if level > last {
			return object[p.u.Discriminator]
		}
		inner = object
	} else {
		r := p.removals[pt.gone-1]
		if level > r.level {
			return nil
		}
		from = r.level
		m := maps.Clone(p.without[r.level])
		if r.null {
			m[p.steps[r.level].name] = nil
		}
		c.apply(from, m)
		inner = m
	}
	for l := from - 1; l >= level; l-- {
		inner = p.put(l, inner)
		if m, ok := inner.(map[string]any); ok {
			c.apply(l, m)
		}
	}
	return inner
}

// correlate is the old side of a pair as the schema at level sees it.
func (p *prover) correlate(level int, old point) point {
	if min(level, len(p.nodes)-1) >= p.chain.correlated || old == nothing {
		return nothing
	}
	return old
}

// key is everything a check's verdict depends on.
type key struct{ old, new point }

// worker evaluates checks and remembers their verdicts.
type worker struct {
	*prover
	memo []map[key]answer
}

func (p *prover) worker() *worker {
	w := &worker{prover: p, memo: make([]map[key]answer, len(p.checks))}
	for i := range w.memo {
		w.memo[i] = map[key]answer{}
	}
	return w
}

// ask evaluates one check on a pair; old is nothing for a creation.
func (w *worker) ask(c *check, old, new point, with *completion) answer {
	old = w.correlate(c.level, old)
	if !c.usesOld {
		old = nothing
	}
	if with != nil {
		said, _ := c.evaluate(w.ctx, w.at(c.level, new, with), w.at(c.level, old, with))
		return said
	}
	k := key{old, c.reads[0].of(new, w.alts)}
	if old != nothing {
		k.old = c.reads[1].of(old, w.alts)
	}
	if said, ok := w.memo[c.id][k]; ok {
		return said
	}
	said, _ := c.evaluate(w.ctx, w.at(c.level, new, nil), w.at(c.level, old, nil))
	w.memo[c.id][k] = said
	return said
}

// scope says which checks are asked.
type scope int

const (
	everything scope = iota
	unchanging       // checks that do not read the old object
	changing         // checks that do
	removing         // those, too, that read only whether the union object is there
)

func (s scope) includes(c *check) bool {
	switch s {
	case unchanging:
		return !c.links && !c.usesOld
	case changing:
		return !c.links && c.usesOld
	case removing:
		return true
	}
	return !c.links
}

// judge evaluates checks on a pair. It stops at the first sure rejection.
func (w *worker) judge(s scope, old, new point) outcome {
	result := accepted
	for _, c := range w.checks {
		if !s.includes(c) || w.ask(c, old, new, nil) == holds {
			continue
		}
		if c.sure(w.correlate(c.level, old), new, w.removals) {
			return rejected
		}
		result = open
	}
	return result
}

// rejecting are the checks that reject a pair.
func (w *worker) rejecting(s scope, old, new point, with *completion) []*check {
	var l []*check
	for _, c := range w.checks {
		if s.includes(c) && w.ask(c, old, new, with) != holds {
			l = append(l, c)
		}
	}
	return l
}

// free are the members that have a value to be set to.
func (p *prover) free() []int {
	var l []int
	for i, v := range p.members {
		if v != nil {
			l = append(l, i)
		}
	}
	return l
}

// bases are the legal states with at most one member set.
func (p *prover) bases() []point {
	var l []point
	members := p.free()
	for v := range p.values {
		if v == 0 && !p.canUnset {
			continue
		}
		pt := point{value: int16(v)}
		if len(p.u.Violations(p.state(pt))) == 0 {
			l = append(l, pt)
		}
		for _, m := range members {
			one := point{value: int16(v), set: set{}.flipped(m)}
			if len(p.u.Violations(p.state(one))) == 0 {
				l = append(l, one)
			}
		}
	}
	slices.SortStableFunc(l, func(a, b point) int { return a.set.count() - b.set.count() })
	return l
}
