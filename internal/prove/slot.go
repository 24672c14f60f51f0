package prove

import (
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Slot is a property on which a fact depends, with candidate values. Examples consist of slots.
type Slot struct {
	Level  int      // the level in the chain of the schema with the property
	Path   []string // the path from this level, with the names that formulas use
	Places [2]*formula.Place
	Values []any // [Absent], nil for null, or a value that the schema accepts
	Chosen [2][]logic.Lit

	schema *sample.Schema
	part   *Part
	holder bool // whether it contains parts
	set    int  // the index of the first value that sets the part
	lacks  bool // only the old object may lack the property
}

// slotKey identifies a slot.
type slotKey struct {
	level int
	name  string
}

func keyOf(level int, path []string) slotKey { return slotKey{level, strings.Join(path, "\x00")} }

// overlaps reports whether the slot contains the value at a path from its level, or is in it.
func (s *Slot) overlaps(path []string) bool {
	n := min(len(s.Path), len(path))
	return slices.Equal(s.Path[:n], path[:n])
}

func sideOf(pl *formula.Place) int {
	if pl.Old {
		return Old
	}
	return New
}

// Bounds of the number of values of a slot.
const (
	maxDeep = 60 // values that differ below the property
	maxSlot = 100
	// maxDiffering is the number of properties in which two objects may differ that a rule compares.
	maxDiffering = 4
)

// Absent stands for an absent property.
type Absent struct{}

// Reads collects the constants and paths that facts read at one slot.
type Reads struct {
	Constants, Literals []any

	deep   [][]string // paths below the property
	whole  bool       // questions about the property itself
	filled bool       // facts that the list or map is empty
	costly bool       // questions whose evaluation may exceed the cost limit
}

// makeSlots creates a slot for each property in a fact, and relates the facts to the chosen values.
func (p *Problem) makeSlots() error {
	reads := map[slotKey]*Reads{}
	paths := map[slotKey][]string{}
	var order []slotKey
	note := func(pl *formula.Place) (r *Reads, itself bool) {
		level, path := p.Locate(pl)
		if len(path) == 0 {
			return nil, false
		}
		own, below := p.slotPath(level, path)
		for i := range own { // also note the objects that contain the property
			k := keyOf(level, own[:i+1])
			if r = reads[k]; r == nil {
				r = &Reads{}
				reads[k] = r
				order = append(order, k)
				paths[k] = own[:i+1]
			}
		}
		if len(below) > 0 && !slices.ContainsFunc(r.deep, func(q []string) bool { return slices.Equal(q, below) }) {
			r.deep = append(r.deep, below)
		}
		return r, len(below) == 0
	}
	for _, f := range p.Space.Facts {
		for i, pl := range f.Places() {
			r, itself := note(pl)
			switch {
			case r == nil && f.Kind == formula.Same:
				// Some property has to differ for the object to differ.
				level, _ := p.Locate(pl)
				names := slices.Sorted(maps.Keys(p.Schemas[level].Props.Properties))
				for _, name := range names[:min(len(names), maxDiffering)] {
					note(pl.Child(name))
				}
			case r == nil:
			case f.Question != nil:
				r.whole = r.whole || itself
				r.costly = r.costly || f.Question.Costly
			case f.Kind == formula.Empty:
				r.filled = r.filled || itself
			case i == 0 && itself && f.Constant != nil && f.Constant != any(true):
				r.Constants = append(r.Constants, f.Constant)
			}
		}
	}
	// Slots far from the object are the least likely to matter, and come first.
	slices.SortFunc(order, func(a, b slotKey) int {
		if a.level != b.level {
			return a.level - b.level
		}
		return strings.Compare(a.name, b.name)
	})
	for _, c := range p.Checks {
		for _, path := range c.Paths {
			level, rest := p.follow(c.Level, path)
			if len(rest) > 0 && level < len(p.Schemas) {
				own, _ := p.slotPath(level, rest)
				if r := reads[keyOf(level, own)]; r != nil {
					r.Literals = append(r.Literals, c.Literals...)
				}
			}
		}
	}
	for _, k := range order {
		if err := p.Source.Err(); err != nil {
			return err
		}
		if s := p.newSlot(k.level, paths[k], reads[k]); s != nil {
			p.Slots = append(p.Slots, s)
		}
	}
	p.connect()
	return nil
}

// connect adds the clauses that relate facts to the chosen values.
func (p *Problem) connect() {
	s := p.Space
	p.made = s.Var()
	for _, sl := range p.Slots {
		for side, pl := range sl.Places {
			there := pl.Parent.Present()
			lits := make([]logic.Lit, len(sl.Values))
			for i := range lits {
				lits[i] = s.Var()
				s.RequireAny(p.made.Not(), lits[i].Not(), there)
				if sl.lacks && side == New && sl.Values[i] == any(Absent{}) {
					s.RequireAny(p.made.Not(), lits[i].Not())
				}
				for _, other := range lits[:i] {
					s.RequireAny(p.made.Not(), lits[i].Not(), other.Not())
				}
			}
			s.RequireAny(append([]logic.Lit{p.made.Not(), there.Not()}, lits...)...)
			sl.Chosen[side] = lits
		}
	}
	for _, f := range s.Facts {
		if p.lazy(f) {
			p.lazies = append(p.lazies, f)
			continue
		}
		sl := p.slotOf(f.Place)
		if sl == nil {
			continue
		}
		side := sideOf(f.Place)
		level := p.Places[sl.Level]
		var holds []logic.Lit
		for i, v := range sl.Values {
			// Evaluate the fact on an object that has only this value.
			object := map[string]any{}
			if v != any(Absent{}) {
				schemapath.SetValueAt(object, sl.Path, v)
			}
			if f.Evaluate(level, object) {
				holds = append(holds, sl.Chosen[side][i])
			}
		}
		s.RequireAny(append([]logic.Lit{p.made.Not(), f.Lit.Not()}, holds...)...)
		for _, l := range holds {
			s.RequireAny(p.made.Not(), l.Not(), f.Lit)
		}
	}
}

// lazy reports whether a fact depends on more than the value of one property.
func (p *Problem) lazy(f *formula.Fact) bool {
	if f.Kind == formula.Same || f.Question != nil {
		return true
	}
	_, path := p.Locate(f.Place)
	return len(path) == 0 && f.Kind != formula.Present && f.Kind != formula.Null
}

// slotOf returns the slot that contains a place, or nil.
func (p *Problem) slotOf(pl *formula.Place) *Slot {
	level, path := p.Locate(pl)
	if len(path) == 0 {
		return nil
	}
	own, _ := p.slotPath(level, path)
	for _, s := range p.Slots {
		if s.Level == level && slices.Equal(s.Path, own) {
			return s
		}
	}
	return nil
}

// slotPath splits a path below a level into the path of its slot, and the rest.
func (p *Problem) slotPath(level int, path []string) (own, below []string) {
	switch {
	case len(path) == 0:
		return nil, nil
	case level < len(p.Schemas)-1:
		return path[:1], path[1:]
	}
	_, _, below = p.part(path)
	return path[:len(path)-len(below)], below
}
