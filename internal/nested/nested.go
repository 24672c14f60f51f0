// Package nested reads and changes values at paths of properties in unstructured JSON.
package nested

import "maps"

// Get returns the value at a path, and whether the path exists; the value may be null.
func Get(object map[string]any, path []string) (v any, ok bool) {
	v, ok = object, true
	for _, name := range path {
		inner, _ := v.(map[string]any)
		v, ok = inner[name]
	}
	return v, ok
}

// Put sets the value at a path. It copies the inner objects, or creates them.
func Put(object map[string]any, path []string, v any) {
	for ; len(path) > 1; path = path[1:] {
		inner, _ := object[path[0]].(map[string]any)
		if inner = maps.Clone(inner); inner == nil {
			inner = map[string]any{}
		}
		object[path[0]] = inner
		object = inner
	}
	object[path[0]] = v
}

// Drop removes the value at a path. It copies the inner objects.
func Drop(object map[string]any, path []string) {
	for ; len(path) > 1; path = path[1:] {
		inner, ok := object[path[0]].(map[string]any)
		if !ok {
			return
		}
		inner = maps.Clone(inner)
		object[path[0]] = inner
		object = inner
	}
	delete(object, path[0])
}
