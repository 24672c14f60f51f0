package sample

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Larger returns values with long lists, maps and strings, ever longer up to the bounds of the
// schema and of the search. The keywords of the schema accept them. Rules take the most time for them.
func (g *Source) Larger(n *Schema) []any {
	return g.larger(n, growth{strings: true}, growth{strings: true, distinct: true})
}

// Overrun returns a resource whose rules together cost more than the API server spends on a request,
// though each of them accepts it, and the error of the API server. It returns nil if it finds none.
func (g *Source) Overrun(root *Schema) (object map[string]any, message string) {
	s, err := formula.Structural(root.Props)
	if err != nil {
		return nil, ""
	}
	rules := schemacel.NewValidator(s, true, celconfig.PerCallLimit)
	for _, v := range g.larger(root, growth{legal: true}, growth{legal: true, strings: true, distinct: true}) {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, ""
		}
		g.Identify(object)
		l, left := rules.Validate(g.ctx, nil, nil, object, nil, celconfig.RuntimeCELCostBudget)
		limit.Spend(g.ctx, celconfig.RuntimeCELCostBudget-int(max(left, 0)))
		if left < 0 && len(l) == 1 {
			return object, l[0].Detail
		}
	}
	return nil, ""
}

// larger returns values of growing size, each grown in several ways.
func (g *Source) larger(n *Schema, ways ...growth) (l []any) {
	accepts, err := Judge(g.ctx, n.Props)
	if err != nil {
		return nil
	}
	for length := 16; length <= maxSize; length *= 8 {
		for _, by := range ways {
			by.length = length
			v, size := g.grown(n, by, 0)
			known := slices.ContainsFunc(l, func(w any) bool { return reflect.DeepEqual(v, w) }) // bounds stop growth
			if size > 0 && !known && small(v) && formula.Size(v) <= cost.Largest && accepts(v) {
				l = append(l, v)
			}
		}
	}
	return l
}

// growth is how a value grows: its lists, maps and, if set, strings get a length. Items are distinct
// or, if possible, the same. If legal is set, rules accept the value at every level.
type growth struct {
	length                   int
	strings, distinct, legal bool
}

// charactersPerItem is the length of strings for each item of lists of the same size.
const charactersPerItem = 16

// grown returns a larger value within the bounds of the schema, and its size in bytes. The size is 0
// if there is none.
func (g *Source) grown(n *Schema, by growth, depth int) (v any, size int) {
	least, err := g.First(n)
	if err != nil || depth > maxDepth {
		return nil, 0
	}
	v, size = g.extended(n, runtime.DeepCopyJSONValue(least), by, depth)
	if size == 0 || !g.suits(n, v, by) {
		return least, 0
	}
	return v, size
}

// suits reports whether the checks of a schema accept a grown value.
func (g *Source) suits(n *Schema, v any, by growth) bool {
	return !by.legal || len(n.Rules()) == 0 && len(n.Constraints()) == 0 || g.Admits(n, v)
}

func (g *Source) extended(n *Schema, v any, by growth, depth int) (any, int) {
	switch s := n.Props; {
	case s.Type == "string" && by.strings && len(s.Enum) == 0 && s.Pattern == "" && s.Format == "":
		length := atMost(s.MaxLength, charactersPerItem*by.length)
		return strings.Repeat("a", length), length
	case s.Type == "array":
		item, length, each := g.several(n.Child(schemapath.Items), s.MaxItems, by, depth)
		list := make([]any, length)
		for i := range list {
			list[i] = item
			if by.distinct || IsSet(s) || len(s.XListMapKeys) > 0 {
				list[i] = numbered(item, i, s.XListMapKeys)
			}
		}
		return list, length * each
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		value, length, each := g.several(n.Child(schemapath.Values), s.MaxProperties, by, depth)
		m := map[string]any{}
		for i := range length {
			m[fmt.Sprint("key", i)] = value
		}
		return m, length * each
	}
	object, ok := v.(map[string]any)
	if !ok {
		return v, 0
	}
	grown := map[string]any{}
	size := formula.Size(object)
	for _, name := range slices.Sorted(maps.Keys(n.Props.Properties)) {
		p := n.Property(name)
		if p == nil || n.Root && (!by.legal || name == "metadata" || name == "apiVersion" || name == "kind") {
			continue
		}
		if value, added := g.grown(p, by, depth+1); added > 0 && size+added <= cost.Largest {
			grown[name] = value
			size += added
		}
	}
	whole := maps.Clone(object)
	maps.Copy(whole, grown)
	if len(grown) > 1 && !g.suits(n, whole, by) { // some of them exclude others
		whole = object
		for _, name := range slices.Sorted(maps.Keys(grown)) {
			more := maps.Clone(whole)
			more[name] = grown[name]
			if g.suits(n, more, by) {
				whole = more
			}
		}
	}
	if len(grown) == 0 {
		size = 0
	}
	return whole, size
}

// several returns an item or the value of a map, the number of those that fit into an object, and
// the size of each.
func (g *Source) several(n *Schema, most *int64, by growth, depth int) (item any, length, each int) {
	if n == nil {
		return nil, 0, 0
	}
	length = atMost(most, by.length)
	by.length = min(by.length, 64) // lists of long lists exceed the size of an object
	item, each = g.grown(n, by, depth+1)
	if item == nil {
		return nil, 0, 0
	}
	each = max(each, formula.Size(item)) + 1
	return item, min(length, cost.Largest/each), each
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
