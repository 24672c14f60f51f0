package verify

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// How much is tried; the package comment says what these bound, and sample.go
// chooses what is tried beyond.
const (
	maxStates = 4096
	maxPairs  = 250_000
	// budget bounds each kind of trial by what it takes; see weight.
	budget = 40_000_000
)

// pair is an old and a new point that mixed checks reject as they are usually
// written.
type pair struct {
	old, new point
	scope    scope
}

// run tries everything and returns what was found.
func (p *prover) run(g *generator) (*findings, error) {
	f := &findings{prover: p, complete: true}
	p.enumerate(f)
	p.create(f)
	if p.correlates() || p.u.Guarded() || p.u.Ratchet {
		p.update(f)
	}
	p.rewrite(f)
	p.remove(f)
	if len(f.open) > 0 {
		p.resolve(g, f)
	}
	p.question(g, f)
	return f, p.ctx.Err()
}

// correlates reports whether the server matches the union object with its old
// self.
func (p *prover) correlates() bool { return p.chain.correlated == len(p.nodes) }

// each calls do for 0 to n-1 on all processors. Every worker gets findings of its
// own; they are put together at the end.
func (p *prover) each(f *findings, n int, do func(w *worker, f *findings, i int)) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(n, 1)) {
		wg.Go(func() {
			w, own := p.worker(), &findings{prover: p}
			for p.ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					break
				}
				do(w, own, i)
			}
			mu.Lock()
			defer mu.Unlock()
			f.merge(own)
		})
	}
	wg.Wait()
}

// create tries to create every state.
func (p *prover) create(f *findings) {
	p.each(f, len(p.cells), func(w *worker, f *findings, i int) {
		c := &p.cells[i]
		c.fixed = w.judge(unchanging, nothing, c.point)
		if c.created = c.fixed; c.fixed != rejected {
			c.created = w.judge(everything, nothing, c.point)
		}
		if c.created == open {
			f.open = append(f.open, pair{nothing, c.point, everything})
			return
		}
		f.compare(w, everything, nothing, c.point, c.created == accepted)
	})
	f.states = len(p.cells)
}

// update tries to change every state into every other. A new state that checks
// on itself alone reject is rejected whatever there was before.
func (p *prover) update(f *findings) {
	var eligible []int
	for i, c := range p.cells {
		if c.fixed != rejected {
			eligible = append(eligible, i)
		}
	}
	plan := p.plan(eligible, f.complete)
	if !plan.complete {
		f.complete = false
	}
	p.each(f, len(plan.from), func(w *worker, f *findings, i int) {
		old := &p.cells[plan.from[i]]
		for _, j := range plan.to(plan.from[i]) {
			if p.ctx.Err() != nil {
				return
			}
			s := everything
			if p.cells[j].fixed == accepted {
				s = changing
			}
			f.try(w, s, old.point, p.cells[j].point)
		}
		if p.u.Ratchet && (old.fixed == rejected || !plan.complete) {
			f.try(w, everything, old.point, old.point)
		}
		if !plan.complete {
			return
		}
		for _, c := range p.cells {
			if c.fixed == rejected && !(p.u.Ratchet && c.point == old.point) && !f.separate(old.point, c.point) {
				f.transitions++
			}
		}
	})
}

// try judges one pair and compares it with the model.
func (f *findings) try(w *worker, s scope, old, new point) {
	if f.separate(old, new) {
		return
	}
	if old != nothing {
		f.transitions++
	}
	switch result := w.judge(s, old, new); result {
	case open:
		if s == changing {
			s = everything // which may no longer hold with other values
		}
		f.open = append(f.open, pair{old, new, s})
	default:
		f.compare(w, s, old, new, result == accepted)
	}
}

// separate reports whether an update from old to new would be no change of one
// union object but another item of its list.
func (p *prover) separate(old, new point) bool {
	return p.u.Discriminator != "" && old.exists() && new.exists() && old.value != new.value && slices.Contains(p.keys, p.u.Discriminator)
}

// rewrite tries the other ways to write a state: to create it, to change it from
// one way of writing to another, and to come from it to the legal states.
func (p *prover) rewrite(f *findings) {
	bases := p.bases()
	from := p.near(bases)
	if f.complete {
		known := make(map[point]bool, len(from))
		for _, pt := range from {
			known[pt] = true
		}
		for _, c := range p.cells {
			if !known[c.point] {
				from = append(from, c.point)
			}
		}
	}
	each := p.weight(everything)
	every, others := stride(len(from)*len(p.alts), 3*each), stride(len(bases)*len(p.alts)*len(bases), each)
	if p.static {
		every, others = stride(len(from)*len(p.alts), each), 1
	}
	if every+others > 2 {
		f.complete = false
	}
	p.each(f, len(from), func(w *worker, f *findings, i int) {
		main := from[i]
		isBase := i < len(bases)
		for a := range p.alts {
			if !p.alts[a].suits(main) || !isBase && (i+a)%every > 0 {
				continue
			}
			other := main
			other.alt = int16(a + 1)
			f.try(w, everything, nothing, other)
			if p.ctx.Err() != nil || p.static || !p.correlates() {
				continue
			}
			f.try(w, everything, main, other)
			f.try(w, everything, other, main)
			if !isBase {
				continue
			}
			for j, next := range bases {
				if next != main && (i+a+j)%others == 0 {
					f.try(w, everything, other, next)
				}
			}
		}
	})
}

// remove tries to remove the union object, with each of the properties that lead
// to it, to add it again, and to do without it.
func (p *prover) remove(f *findings) {
	p.each(f, len(p.removals), func(w *worker, f *findings, i int) {
		gone := point{gone: int16(i + 1)}
		f.try(w, everything, nothing, gone)
		for j := range p.removals {
			f.try(w, everything, point{gone: int16(j + 1)}, gone)
		}
	})
	every := stride(len(p.cells)*len(p.removals), 2*p.weight(removing))
	if every > 1 {
		f.complete = false
	}
	p.each(f, len(p.cells)*len(p.removals), func(w *worker, f *findings, i int) {
		c, r := &p.cells[i/len(p.removals)], i%len(p.removals)
		if c.created == rejected && i/len(p.removals)%every > 0 {
			return
		}
		gone := point{gone: int16(r + 1)}
		s := everything
		if !p.u.Removable(c.state) {
			s = removing
		}
		f.try(w, s, c.point, gone)
		f.try(w, everything, gone, c.point)
	})
}

// resolve looks for a way to satisfy mixed checks that reject a pair. A pair that
// one is found for is accepted; the others stay open.
func (p *prover) resolve(g *generator, f *findings) {
	slices.SortFunc(f.open, func(a, b pair) int { return p.size(a.old, a.new).compare(p.size(b.old, b.new)) })
	w := p.worker()
	ways := g.completions(p, p.checks...)
	left := maxCompleting
	last := 0 // what helped before is likely to help again
	for _, o := range f.open {
		if p.ctx.Err() != nil {
			return
		}
		rejecting := w.rejecting(o.scope, o.old, o.new, nil)
		var found *completion
		for k := range ways {
			i := (last + k) % len(ways)
			if left--; left < 0 {
				break
			}
			if len(w.rejecting(o.scope, o.old, o.new, ways[i])) == 0 {
				found, last = ways[i], i
				break
			}
		}
		if found == nil {
			f.undecided(rejecting, o)
			continue
		}
		f.compareWith(w, o.scope, o.old, o.new, true, found)
	}
}
