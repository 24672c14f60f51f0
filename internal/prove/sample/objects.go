package sample

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// alternative is an optional property of an object, or another value of a property.
type alternative struct {
	name  string
	value any
}

// objects yields objects that have the properties in fixed and lack the property without. The first
// one has only the required properties, the next ones are larger.
func (g *Source) objects(n *Schema, fixed map[string]any, without string) iter.Seq[any] {
	return func(yield func(any) bool) {
		p := g.properties(n, fixed, without)
		base, err := p.base()
		if err != nil {
			return
		}
		// with yields the objects with n of the alternatives, in addition to chosen ones.
		var with func(n int, alternatives []alternative, chosen ...alternative) bool
		with = func(n int, alternatives []alternative, chosen ...alternative) bool {
			if n == 0 {
				object := maps.Clone(base)
				for _, a := range chosen {
					object[a.name] = a.value
				}
				return yield(object)
			}
			for i, a := range alternatives {
				if (len(chosen) == 0 || a.name != chosen[0].name) && !with(n-1, alternatives[:i], append([]alternative{a}, chosen...)...) {
					return false
				}
			}
			return true
		}
		if !with(0, nil) {
			return
		}
		for _, l := range p.entries() {
			if !with(0, nil, l...) {
				return
			}
		}
		alternatives := p.alternatives()
		for n, most := range []int{len(alternatives), maxWords} {
			if !with(n+1, alternatives[:min(len(alternatives), most)]) || n == 0 && !yield(p.improved(base)) {
				return
			}
		}
	}
}

// properties are the candidate properties of an object.
type properties struct {
	*Source
	n     *Schema
	fixed map[string]any
	names []string // the properties to choose from, the likeliest first
	// mentioned counts the references to a property in the schema's own rules and constraints, deep
	// the references to a path below it.
	mentioned, deep map[string]int
	needed          map[string]bool
	literals        []any
}

func (g *Source) properties(n *Schema, fixed map[string]any, without string) *properties {
	p := &properties{Source: g, n: n, fixed: fixed, mentioned: map[string]int{}, deep: map[string]int{}, needed: map[string]bool{}}
	tests := slices.Clone(n.Constraints())
	for _, t := range n.demands() {
		tests = append(tests, t)
		p.literals = append(p.literals, t.Literals...)
	}
	for _, t := range tests {
		for _, path := range t.Paths {
			if len(path) > 0 {
				p.mentioned[path[0]]++
			}
			if len(path) > 1 {
				p.deep[path[0]]++
			}
		}
	}
	for name := range n.Props.Properties {
		_, isFixed := fixed[name]
		if !isFixed && name != without && !(n.Root && slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name)) {
			p.names = append(p.names, name)
			p.needed[name] = p.mentioned[name] > 0 && g.needed(n, name)
		}
	}
	slices.SortFunc(p.names, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.mentioned[b], p.mentioned[a]), strings.Compare(a, b))
	})
	return p
}

// required reports whether objects need a property because of the schema, or of rules on it and its ancestors.
func (p *properties) required(name string) bool {
	return slices.Contains(p.n.Props.Required, name) || p.needed[name]
}

// base returns an object with the required and the fixed properties.
func (p *properties) base() (map[string]any, error) {
	base := map[string]any{}
	if p.n.Props.XEmbeddedResource {
		base["apiVersion"], base["kind"], base["metadata"] = "example.com/v1", "Example", map[string]any{"name": "example"}
	}
	for _, name := range p.names {
		if p.required(name) {
			v, err := p.First(p.n.Property(name))
			if err != nil {
				p.n.inner = err
				return nil, err
			}
			base[name] = v
		}
	}
	maps.Copy(base, p.fixed)
	if least := p.n.Props.MinProperties; least != nil && p.open() {
		if v, ok := p.entry(); ok {
			for i := 1; int64(len(base)) < min(*least, maxItems); i++ {
				base[fmt.Sprintf("key%d", i)] = v
			}
		}
	}
	return base, nil
}

