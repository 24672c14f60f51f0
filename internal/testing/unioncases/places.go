package unioncases

import (
	"strconv"
	"strings"
)

// Place is where union objects stand in the spec of an object.
type Place struct {
	Name string
	// Schema is that of the spec, in YAML, for one of the union object.
	Schema func(union string) string
	// Spec has a union object, and, where there may be several, another one.
	Spec func(o, neighbour map[string]any) any
}

// odd is the name of a property that JSON pointers, and texts in CEL, have to escape.
const odd = `~1/'\"`

// Places are properties, and lists and maps of all kinds. Names on the way to the union
// object are such as CEL and JSON pointers escape.
func Places() []Place {
	return []Place{
		{"property", func(s string) string {
			return "type: object\nproperties:\n  " + strconv.Quote(odd) + ":\n    " + indented(s, "    ")
		}, func(o, _ map[string]any) any { return map[string]any{odd: o} }},
		{"spec", func(s string) string { return s }, func(o, _ map[string]any) any { return o }},
		{"keyed list", func(s string) string {
			return "type: object\nproperties:\n  in:\n    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [it's]\n    items:\n      required: [it's]\n      " +
				indented(strings.Replace(s, "properties:\n", "properties:\n  it's: {type: string}\n", 1), "      ")
		}, func(o, n map[string]any) any {
			return map[string]any{"in": []any{With(n, "it's", "other"), With(o, "it's", "this")}}
		}},
		{"list", func(s string) string { return "type: array\nitems:\n  " + indented(s, "  ") }, func(o, n map[string]any) any { return []any{o, n} }},
		{"list of lists", func(s string) string {
			return "type: array\nitems:\n  type: array\n  nullable: true\n  items:\n    " + indented(s, "    ")
		}, func(o, n map[string]any) any { return []any{nil, []any{n, o}} }},
		{"map", func(s string) string { return "type: object\nadditionalProperties:\n  " + indented(s, "  ") },
			func(o, n map[string]any) any { return map[string]any{"~1/": o, "c": n} }},
		{"list in a map", func(s string) string {
			return "type: object\nadditionalProperties:\n  type: object\n  properties:\n    in-a/b:\n      type: array\n      items:\n        type: object\n        properties:\n          " + strconv.Quote(odd) + ":\n            " + indented(s, "            ")
		}, func(o, n map[string]any) any {
			return map[string]any{"k": map[string]any{"in-a/b": []any{map[string]any{odd: n}, map[string]any{odd: o}}}}
		}},
	}
}

func indented(s, by string) string {
	return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by)
}
