package schemapath

import "maps"

// ValueAt returns the value at a path of properties in an object, and whether the path exists; the value may be null.
func ValueAt(object map[string]any, path []string) (v any, ok bool) {
	v, ok = object, true
	for _, name := range path {
		inner, _ := v.(map[string]any)
		v, ok = inner[name]
	}
	return v, ok
}

// SetValueAt sets the value at a path. It copies the inner objects, or creates them.
func SetValueAt(object map[string]any, path []string, v any) {
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

// DropValueAt removes the value at a path. It copies the inner objects.
func DropValueAt(object map[string]any, path []string) {
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