// improved returns an object with values, one property after the other, for which more rules hold.
func (p *properties) improved(object map[string]any) map[string]any {
	for range maxWords {
		better := p.better(object)
		if better == nil {
			break
		}
		object = better
	}
	return object
}

// better returns an object with another value of one property for which the most of the rules hold that
// reject the given one. It returns nil if there is none.
func (p *properties) better(object map[string]any) (better map[string]any) {
	rejecting := p.rejecting(p.n.demands(), object)
	for _, name := range p.names {
		if !slices.ContainsFunc(rejecting, func(t *Test) bool {
			return slices.ContainsFunc(t.Paths, func(path []string) bool { return len(path) > 0 && path[0] == name })
		}) {
			continue
		}
		least, n := len(rejecting), p.n.Property(name)
		_, _ = p.search(n, p.raw(n), func(v any) bool {
			with := maps.Clone(object)
			with[name] = v
			if left := len(p.rejecting(rejecting, with)); left < least {
				better, least = with, left
			}
			return least == 0
		})
		if better != nil {
			return better
		}
	}
	return nil
}

// open reports whether the object may have additional properties.
func (p *properties) open() bool {
	a := p.n.Props.AdditionalProperties
	return a != nil && (a.Schema != nil || a.Allows)
}

// entry returns a value of an entry of the map.
func (p *properties) entry() (any, bool) {
	values := p.n.Child(schemapath.Values)
	if values == nil {
		return "a", true
	}
	v, err := p.First(values)
	return v, err == nil
}

// entries returns the entries of several maps, which have all keys that rules mention: one map for
// each value that rules mention, and one with another value.
func (p *properties) entries() [][]alternative {
	values := p.n.Child(schemapath.Values)
	if !p.open() || values == nil {
		return nil
	}
	var of []any
	for _, literal := range p.literals {
		if v, err := p.Accept(values, literal); err == nil {
			of = append(of, v)
		}
	}
	if v, ok := p.entry(); ok {
		of = append(of, v)
	}
	var l [][]alternative
	for _, v := range of[:min(len(of), maxWords)] {
		var all []alternative
		for _, literal := range p.literals {
			if key, ok := literal.(string); ok && key != "" && key != v {
				all = append(all, alternative{key, v})
			}
		}
		if len(all) > 0 {
			l = append(l, all)
		}
	}
	for _, size := range sizesOf(p.n.demands()) {
		for _, v := range of[:min(len(of), maxWords)] {
			var all []alternative
			for i := range size {
				all = append(all, alternative{fmt.Sprint("key", i), v})
			}
			l = append(l, all)
		}
	}
	return l
}

// alternatives returns optional properties, and other values for properties in base. The first
// value of each property comes before further values.
func (p *properties) alternatives() []alternative {
	var l []alternative
	rounds := map[int][]alternative{}
	for _, name := range p.names {
		if len(p.names) > 200 && p.mentioned[name] == 0 {
			continue // too many to try
		}
		values := p.choices(name)
		if p.required(name) && len(values) > 0 {
			values = values[1:]
		}
		for i, v := range values {
			if p.mentioned[name] == 0 {
				i += maxValues
			}
			rounds[i] = append(rounds[i], alternative{name, v})
		}
	}
	for _, i := range slices.Sorted(maps.Keys(rounds)) {
		l = append(l, rounds[i]...)
	}
	if p.open() {
		if v, ok := p.entry(); ok {
			l = append(l, alternative{"key", v})
		}
	}
	return l
}

// choices returns values for one property.
func (p *properties) choices(name string) []any {
	n := p.n.Property(name)
	if Composite(n.Props) && p.deep[name] == 0 && !p.required(name) {
		if v, err := p.First(n); err == nil {
			return []any{v}
		}
		return nil
	}
	values := p.Several(n)
	if Composite(n.Props) || len(n.Props.Enum) > 0 || len(values) == 0 {
		return values
	}
	l := values[:1:1]
	for _, v := range slices.Concat(p.Wanted(n), values[1:]) {
		if !slices.ContainsFunc(l, func(w any) bool { return reflect.DeepEqual(v, w) }) {
			l = append(l, v)
		}
	}
	return l
}
