package product

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// former is the old value that a value is compared with.
type former struct {
	Value any
	// Moved is a list whose old items cannot be told apart, so that Value is unknown; nil if
	// Value is known.
	Moved yamltext.ObjectPath
}

// Child returns the old value of a key.
func (o former) Child(key string) former {
	object, _ := o.Value.(map[string]any)
	return former{object[key], o.Moved}
}

// unionWalk visits the union objects in an object.
type unionWalk struct {
	union.Instances
	// Items returns the old values of the items of a list, or nil to skip the items. keys are the
	// keys of the list; rest leads from an item to the union objects.
	Items func(items []any, old former, keys []string, rest schemapath.Path, at yamltext.ObjectPath) []former
	// Union is called for each union object.
	Union func(at yamltext.ObjectPath, object map[string]any, old former)
	// Directives is true if map keys that begin with $ are directives, not entries.
	Directives bool
}

// Visit walks an object alongside the old object.
func (w unionWalk) Visit(object, old map[string]any) {
	w.walk(w.Path, w.Keys, nil, object, former{Value: old})
}

// unionWalk follows the rest of a path; keys are the keys of its lists.
func (w unionWalk) walk(path schemapath.Path, keys [][]string, at yamltext.ObjectPath, v any, old former) {
	if len(path) == 0 {
		if object, ok := v.(map[string]any); ok {
			w.Union(at, object, old)
		}
		return
	}
	name, isProperty := path[0].Property()
	rest := path[1:]
	switch v := v.(type) {
	case map[string]any:
		if isProperty {
			w.walk(rest, keys, at.Child(name), v[name], old.Child(name))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !w.Directives || !strings.HasPrefix(key, "$") {
				w.walk(rest, keys, at.Child(key), v[key], old.Child(key))
			}
		}
	case []any:
		if isProperty {
			return
		}
		var own []string
		if len(keys) > 0 {
			own, keys = keys[0], keys[1:]
		}
		for i, before := range w.Items(v, old, own, rest, at) {
			w.walk(rest, keys, at.Child(i), v[i], before)
		}
	}
}

// byKeys correlates the items of a list with the old items by their keys.
func byKeys(items []any, old former, keys []string) []former {
	l := make([]former, len(items))
	before, _ := old.Value.([]any)
	for i, item := range items {
		// An item is mostly at its old index; looking there first keeps long lists cheap.
		at := i
		if i >= len(before) || !sameItem(keys, item, before[i]) {
			at = slices.IndexFunc(before, func(o any) bool { return sameItem(keys, item, o) })
		}
		if at >= 0 {
			l[i].Value = before[at]
		}
	}
	return l
}

// sameItem reports whether two items of a list have the same keys.
func sameItem(keys []string, a, b any) bool {
	x, ok := a.(map[string]any)
	y, also := b.(map[string]any)
	return ok && also && !slices.ContainsFunc(keys, func(key string) bool { return !reflect.DeepEqual(x[key], y[key]) })
}
