package prove

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
)

// write adds the chosen values of a level to an object.
func (p *Problem) write(m logic.Model, side, level int, object map[string]any) {
	for _, s := range p.Slots {
		if s.Level != level {
			continue
		}
		for i, l := range s.Chosen[side] {
			if m(l) {
				put(object, s.Path, copied(s.Values[i]))
			}
		}
	}
}

func copied(v any) any {
	if v == any(Absent{}) {
		return v
	}
	return runtime.DeepCopyJSONValue(v)
}

// make builds the resource for a model.
func (p *Problem) make(m logic.Model, side int) map[string]any {
	around := p.surroundings()
	last := len(p.Schemas) - 1
	var inner any
	for level := last; level >= 0; level-- {
		if at := p.place(level, side); !m(at.Present()) {
			inner = Absent{}
			if m(at.Null()) {
				inner = nil
			}
			continue
		}
		var object map[string]any
		if level == last {
			object = maps.Clone(p.own) // slots replace some of these values
		} else if name, ok := p.Path[level].Property(); !ok {
			inner = around.Put(level, inner)
			continue
		} else if inner == any(Absent{}) || inner == nil {
			object = around.Excluding(level)
			if inner == nil {
				object[name] = nil
			}
		} else {
			object, _ = around.Put(level, inner).(map[string]any)
		}
		if object == nil {
			object = map[string]any{}
		}
		p.write(m, side, level, object)
		inner = p.Schemas[level].Value(object)
	}
	resource, _ := inner.(map[string]any)
	return resource
}

// reads returns the literals that determine a lazy fact: the chosen values of the properties that
// it reads, and the existence of the objects with these properties.
func (p *Problem) reads(f *formula.Fact, m logic.Model) []logic.Lit {
	places := f.Places()
	var self *formula.Place // of a question that reads parts of the value
	if q := f.Question; q != nil && !slices.Contains(q.Reads, q.At) {
		self = q.At
		places = append(slices.Clone(places), self)
	}
	var l []logic.Lit
	for _, pl := range places {
		side := sideOf(pl)
		level, path := p.Locate(pl)
		for _, s := range p.Slots {
			if s.Level == level && len(path) > 0 && s.overlaps(path) || len(path) == 0 && s.Level >= level && pl != self {
				for _, c := range s.Chosen[side] {
					if m(c) {
						l = append(l, c)
					}
				}
			}
		}
		upto := level
		if len(path) == 0 {
			upto = len(p.Places) - 1
		}
		for i := range upto + 1 {
			q := p.place(i, side)
			l = append(l, q.Present().If(m(q.Present())), q.Null().If(m(q.Null())))
		}
	}
	return append(l, p.Space.Old.Present().If(p.Update(m)))
}
