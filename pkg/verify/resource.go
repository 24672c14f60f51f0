package verify

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
)

// write puts the values chosen at a level into an object.
func (p *problem) write(m logic.Model, side, level int, object map[string]any) {
	for _, s := range p.slots {
		if s.level != level {
			continue
		}
		for i, l := range s.chosen[side] {
			if !m(l) {
				continue
			}
			if v := s.values[i]; v == any(absent{}) {
				nested.Drop(object, s.path)
			} else {
				nested.Put(object, s.path, runtime.DeepCopyJSONValue(v))
			}
		}
	}
}

// make is the resource of a model.
func (p *problem) make(m logic.Model, side int) map[string]any {
	place := func(level int) *formula.Place {
		if side == oldSide {
			return p.places[level].Counterpart()
		}
		return p.places[level]
	}
	p.surround()
	last := len(p.nodes) - 1
	var inner any
	for level := last; level >= 0; level-- {
		if !m(place(level).Present()) {
			inner = absent{}
			if m(place(level).Null()) {
				inner = nil
			}
			continue
		}
		var object map[string]any
		switch {
		case level == last:
			object = maps.Clone(p.own) // whose slots replace what they change
		case p.steps[level].kind != property:
			inner = p.put(level, inner)
			continue
		case inner == any(absent{}) || inner == nil:
			if object = maps.Clone(p.without[level]); object == nil {
				object = maps.Clone(p.around[level].(map[string]any))
			}
			delete(object, p.steps[level].name)
			if inner == nil {
				object[p.steps[level].name] = nil
			}
		default:
			object, _ = p.put(level, inner).(map[string]any)
		}
		if object == nil {
			object = map[string]any{}
		}
		p.write(m, side, level, object)
		inner = p.nodes[level].value(object)
	}
	resource, _ := inner.(map[string]any)
	return resource
}

// reads are the literals that the answer to a lazy fact depends on: the values chosen
// of what it reads, and which objects are there.
func (p *problem) reads(f *formula.Fact, m logic.Model) []logic.Lit {
	places := []*formula.Place{f.Place, f.Other}
	if f.Question != nil {
		places = append(slices.Clone(f.Question.Reads), f.Question.At)
	}
	var l []logic.Lit
	for _, pl := range places {
		if pl == nil {
			continue
		}
		side := sideOf(pl)
		level, path := p.locate(pl)
		for _, s := range p.slots {
			if s.level == level && len(path) > 0 && s.overlaps(path) || len(path) == 0 && s.level >= level && pl != p.at(f) {
				for _, c := range s.chosen[side] {
					if m(c) {
						l = append(l, c)
					}
				}
			}
		}
		upto := level
		if len(path) == 0 {
			upto = len(p.places) - 1
		}
		for i := range upto + 1 {
			q := p.places[i]
			if side == oldSide {
				q = q.Counterpart()
			}
			l = append(l, q.Present().If(m(q.Present())), q.Null().If(m(q.Null())))
		}
	}
	return append(l, p.space.Old.Present().If(m(p.space.Old.Present())))
}

func (p *problem) at(f *formula.Fact) *formula.Place {
	if f.Question == nil || slices.Contains(f.Question.Reads, f.Question.At) {
		return nil
	}
	return f.Question.At
}
