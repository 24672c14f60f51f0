package change

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// held returns values for the property that contains the schema at a path. Without lists and maps
// in between, this is value itself. Otherwise these are lists with the value once, twice and after
// other items, and maps with the value alone, with a second entry, and with as many as their bounds
// allow.
func (w *walker) held(p schemapath.Path, value any) []any {
	const most = 40
	at, _ := seatOf(p)
	l := []any{value}
	for i := len(p); i > len(p)-len(at.tail); i-- {
		fillers := []any{}
		sizes := []int64{1, 2}
		for _, side := range bothSides {
			if s := p[:i].Schema(w.pair.root(side)); s != nil {
				fillers = append(fillers, w.values(s)...)
			}
			if s := p[:i-1].Schema(w.pair.root(side)); s != nil {
				for _, bound := range []*int64{s.MinProperties, s.MaxProperties} {
					if bound != nil && *bound < most {
						sizes = append(sizes, *bound, *bound+1)
					}
				}
			}
		}
		var outer []any
		for _, v := range l {
			if p[i-1] == schemapath.Items {
				outer = append(outer, []any{v}, []any{v, v})
				for _, f := range fillers {
					outer = append(outer, []any{f, v})
				}
				continue
			}
			for _, size := range sizes {
				m := map[string]any{"key": v}
				for j := int64(1); j < size && len(fillers) > 0; j++ {
					m[fmt.Sprint("key", j)] = fillers[0]
				}
				outer = append(outer, m)
			}
		}
		l = outer[:min(len(outer), most)]
	}
	return l
}

// collide adds probes for the lists around a value that reject equal items or keys. The probes are
// two items that differ only in the reshaped value. Duplicates that a change of the list type or the
// keys finds belong to that change.
func (w *walker) collide(d *difference) {
	const most = 40
	for i := range d.Path {
		if d.Path[i] != schemapath.Items {
			continue
		}
		var l []any
		for _, side := range bothSides {
			list, other := d.Path[:i].Schema(w.pair.root(side)), d.Path[:i].Schema(w.pair.root(1-side))
			if list == nil || list.Items == nil || list.Items.Schema == nil || list.XListType == nil || *list.XListType == "atomic" || !schemadiff.SameDuplicates(list, other) {
				continue
			}
			var variants []any
			if s, t := d.Path.Schema(w.pair.root(oldSide)), d.Path.Schema(w.pair.root(newSide)); s != nil && t != nil {
				variants = slices.Concat([]any{nil, keywordsOf(*s).value("default"), keywordsOf(*t).value("default")}, w.values(s), w.values(t))
			}
			for _, item := range w.values(list.Items.Schema) {
				items := []any{edited(item, d.Path[i+1:], func(o map[string]any, name string) { delete(o, name) })}
				for _, v := range variants {
					if len(d.Path) == i+1 {
						items = append(items, v)
						continue
					}
					items = append(items, edited(item, d.Path[i+1:], func(o map[string]any, name string) { o[name] = v }))
				}
				for a := range items {
					for b := range items[:a+1] {
						l = append(l, []any{items[a], items[b]})
					}
				}
			}
		}
		if len(l) > 0 {
			both := clause(d.Path[:i], nil, l[:min(len(l), most)]...)
			d.probes = append(d.probes, schemadiff.Shift{Old: both, New: both})
		}
	}
}

// edited returns a copy of an item in which the last object on a path of properties is edited.
func edited(item any, path schemapath.Path, edit func(o map[string]any, name string)) any {
	item = runtime.DeepCopyJSONValue(item)
	o, ok := item.(map[string]any)
	for i, step := range path {
		name, isProperty := step.Property()
		if !ok || !isProperty {
			break
		}
		if i == len(path)-1 {
			edit(o, name)
			break
		}
		o, ok = o[name].(map[string]any)
	}
	return item
}
