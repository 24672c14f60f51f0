package verify

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/pkg/union"
)

// absent stands for a property that is not there.
type absent struct{}

// writing is how the properties of a union are written.
type writing struct {
	values []string // of the discriminator; values[0] is unset
	unset  any      // how an unset discriminator is written, absent{} or a value
	// canUnset is whether the schema admits an unset discriminator at all.
	canUnset bool
	members  []any   // the value of each member when set, nil when there is none
	failures []error // why there is none
	alts     []alternate
}

// newWriting finds out how the properties of u can be written in an object of n.
// Foreign are values to try for the discriminator beside those of the union.
func (g *generator) newWriting(n *node, u *union.Union, foreign []string) (*writing, error) {
	w := &writing{values: []string{""}, unset: absent{}, canUnset: true, members: make([]any, len(u.Members)), failures: make([]error, len(u.Members))}
	if u.Discriminator != "" {
		if err := g.discriminator(w, n, u, foreign); err != nil {
			return nil, err
		}
	}
	for i, m := range u.Members {
		if err := g.member(w, n, i, m); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (g *generator) discriminator(w *writing, n *node, u *union.Union, foreign []string) error {
	d := n.property(u.Discriminator)
	if d == nil {
		return fmt.Errorf("%s has no property %q, the discriminator", n.path, u.Discriminator)
	}
	admits := func(v string) bool {
		_, err := g.accept(d, v)
		return err == nil
	}
	mayLack, mayNull := n.removable(u.Discriminator)
	var unset []any
	if mayLack {
		unset = append(unset, absent{})
	}
	if admits("") {
		unset = append(unset, "")
	}
	if mayNull {
		unset = append(unset, nil)
	}
	if w.canUnset = len(unset) > 0; w.canUnset {
		w.unset = unset[0]
		for _, v := range unset[1:] {
			w.alts = append(w.alts, alternate{property: 0, unset: true, value: v})
		}
	}
	add := func(v any) bool {
		text, ok := v.(string)
		if !ok || slices.Contains(w.values, text) || !admits(text) {
			return false
		}
		w.values = append(w.values, text)
		return true
	}
	for _, v := range u.Values {
		add(v)
	}
	for i := range d.schema.Enum {
		add(decoded(&d.schema.Enum[i]))
	}
	for _, v := range foreign {
		add(v)
	}
	// One that no rule mentions.
	for _, v := range append([]any{"Unknown", "unknown", "X"}, g.several(d)...) {
		if add(v) {
			break
		}
	}
	return nil
}

func (g *generator) member(w *writing, n *node, i int, m union.Member) error {
	p := n.property(m.Name)
	if p == nil {
		return fmt.Errorf("%s has no property %q, a member", n.path, m.Name)
	}
	one := &union.Union{Members: []union.Member{m}}
	isSet := func(v any) bool { return one.StateOf(map[string]any{m.Name: v}).Present[0] }
	v, err := g.valid(p, isSet)
	if err != nil {
		w.failures[i] = err
	} else {
		w.members[i] = v
	}
	others := []any{}
	if p.schema.Nullable {
		others = append(others, nil)
	}
	for _, empty := range []any{map[string]any{}, []any{}, "", int64(0), false} {
		if !fitsType(empty, p.schema.Type, p.schema.XIntOrString) {
			continue
		}
		if e, err := g.accept(p, runtime.DeepCopyJSONValue(empty)); err == nil {
			others = append(others, e)
		}
	}
	others = append(others, g.fieldwise(p, m)...)
	for _, v := range others {
		if set := v != nil && isSet(v); !set || w.members[i] != nil && fmt.Sprint(v) != fmt.Sprint(w.members[i]) {
			w.alts = append(w.alts, alternate{property: 1 + i, unset: !set, value: v})
		}
	}
	return nil
}

// maxFieldwise bounds the combinations of a member's properties that are tried.
const maxFieldwise = 40

// fieldwise are values of a member that its properties make present: each of them
// alone, all at once, then two by two.
func (g *generator) fieldwise(n *node, m union.Member) []any {
	if m.Empty != union.EmptyObject {
		return nil
	}
	values := map[string]any{}
	for _, f := range m.Fields {
		if p := n.property(f); p != nil {
			if v, err := g.first(p); err == nil && v != nil {
				values[f] = v
			}
		}
	}
	fields := slices.Sorted(maps.Keys(values))
	var l []any
	add := func(names ...string) {
		object := map[string]any{}
		for _, name := range names {
			object[name] = values[name]
		}
		for _, name := range n.schema.Required {
			if v, ok := values[name]; ok {
				object[name] = v
			}
		}
		if v, err := g.accept(n, runtime.DeepCopyJSONValue(object)); err == nil && len(l) < maxFieldwise {
			l = append(l, v)
		}
	}
	for _, f := range fields {
		add(f)
	}
	add(fields...)
	for i, f := range fields {
		for _, other := range fields[:i] {
			add(other, f)
		}
	}
	return l
}

// fitsType reports whether an empty value may be one of a schema's type.
func fitsType(v any, kind string, intOrString bool) bool {
	switch v.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string" || intOrString
	case int64:
		return kind == "integer" || kind == "number" || intOrString
	}
	return kind == "boolean"
}
