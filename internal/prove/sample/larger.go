package sample

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Larger returns values with long lists, maps and strings, ever longer up to the bounds of the
// schema and of the search. The keywords of the schema accept them. Rules take the most time for them.
func (g *Source) Larger(n *Schema) []any {
	accepts, err := Judge(g.ctx, n.Props)
	if err != nil {
		return nil
	}
	var l []any
	for size := 16; size <= maxSize; size *= 4 {
		for _, distinct := range []bool{false, true} {
			v, grows := g.grown(n, size, distinct, 0)
			if grows && small(v) && formula.Size(v) <= formula.Largest && accepts(v) {
				l = append(l, v)
			}
		}
	}
	return l
}

// charactersPerItem is the length of strings for each item of lists of the same size.
const charactersPerItem = 16

// grown returns a value whose lists, maps and strings have the given size, within the bounds of the
// schema. Items are distinct or, if possible, the same. grows is false if there are none.
func (g *Source) grown(n *Schema, size int, distinct bool, depth int) (v any, grows bool) {
	v, err := g.First(n)
	if err != nil || depth > maxDepth {
		return nil, false
	}
	v = runtime.DeepCopyJSONValue(v)
	switch s := n.Props; {
	case s.Type == "string" && len(s.Enum) == 0 && s.Pattern == "" && s.Format == "":
		return strings.Repeat("a", atMost(s.MaxLength, charactersPerItem*size)), true
	case s.Type == "array":
		items := n.Child(schemapath.Items)
		if items == nil {
			return v, false
		}
		item, _ := g.grown(items, min(size, 64), distinct, depth+1)
		if item == nil {
			return v, false
		}
		list := make([]any, atMost(s.MaxItems, size))
		for i := range list {
			list[i] = item
			if distinct || IsSet(s) || len(s.XListMapKeys) > 0 {
				list[i] = numbered(item, i, s.XListMapKeys)
			}
		}
		return list, true
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		value, _ := g.grown(n.Child(schemapath.Values), min(size, 64), distinct, depth+1)
		if value == nil {
			return v, false
		}
		m := map[string]any{}
		for i := range atMost(s.MaxProperties, size) {
			m[fmt.Sprint("key", i)] = value
		}
		return m, true
	}
	object, ok := v.(map[string]any)
	if !ok {
		return v, false
	}
	for _, name := range slices.Sorted(maps.Keys(n.Props.Properties)) {
		if p := n.Property(name); p != nil && !n.Root {
			if value, more := g.grown(p, size, distinct, depth+1); more {
				object[name], grows = value, true
			}
		}
	}
	return object, grows
}

// IsSet reports whether the items of a list must be distinct.
func IsSet(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XListType != nil && *s.XListType == "set" || s.UniqueItems
}

func atMost(bound *int64, size int) int {
	if bound != nil {
		size = min(size, int(*bound))
	}
	return size
}

// numbered returns a copy of an item that differs from the copies with other numbers: in its keys
// or, without keys, in all its strings and integers.
func numbered(v any, i int, keys []string) any {
	switch v := v.(type) {
	case string:
		return fmt.Sprint(v, i)
	case int64:
		return 1000 + int64(i)
	case map[string]any:
		out := maps.Clone(v)
		for name, value := range v {
			if len(keys) == 0 || slices.Contains(keys, name) {
				out[name] = numbered(value, i, nil)
			}
		}
		return out
	}
	return v
}
