package verify

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/formula"
	"github.com/unioncel/unioncel/internal/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// slot is a property that something depends on, with the values to give it. Objects
// are made of them.
type slot struct {
	level  int // of the schema that has the property
	name   string
	places [2]*formula.Place
	values []any // absent{}, nil for null, or a value that the schema accepts
	member int   // index of the union's member, or -1
	set    int   // the index of the first value that sets it
	chosen [2][]logic.Lit
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
	var order []slotKey
	note := func(pl *formula.Place) *read {
		level, path := p.locate(pl)
		if len(path) == 0 {
			return nil
		}
		k := slotKey{level, path[0]}
		r, ok := reads[k]
		if !ok {
			r = &read{}
			reads[k] = r
			order = append(order, k)
		}
		if len(path) > 1 && !slices.ContainsFunc(r.deep, func(q []string) bool { return slices.Equal(q, path[1:]) }) {
			r.deep = append(r.deep, path[1:])
		}
		return r
	}
	for _, f := range p.space.Facts {
		switch {
		case f.Question != nil:
			for _, pl := range f.Question.Reads {
				if r := note(pl); r != nil {
					_, path := p.locate(pl)
					r.whole = r.whole || len(path) == 1
				}
			}
		default:
			r := note(f.Place)
			if f.Other != nil {
				note(f.Other)
			}
			if _, path := p.locate(f.Place); r != nil && f.Constant != nil && len(path) == 1 && f.Constant != any(true) {
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
				if r := reads[slotKey{level, rest[0]}]; r != nil {
					r.literals = append(r.literals, c.Literals...)
				}
			}
		}
	}
	for _, k := range order {
		s, err := p.newSlot(k.level, k.name, reads[k])
		if err != nil {
			return err
		}
		if s != nil {
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
				object[sl.name] = v
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
	for _, s := range p.slots {
		if s.level == level && s.name == path[0] {
			return s
		}
	}
	return nil
}

// isEmptyUnset reports whether a member counts as unset when it is empty.
func isEmptyUnset(m union.Member) bool { return m.Empty != union.PresentWhenEmpty }
