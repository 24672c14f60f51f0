package sample

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Larger returns values with long lists, maps and strings, ever longer up to the bounds of the
// schema and of the search. The keywords of the schema accept them. Rules take the most time for them.
func (g *Source) Larger(n *Schema) []any {
	return g.larger(n, growth{strings: true}, growth{strings: true, distinct: true})
}

// Overrun returns a resource that root accepts at every level and the error of the API server if the
// rules of a schema, which may be another one, together cost more for it than the API server spends on a
// request, though each of them accepts it. It returns nil if it finds none.
func (g *Source) Overrun(root *Schema, of *apiextensionsv1.JSONSchemaProps) (object map[string]any, message string) {
	s, err := server.Structural(of)
	if err != nil {
		return nil, ""
	}
	rules := schemacel.NewValidator(s, true, celconfig.PerCallLimit)
	for _, v := range g.larger(root, growth{legal: true, rules: rules}, growth{legal: true, rules: rules, strings: true, distinct: true}) {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, ""
		}
		g.Identify(object)
		if l, used := g.evaluate(rules, object, celconfig.RuntimeCELCostBudget); used > celconfig.RuntimeCELCostBudget && len(l) == 1 {
			return object, l[0].Detail
		}
	}
	return nil, ""
}

// evaluate returns the errors of the rules about a value, and the cost of their evaluation,
// which stops above a budget.
func (g *Source) evaluate(rules *schemacel.Validator, v any, budget int64) (field.ErrorList, int64) {
	l, left := rules.Validate(g.ctx, nil, nil, v, nil, budget)
	used := budget - left
	logic.Spend(g.ctx, int(used))
	return l, used
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
			if size > 0 && !known && small(v) && formula.Size(v) <= server.LargestObject && accepts(v) {
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
	rules                    *schemacel.Validator // of the value, if legal is set
}

// below returns the growth of a part of the value.
func (by growth) below(step schemapath.Step) growth {
	if r := by.rules; r != nil {
		name, _ := step.Property()
		switch property, ok := r.Properties[name]; {
		case ok:
			by.rules = &property
		case step == schemapath.Items:
			by.rules = r.Items
		default:
			by.rules = r.AdditionalProperties
		}
	}
	return by
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
	v, size = g.extended(n, least, by, depth)
	if size == 0 || !g.suits(n, v, by) {
		return least, 0
	}
	return v, size
}

// suits reports whether the checks of a schema accept a grown value.
func (g *Source) suits(n *Schema, v any, by growth) bool {
	return !by.legal || len(n.Rules()) == 0 && len(n.Constraints()) == 0 || g.Admits(n, v)
}

// extended returns a value with the parts of v that are larger, and does not change v.
func (g *Source) extended(n *Schema, v any, by growth, depth int) (any, int) {
	switch s := n.Props; {
	case s.Type == "string" && by.strings && len(s.Enum) == 0 && s.Pattern == "" && s.Format == "":
		length := atMost(s.MaxLength, charactersPerItem*by.length)
		return strings.Repeat("a", length), length
	case s.Type == "array":
		item, length, each := g.several(n.Child(schemapath.Items), s.MaxItems, by.below(schemapath.Items), depth, 1)
		list := make([]any, length)
		for i := range list {
			list[i] = item
			if by.distinct || IsSet(s) || len(s.XListMapKeys) > 0 {
				list[i] = numbered(item, i+1, s.XListMapKeys)
			}
		}
		return list, length * each
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		key := "key"
		if by.strings {
			key = strings.Repeat(key, 18) // most names have at most 63 characters
		}
		value, length, each := g.several(n.Child(schemapath.Values), s.MaxProperties, by.below(schemapath.Values), depth, len(key)+8)
		m := map[string]any{}
		for i := range length {
			m[fmt.Sprint(key, i)] = value
		}
		return m, length * each
	}
	object, ok := v.(map[string]any)
	if !ok {
		return v, 0
	}
	grown, sizes := map[string]any{}, map[string]int{}
	size := formula.Size(object)
	for _, name := range slices.Sorted(maps.Keys(n.Props.Properties)) {
		p := n.Property(name)
		if p == nil || n.Root && (!by.legal || name == "metadata" || name == "apiVersion" || name == "kind") {
			continue
		}
		if value, added := g.grown(p, by.below(schemapath.Property(name)), depth+1); added > 0 {
			grown[name], sizes[name] = value, added
			size += added
		}
	}
	if len(grown) == 0 {
		return v, 0
	}
	whole := maps.Clone(object)
	maps.Copy(whole, grown)
	if size <= server.LargestObject && g.suits(n, whole, by) {
		return whole, size
	}
	whole, size = maps.Clone(object), formula.Size(object) // add the costliest that fit and do not exclude each other
	costs := map[string]int64{}
	for name, value := range grown {
		_, costs[name] = g.evaluate(by.below(schemapath.Property(name)).rules, value, celconfig.PerCallLimit)
	}
	for _, name := range slices.SortedFunc(maps.Keys(grown), func(a, b string) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), cmp.Compare(a, b))
	}) {
		more := maps.Clone(whole)
		more[name] = grown[name]
		if size+sizes[name] <= server.LargestObject && g.suits(n, more, by) {
			whole = more
			size += sizes[name]
		}
	}
	return whole, size
}

// several returns an item or the value of a map, the number of those that fit into an object, and
// the size of each with the characters between.
func (g *Source) several(n *Schema, most *int64, by growth, depth, between int) (item any, length, each int) {
	if n == nil {
		return nil, 0, 0
	}
	length = atMost(most, by.length)
	by.length = min(by.length, 64) // lists of long lists exceed the size of an object
	item, each = g.grown(n, by, depth+1)
	if item == nil {
		return nil, 0, 0
	}
	each = max(each, formula.Size(item)) + between
	return item, min(length, server.LargestObject/each), each
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

// numbered returns a copy of an item that differs from the copies with other numbers, which are positive:
// in one of its keys or, without keys, in all its strings and integers.
func numbered(v any, i int, keys []string) any {
	switch v := v.(type) {
	case string:
		return fmt.Sprint(v, i)
	case int64:
		return v + int64(i)
	case map[string]any:
		out := maps.Clone(v)
		if len(keys) == 0 {
			for name, value := range v {
				out[name] = numbered(value, i, nil)
			}
		}
		for _, key := range keys {
			switch value := v[key].(type) {
			case string, int64:
				out[key] = numbered(value, i, nil)
				return out
			}
		}
		return out
	}
	return v
}
