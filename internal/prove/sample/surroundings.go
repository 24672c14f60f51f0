package sample

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Surroundings are the values that contain the object of a chain, up to the resource.
type Surroundings struct {
	path schemapath.Path
	// around has a value for each schema above the object, without the next value on the path: a
	// map of properties or entries, or the other items.
	around []any
	// without has valid objects that lack the next value on the path. Such an object is nil if none
	// was found.
	without []map[string]any
}

// Surround finds surroundings for an object, from the inside out. If it finds no valid
// surroundings, they have only the required properties.
func (g *Source) Surround(c *Chain, object map[string]any) *Surroundings {
	s := &Surroundings{path: c.Path, around: make([]any, len(c.Path)), without: make([]map[string]any, len(c.Path))}
	inner := c.Object().Value(object)
	for level := len(c.Path) - 1; level >= 0; level-- {
		n := c.Schemas[level]
		switch name, ok := c.Path[level].Property(); {
		case ok:
			s.around[level] = g.siblings(n, name, inner)
			s.without[level] = g.doWithout(n, name)
		case c.Path[level] == schemapath.Items:
			s.around[level] = g.others(c, level, inner)
		default:
			m := map[string]any{}
			if least := n.Props.MinProperties; least != nil {
				for i := 1; i < int(min(*least, maxItems)) && small(m); i++ {
					m[formula.EntryKey+strings.Repeat("x", i)] = runtime.DeepCopyJSONValue(inner)
				}
			}
			s.around[level] = m
		}
		inner = s.Put(level, inner)
	}
	return s
}

// maxOthers bounds the items that are added to a list for rules that require more than one.
const maxOthers = 8

// others returns the other items of a list at a level of a chain: as many as its schema requires, and the
// rules on the list, and on the object with the list.
func (g *Source) others(c *Chain, level int, inner any) (l []any) {
	n := c.Schemas[level]
	if least := n.Props.MinItems; least != nil {
		for i := 1; i < int(min(*least, maxItems)) && small(l); i++ {
			l = append(l, another(inner, nil, i, n.Props.XListMapKeys))
		}
	}
	suits := func(others []any) bool { return g.Admits(n, append([]any{inner}, others...)) }
	if level > 0 {
		name, ok := c.Path[level-1].Property()
		if around := c.Schemas[level-1]; ok && slices.ContainsFunc(around.Rules(), func(t *Test) bool {
			return slices.ContainsFunc(t.Paths, func(path []string) bool { return len(path) == 1 && path[0] == name })
		}) {
			suits = func(others []any) bool {
				return g.objectWith(around, map[string]any{name: append([]any{inner}, others...)}, "") != nil
			}
		}
	}
	if suits(l) {
		return l
	}
	longer := l
	for i := len(l) + 1; i <= maxOthers; i++ {
		if enumerated := spread(inner, n.Child(schemapath.Items)); len(enumerated) > i {
			longer = slices.DeleteFunc(enumerated[:i+1], func(v any) bool { return reflect.DeepEqual(v, inner) })
		} else {
			longer = append(slices.Clip(longer), another(inner, nil, i, n.Props.XListMapKeys))
		}
		if suits(longer) {
			return longer
		}
	}
	return l
}

// Put returns the value at a level in which inner is the next value on the path.
func (s *Surroundings) Put(level int, inner any) any {
	key, ok := s.path[level].Property()
	switch {
	case s.path[level] == schemapath.Items:
		others, _ := s.around[level].([]any)
		return append([]any{inner}, others...)
	case !ok:
		key = formula.EntryKey
	}
	m := maps.Clone(s.Others(level))
	m[key] = inner
	return m
}

// Others returns the other properties of the object at a level. The caller must not modify them.
func (s *Surroundings) Others(level int) map[string]any {
	m, _ := s.around[level].(map[string]any)
	return m
}

// Excluding returns the object at a level without the next property on the path.
func (s *Surroundings) Excluding(level int) map[string]any {
	name, _ := s.path[level].Property()
	m := maps.Clone(s.without[level])
	if m == nil {
		m = maps.Clone(s.Others(level))
	}
	delete(m, name)
	return m
}

// siblings returns the properties of an object of schema n except name.
func (g *Source) siblings(n *Schema, name string, inner any) map[string]any {
	fixed := map[string]any{name: inner}
	m := g.objectWith(n, fixed, "")
	if m == nil {
		m, _ = g.properties(n, fixed, "").base()
	}
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	delete(m, name)
	return m
}

// doWithout returns an object of schema n without the property name, or nil.
func (g *Source) doWithout(n *Schema, name string) map[string]any {
	absent, null := n.Removable(name)
	fixed := map[string]any{}
	switch {
	case !absent && !null:
		return nil
	case !absent:
		fixed[name] = nil
	}
	m := maps.Clone(g.objectWith(n, fixed, name))
	delete(m, name)
	return m
}

// objectWith returns a valid object of schema n that has the properties in fixed and lacks the
// property without, or nil. For a resource, it adds the type and the metadata to fixed.
func (g *Source) objectWith(n *Schema, fixed map[string]any, without string) map[string]any {
	if n.Root {
		g.Identify(fixed)
	}
	v, err := g.search(n, g.objects(n, fixed, without), nil)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	return m
}

// Identify sets the type and the metadata of a resource.
func (g *Source) Identify(resource map[string]any) {
	resource["apiVersion"], resource["kind"] = g.apiVersion, g.kind
	if g.name == "" {
		g.name = g.findName()
	}
	resource["metadata"] = map[string]any{"name": g.name}
}

const usualName = "example"

// findName returns a name that the schema of the name and the rules that read only the name accept. If it
// finds none, it returns the usual name.
func (g *Source) findName() string {
	if g.schema == nil {
		return usualName
	}
	root := *g.schema
	metadata := root.Properties["metadata"]
	name := metadata.Properties["name"]
	name.Type = "string"
	metadata.Properties = map[string]apiextensionsv1.JSONSchemaProps{"name": name}
	root.Properties = maps.Clone(root.Properties)
	if root.Properties == nil {
		root.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	root.Properties["metadata"] = metadata
	n := New(&root, "", true).Property("metadata").Property("name")
	parts := func(yield func(any) bool) {
		for v := range join(slices.Values([]any{usualName}), g.raw(n)) {
			text, _ := v.(string)
			if !yield(text) || !yield(text+usualName) || !yield(usualName+text) {
				return
			}
		}
	}
	v, err := g.search(n, parts, func(v any) bool {
		return len(validation.IsDNS1123Subdomain(v.(string))) == 0 && len(g.rejecting(n.inherited(), v)) == 0
	})
	if err != nil {
		return usualName
	}
	return v.(string)
}

// Required returns the required properties of a schema with valid values, except those in but. It
// omits properties without a valid value; the error lists them.
func (g *Source) Required(n *Schema, but map[string]bool) (map[string]any, error) {
	object := map[string]any{}
	if n.Root {
		g.Identify(object)
	}
	var errs []error
	for _, name := range slices.Sorted(slices.Values(n.Props.Required)) {
		if p := n.Property(name); p != nil && !but[name] && object[name] == nil {
			v, err := g.Valid(p, nil)
			if err != nil {
				errs = append(errs, fmt.Errorf("the required property %s: %w", name, err))
				continue
			}
			object[name] = v
		}
	}
	return object, errors.Join(errs...)
}
