package unioncases

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Place is the path of union objects in the spec of an object.
type Place struct {
	Name string
	// Schema returns the schema of spec, in YAML, for the schema of the union object.
	Schema func(union string) string
	// Spec returns a spec with a union object and, in lists and maps, a neighbour.
	Spec func(o, neighbour map[string]any) any
}

// odd is a property name that must be escaped in JSON pointers and in CEL strings.
const odd = `~1/'\"`

// Places returns properties, and lists and maps of every kind. Names on the path to the union
// object require escaping in CEL and in JSON pointers.
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
			return map[string]any{"in": []any{Put(n, "it's", "other"), Put(o, "it's", "this")}}
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

// Ancestors returns copies of a value with union objects that many steps below it. In each copy, one of
// these objects, or a value on the way to them, is removed, null or empty. Items of lists are not null.
func Ancestors(v any, steps int) (l []any) {
	empty := func(v any) any {
		if _, ok := v.([]any); ok {
			return []any{}
		}
		return map[string]any{}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if steps == 0 {
				break
			}
			removed := maps.Clone(v)
			delete(removed, key)
			l = append(l, removed, Put(v, key, nil), Put(v, key, empty(v[key])))
			for _, inner := range Ancestors(v[key], steps-1) {
				l = append(l, Put(v, key, inner))
			}
		}
	case []any:
		for i := range v {
			if steps == 0 {
				break
			}
			l = append(l, slices.Delete(slices.Clone(v), i, i+1))
			for _, inner := range append(Ancestors(v[i], steps-1), empty(v[i])) {
				replaced := slices.Clone(v)
				replaced[i] = inner
				l = append(l, replaced)
			}
		}
	}
	return l
}

func indented(s, by string) string {
	return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by)
}
