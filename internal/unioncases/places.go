package unioncases

import "strings"

// Place is where union objects stand in the spec of an object.
type Place struct {
	Name string
	// Schema is that of the spec, in YAML, for one of the union object.
	Schema func(union string) string
	// Spec has a union object, and, where there may be several, another one.
	Spec func(o, neighbour map[string]any) any
}

// Places are properties, and lists and maps of all kinds.
func Places() []Place {
	return []Place{
		{"property", func(s string) string { return "type: object\nproperties:\n  u:\n    " + indented(s, "    ") },
			func(o, _ map[string]any) any { return map[string]any{"u": o} }},
		{"spec", func(s string) string { return s }, func(o, _ map[string]any) any { return o }},
		{"keyed list", func(s string) string {
			return "type: object\nproperties:\n  l:\n    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:\n      required: [name]\n      " +
				indented(strings.Replace(s, "properties:\n", "properties:\n  name: {type: string}\n", 1), "      ")
		}, func(o, n map[string]any) any {
			return map[string]any{"l": []any{With(n, "name", "other"), With(o, "name", "this")}}
		}},
		{"list", func(s string) string { return "type: array\nitems:\n  " + indented(s, "  ") }, func(o, n map[string]any) any { return []any{o, n} }},
		{"list of lists", func(s string) string {
			return "type: array\nitems:\n  type: array\n  items:\n    " + indented(s, "    ")
		}, func(o, n map[string]any) any { return []any{[]any{n}, []any{n, o}} }},
		{"map", func(s string) string { return "type: object\nadditionalProperties:\n  " + indented(s, "  ") },
			func(o, n map[string]any) any { return map[string]any{"a/b": o, "c": n} }},
		{"list in a map", func(s string) string {
			return "type: object\nadditionalProperties:\n  type: object\n  properties:\n    in:\n      type: array\n      items:\n        type: object\n        properties:\n          u:\n            " + indented(s, "            ")
		}, func(o, n map[string]any) any {
			return map[string]any{"k": map[string]any{"in": []any{map[string]any{"u": n}, map[string]any{"u": o}}}}
		}},
	}
}

func indented(s, by string) string {
	return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by)
}
