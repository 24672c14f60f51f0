package verify

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/union"
)

// writing is how the members of a union are written.
type writing struct {
	// unset and set are, by member, the values that leave it unset and that set it,
	// the usual ones first.
	unset, set [][]any
	failures   []error // why there is none that sets it
}

// newWriting finds out how the members of u can be written in an object of n.
func (g *generator) newWriting(n *node, u *union.Union) (*writing, error) {
	w := &writing{unset: make([][]any, len(u.Members)), set: make([][]any, len(u.Members)), failures: make([]error, len(u.Members))}
	for i := range u.Members {
		if err := g.member(w, n, u, i); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (g *generator) member(w *writing, n *node, u *union.Union, i int) error {
	m := u.Members[i]
	if m.Item != nil {
		return g.item(w, n, u, i)
	}
	p := n.at(u.Path(m.Name))
	if p == nil {
		return fmt.Errorf("%s has no property %q, a member", n.path, m.Name)
	}
	one := &union.Union{Members: []union.Member{m}}
	isSet := func(v any) bool { return one.StateOf(map[string]any{m.Name: v}).Present[0] }
	v, err := g.valid(p, isSet)
	if err != nil {
		w.failures[i] = err
	} else {
		w.set[i] = []any{v}
	}
	w.unset[i] = []any{absent{}}
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
		if v != nil && isSet(v) {
			w.set[i] = append(w.set[i], v)
		} else {
			w.unset[i] = append(w.unset[i], v)
		}
	}
	return nil
}

// item finds how a member that is an item can be written.
func (g *generator) item(w *writing, n *node, u *union.Union, i int) error {
	items := n.child(step{kind: item})
	if n.schema.Type != "array" || items == nil {
		return fmt.Errorf("%s is no list that could have %s, a member", n.path, u.Members[i].Name)
	}
	w.unset[i] = []any{absent{}}
	if v, err := g.itemWith(items, pathsOf(u)[i][0]); err != nil {
		w.failures[i] = err
	} else {
		w.set[i] = []any{v}
	}
	return nil
}

// itemWith is an item with the keys of a name.
func (g *generator) itemWith(items *node, name string) (any, error) {
	return g.search(items, g.objects(items, formula.KeysOf(name), ""), nil)
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
