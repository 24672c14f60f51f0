package prove

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
)

// part returns the part of the subject that contains the value at a path from the object, or nil.
// holder reports whether a property on the path contains parts. below is the rest of the path after
// the part, the last holder or the first property.
func (p *Problem) part(path []string) (of *Part, holder bool, below []string) {
	n := 1
	for _, q := range p.Parts {
		common := 0
		for common < min(len(q.Path), len(path)) && q.Path[common] == path[common] {
			common++
		}
		switch {
		case common == 0:
		case common == len(q.Path):
			return q, false, path[common:]
		case common >= n:
			n, holder = common, true
		}
	}
	return nil, holder, path[n:]
}

// Locate returns the level whose value contains a place, and the path from this value to the place.
// The path is empty for places from the root to the object.
func (p *Problem) Locate(pl *formula.Place) (level int, path []string) {
	return p.follow(0, pl.Path())
}

// follow follows a path from a level towards the object. It returns the last level and the rest.
func (p *Problem) follow(level int, path []string) (int, []string) {
	for len(path) > 0 && level < len(p.Path) && path[0] == placeName(p.Path[level]) {
		level, path = level+1, path[1:]
	}
	return level, path
}

// relate reports whether a fact is about the state of the subject (touches), about the existence of
// the object (links), and about nothing else (narrow).
func (p *Problem) relate(f *formula.Fact) (touches, links, narrow bool) {
	presence := f.Kind == formula.Present || f.Kind == formula.Null
	places := f.Places()
	narrow = true
	for _, pl := range places {
		level, path := p.Locate(pl)
		switch {
		case len(path) == 0 && presence:
			links = true
		case len(path) == 0:
			touches, narrow = true, false
		case level < len(p.Schemas)-1:
			narrow = false
		default:
			of, holder, below := p.part(path)
			switch {
			case of == nil && holder && len(below) == 0 && presence:
				links = true
			case of == nil:
				narrow = false
			case of.ByValue:
				touches = touches || !of.Context
				narrow = narrow && len(below) == 0 && len(places) < 3 && (f.Question == nil || len(p.schema(pl).Props.Enum) > 0)
			default:
				touches = touches || !of.Context
				narrow = narrow && f.Question == nil && f.Kind != formula.Same && of.Tells(f, below)
			}
		}
	}
	if f.Kind == formula.Same && narrow {
		narrow = f.Place.Counterpart() == f.Other
	}
	return touches, links, narrow
}

// Concerns reports whether a test that reads the given paths may concern the subject.
func (p *Problem) Concerns(level int, reads [][]string) bool {
	return slices.ContainsFunc(reads, func(path []string) bool {
		l, rest := p.follow(level, path)
		if l < len(p.Path) {
			// The path ends above the object, or leaves the path to it after a step.
			return l > level || len(rest) == 0
		}
		if len(rest) == 0 || len(p.Path) > level {
			return true
		}
		of, holder, below := p.part(rest)
		return of != nil || holder && len(below) == 0
	})
}

func (p *Problem) reaches(level int, path []string) bool {
	level, path = p.follow(level, path)
	if level < len(p.Path) || len(path) == 0 {
		return level > len(p.Path)
	}
	of, _, _ := p.part(path)
	return level > len(p.Path) || of != nil && !of.Context
}
