package verify

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Bounds of the search for a way to satisfy checks that read more than the
// union.
const (
	maxCompletions = 300    // combinations of other values
	maxCompleting  = 20_000 // combinations tried for one union
)

// completion is values for properties other than the union's. A nil one leaves
// everything as it is.
type completion struct{ changes []change }

// change sets one property, or takes it out.
type change struct {
	variable
	value any // absent{} to take it out
}

// apply makes the changes below one schema's value. Nested objects are copied
// before they are changed.
func (c *completion) apply(level int, object map[string]any) {
	if c == nil {
		return
	}
	for _, ch := range c.changes {
		if ch.level == level {
			assign(object, ch.path, ch.value)
		}
	}
}

func assign(object map[string]any, path []string, v any) {
	for len(path) > 1 {
		inner, ok := object[path[0]].(map[string]any)
		if !ok {
			return // what it would be part of is not there
		}
		inner = maps.Clone(inner)
		object[path[0]] = inner
		object, path = inner, path[1:]
	}
	if v == any(absent{}) {
		delete(object, path[0])
		return
	}
	object[path[0]] = v
}

// completions are ways to fill in what mixed checks read beside the union: one
// change at a time, then two, then three.
func (g *generator) completions(p *prover, checks ...*check) []*completion {
	var vars []variable
	literals := map[int][]any{}
	for _, c := range checks {
		for _, v := range c.also {
			v.old = false
			i := slices.IndexFunc(vars, v.equal)
			if i < 0 {
				i = len(vars)
				vars = append(vars, v)
			}
			literals[i] = append(literals[i], c.literals...)
		}
	}
	var singles []change
	for i, v := range vars {
		for _, value := range g.fillings(p.chain, v, literals[i]) {
			singles = append(singles, change{v, value})
		}
	}
	var l []*completion
	add := func(changes ...change) bool {
		l = append(l, &completion{changes})
		return len(l) < maxCompletions
	}
	for _, a := range singles {
		if !add(a) {
			return l
		}
	}
	for i, a := range singles {
		for _, b := range singles[:i] {
			if !a.equal(b.variable) && !add(b, a) {
				return l
			}
		}
	}
	for i, a := range singles {
		for j, b := range singles[:i] {
			for _, c := range singles[:j] {
				if !a.equal(b.variable) && !b.equal(c.variable) && !a.equal(c.variable) && !add(c, b, a) {
					return l
				}
			}
		}
	}
	return l
}

// fillings are values to try for a variable.
func (g *generator) fillings(c *chain, v variable, literals []any) []any {
	if v.level >= len(c.nodes) {
		return nil
	}
	n := c.nodes[v.level]
	optional := false
	for _, name := range v.path {
		optional, _ = n.removable(name)
		if n = n.property(name); n == nil {
			return nil
		}
	}
	var l []any
	for _, value := range g.several(n) {
		l = append(l, runtime.DeepCopyJSONValue(value))
	}
	for _, literal := range literals {
		if value, err := g.accept(n, literal); err == nil {
			l = append(l, value)
		}
	}
	if optional {
		l = append(l, absent{})
	}
	return l
}
