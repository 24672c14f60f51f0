package verify

import (
	"context"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// slot is a property that something depends on, with the values to give it. Objects
// are made of them.
type slot struct {
	level int      // of the schema in the chain that has the property
	path  []string // from there: its name, those of the objects that hold it before
	node  *node
	part
	places [2]*formula.Place
	values []any // absent{}, nil for null, or a value that the schema accepts
	set    int   // of a member, the index of the first value that sets it
	chosen [2][]logic.Lit
}

// slotKey names a slot: by its level, and its path joined.
type slotKey struct {
	level int
	name  string
}

// part is what a property is to the union.
type part struct {
	discriminator bool
	member        int  // the member's index, or -1
	holder        bool // an object that holds one of them
}

// named reports whether the union names the property.
func (of part) named() bool { return of.discriminator || of.member >= 0 }

// part returns what the property is that a path from the union object leads to, or through
// at last, and the path from there.
func (p *problem) part(path []string) (of part, below []string) {
	of.member = -1
	n := 1
	for i, q := range p.paths {
		common := 0
		for common < min(len(q), len(path)) && q[common] == path[common] {
			common++
		}
		switch {
		case common == 0:
		case common == len(q):
			if i == len(p.u.Members) {
				return part{discriminator: true, member: -1}, path[common:]
			}
			return part{member: i}, path[common:]
		case common >= n:
			n, of.holder = common, true
		}
	}
	return of, path[n:]
}

// overlaps reports whether a slot is of what is at a path from its level, in it or around it.
func (s *slot) overlaps(path []string) bool {
	n := min(len(s.path), len(path))
	return slices.Equal(s.path[:n], path[:n])
}

// The sides of an update, as indices.
const (
	newSide = iota
	oldSide
)

func sideOf(pl *formula.Place) int {
	if pl.Old {
		return oldSide
	}
	return newSide
}

// maxDeep bounds the values of a property that differ in what is in it.
const maxDeep = 60

// maxSlot bounds the values of a property.
const maxSlot = 100

// absent stands for a property that is not there.
type absent struct{}

// read collects what facts ask about at one slot.
type read struct {
	constants []any
	deep      [][]string // paths below the property
	whole     bool       // questions about the property itself
	literals  []any
}

// makeSlots makes a slot of every property that a fact is about, and says how facts follow
// from the values chosen.
func (p *problem) makeSlots() error {
	reads := map[slotKey]*read{}
	paths := map[slotKey][]string{}
	var order []slotKey
	note := func(pl *formula.Place) *read {
		level, path := p.locate(pl)
		if len(path) == 0 {
			return nil
		}
		own, below := p.slotPath(level, path)
		var r *read
		for i := range own { // what holds it, too
			k := keyOf(level, own[:i+1])
			if r = reads[k]; r == nil {
				r = &read{}
				reads[k] = r
				order = append(order, k)
				paths[k] = own[:i+1]
			}
		}
		if len(below) > 0 && !slices.ContainsFunc(r.deep, func(q []string) bool { return slices.Equal(q, below) }) {
			r.deep = append(r.deep, below)
		}
		return r
	}
	itself := func(pl *formula.Place) bool {
		_, below := p.slotPath(p.locate(pl))
		return len(below) == 0
	}
	for _, f := range p.space.Facts {
		switch {
		case f.Question != nil:
			for _, pl := range f.Question.Reads {
				if r := note(pl); r != nil {
					r.whole = r.whole || itself(pl)
				}
			}
		default:
			r := note(f.Place)
			if f.Other != nil {
				note(f.Other)
			}
			if r != nil && f.Constant != nil && itself(f.Place) && f.Constant != any(true) {
				r.constants = append(r.constants, f.Constant)
			}
		}
	}
	// What is far from the union first: it is the least likely to matter.
	slices.SortFunc(order, func(a, b slotKey) int {
		if a.level != b.level {
			return a.level - b.level
		}
		return strings.Compare(a.name, b.name)
	})
	for _, c := range p.checks {
		for _, path := range c.Paths {
			level, rest := p.follow(c.level, path)
			if len(rest) > 0 && level < len(p.nodes) {
				own, _ := p.slotPath(level, rest)
				if r := reads[keyOf(level, own)]; r != nil {
					r.literals = append(r.literals, c.Literals...)
				}
			}
		}
	}
	for _, k := range order {
		if p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		if s := p.newSlot(k.level, paths[k], reads[k]); s != nil {
			p.slots = append(p.slots, s)
		}
	}
	p.connect()
	return nil
}

// locate finds the level whose object has a place in it, and the names from there. The
// path is empty for places on the way to the union object.
func (p *problem) locate(pl *formula.Place) (level int, path []string) {
	return p.follow(0, pl.Path())
}

// follow follows a path from a level towards the union object.
func (p *problem) follow(level int, path []string) (int, []string) {
	for len(path) > 0 && level < len(p.steps) && path[0] == p.steps[level].placeName() {
		level, path = level+1, path[1:]
	}
	return level, path
}

func (s step) placeName() string {
	switch s.kind {
	case item:
		return formula.Item
	case value:
		return formula.Entry
	}
	return s.name
}

// connect says what follows from the values chosen, for objects that are made of
// them.
func (p *problem) connect() {
	s := p.space
	p.made = s.Var()
	for _, sl := range p.slots {
		for side, pl := range sl.places {
			there := pl.Parent.Present()
			lits := make([]logic.Lit, len(sl.values))
			for i := range lits {
				lits[i] = s.Var()
				s.RequireAny(p.made.Not(), lits[i].Not(), there)
				for _, other := range lits[:i] {
					s.RequireAny(p.made.Not(), lits[i].Not(), other.Not())
				}
			}
			s.RequireAny(append([]logic.Lit{p.made.Not(), there.Not()}, lits...)...)
			sl.chosen[side] = lits
		}
	}
	for _, f := range p.space.Facts {
		if p.lazy(f) {
			p.lazies = append(p.lazies, f)
			continue
		}
		sl := p.slotOf(f.Place)
		if sl == nil {
			continue
		}
		side := sideOf(f.Place)
		level := p.places[sl.level]
		var holds []logic.Lit
		for i, v := range sl.values {
			// The fact, of an object that has nothing else.
			object := map[string]any{}
			if v != any(absent{}) {
				nested.Put(object, sl.path, v)
			}
			if f.Of(level, object) {
				holds = append(holds, sl.chosen[side][i])
			}
		}
		s.RequireAny(append([]logic.Lit{p.made.Not(), f.Lit.Not()}, holds...)...)
		for _, l := range holds {
			s.RequireAny(p.made.Not(), l.Not(), f.Lit)
		}
	}
}

// lazy reports whether a fact does not follow from the value of one property.
func (p *problem) lazy(f *formula.Fact) bool {
	if f.Kind == formula.Same || f.Question != nil {
		return true
	}
	_, path := p.locate(f.Place)
	return len(path) == 0 && f.Kind != formula.Present && f.Kind != formula.Null
}

// slotOf is the slot that a place is in, or nil.
func (p *problem) slotOf(pl *formula.Place) *slot {
	level, path := p.locate(pl)
	if len(path) == 0 {
		return nil
	}
	own, _ := p.slotPath(level, path)
	for _, s := range p.slots {
		if s.level == level && slices.Equal(s.path, own) {
			return s
		}
	}
	return nil
}

// slotPath splits a path below a level into that of its slot, and the rest.
func (p *problem) slotPath(level int, path []string) (own, below []string) {
	switch {
	case len(path) == 0:
		return nil, nil
	case level < len(p.nodes)-1:
		return path[:1], path[1:]
	}
	_, below = p.part(path)
	return path[:len(path)-len(below)], below
}

func keyOf(level int, path []string) slotKey { return slotKey{level, strings.Join(path, "\x00")} }

// isEmptyUnset reports whether a member counts as unset when it is empty.
func isEmptyUnset(m union.Member) bool { return m.Empty != union.PresentWhenEmpty }
