package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/union"
)

// surroundings are everything in a resource but the properties of the union.
type surroundings struct {
	chain *chain
	// own are the other properties of the union object.
	own map[string]any
	// around is, for each schema above it, the value without what leads to the
	// union object: a map of properties or of entries, or the other items.
	around []any
	// without is the same for a schema whose next link is removed; nil where no
	// way to do without it was found.
	without []map[string]any
}

// MapKey is the key under which the union object stands in a map.
const MapKey = formula.EntryKey

// put wraps a value of the schema below level in one of the schema at level.
func (s *surroundings) put(level int, inner any) any {
	switch st := s.chain.steps[level]; st.kind {
	case item:
		others, _ := s.around[level].([]any)
		return append([]any{inner}, others...)
	case value:
		m := maps.Clone(s.around[level].(map[string]any))
		m[MapKey] = inner
		return m
	default:
		m := maps.Clone(s.around[level].(map[string]any))
		m[st.name] = inner
		return m
	}
}

// surround finds surroundings for a union object, from the inside out. Where no
// valid ones are found it does with what has all that is required.
func (g *generator) surround(c *chain, object map[string]any, own map[string]any) *surroundings {
	s := &surroundings{chain: c, own: own, around: make([]any, len(c.steps)), without: make([]map[string]any, len(c.steps))}
	inner := c.object().value(object)
	for level := len(c.steps) - 1; level >= 0; level-- {
		n, st := c.nodes[level], c.steps[level]
		switch st.kind {
		case item:
			var others []any
			if least := n.schema.MinItems; least != nil {
				for i := 1; i < int(min(*least, maxItems)) && small(others); i++ {
					others = append(others, another(inner, nil, i, n.schema.XListMapKeys))
				}
			}
			s.around[level] = others
		case value:
			m := map[string]any{}
			if least := n.schema.MinProperties; least != nil {
				for i := 1; i < int(min(*least, maxItems)) && small(m); i++ {
					m[MapKey+strings.Repeat("x", i)] = runtime.DeepCopyJSONValue(inner)
				}
			}
			s.around[level] = m
		case property:
			s.around[level] = g.siblings(n, st.name, inner)
			s.without[level] = g.doWithout(n, st.name)
		}
		inner = s.put(level, inner)
	}
	return s
}

// siblings are the properties of an object of n beside name.
func (g *generator) siblings(n *node, name string, inner any) map[string]any {
	fixed := map[string]any{name: inner}
	if n.root {
		g.identify(fixed)
	}
	v, err := g.search(n, g.objects(n, fixed, ""), nil)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		m, _ = g.properties(n, fixed, "").base()
	}
	m = maps.Clone(m)
	if m == nil {
		m = map[string]any{}
	}
	delete(m, name)
	return m
}

// doWithout is an object of n without the property name, or nil.
func (g *generator) doWithout(n *node, name string) map[string]any {
	if absent, null := n.removable(name); !absent && !null {
		return nil
	}
	fixed := map[string]any{}
	if n.root {
		g.identify(fixed)
	}
	if null := n.schema.Properties[name].Nullable; null {
		if absent, _ := n.removable(name); !absent {
			fixed[name] = nil
		}
	}
	v, err := g.search(n, g.objects(n, fixed, name), nil)
	if err != nil {
		return nil
	}
	m, _ := v.(map[string]any)
	m = maps.Clone(m)
	delete(m, name)
	return m
}

// identify fills in what every resource has.
func (g *generator) identify(resource map[string]any) {
	resource["apiVersion"], resource["kind"] = g.apiVersion, g.kind
	resource["metadata"] = map[string]any{"name": "example"}
}

// neighbours are the other properties of the union object: those required, and
// those of other unions in a legal state.
func (g *generator) neighbours(n *node, u *union.Union, unions []*union.Union) (map[string]any, error) {
	own := map[string]any{}
	theirs := map[string]bool{}
	for _, v := range unions {
		if v != nil {
			for _, name := range append(v.MemberNames(), v.Discriminator) {
				theirs[v.Path(name).Properties()[0]] = true
			}
		}
	}
	var problems []error
	if n.root {
		g.identify(own)
	}
	for _, name := range slices.Sorted(slices.Values(n.schema.Required)) {
		if p := n.property(name); p != nil && !theirs[name] && own[name] == nil {
			v, err := g.valid(p, nil)
			if err != nil {
				problems = append(problems, fmt.Errorf("the required property %s: %w", name, err))
				continue
			}
			own[name] = v
		}
	}
	for _, v := range unions {
		if v == nil || v == u {
			continue
		}
		w, err := g.newWriting(n, v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		other := &problem{g: g, u: v, chain: &chain{nodes: []*node{n}}, writing: w, surroundings: &surroundings{}}
		object := other.start()
		if len(v.Violations(v.StateOf(n.value(object)))) > 0 {
			problems = append(problems, errors.New("there is no legal state of the union of "+fmt.Sprint(v.MemberNames())))
			continue
		}
		for _, path := range pathsOf(v) {
			if value, ok := nested.Get(object, path); ok {
				nested.Put(own, path, value)
			}
		}
	}
	if d := n.defaults(); d != nil && n.schema.Type == "object" {
		// Defaults are there in every object that rules see.
		d(own)
		nested.Drop(own, u.Path(u.Discriminator).Properties())
	}
	return own, errors.Join(problems...)
}
