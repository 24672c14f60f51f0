package formula

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/logic"
)

// itemPrefix begins the names of items with keys; their values follow, as JSON.
const itemPrefix = Item + " "

// ItemOf is the name, in paths, of the item of a list that has some keys: strings,
// int64s and bools.
func ItemOf(keys map[string]any) string {
	data, _ := json.Marshal(keys) // scalars do not fail
	return itemPrefix + string(data)
}

// KeysOf are the keys of an item by its name; nil for other names.
func KeysOf(name string) map[string]any {
	text, ok := strings.CutPrefix(name, itemPrefix)
	if !ok {
		return nil
	}
	keys := map[string]any{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&keys) != nil {
		return nil
	}
	for k, v := range keys {
		if n, ok := v.(json.Number); ok {
			keys[k], _ = n.Int64()
		}
	}
	return keys
}

// ItemWith is the item of a list that has the keys of a name, or nil.
func ItemWith(list []any, name string) any {
	keys := KeysOf(name)
	for _, v := range list {
		object, ok := v.(map[string]any)
		differs := !ok
		for k, want := range keys {
			differs = differs || object[k] != want
		}
		if !differs {
			return v
		}
	}
	return nil
}

// stray is the value of a key of items that nothing names: it differs from everything that
// it is compared with.
type stray struct{}

// strays are items some of whose keys have such a value. Nothing is known of them but
// their keys.
type strays struct {
	keys    map[string]any
	unnamed map[string][]any // of keys with such a value, some that they may be
}

// maxItems bounds the items of a list that a comprehension tells apart.
const maxItems = 300

// items are those of a list that is told apart by keys, as far as a comprehension over
// them, and what was asked about before, tells them apart; and the others, of which there
// may be any number. It is not ok for lists of which no item was asked about.
func (r *reader) items(p *Place, c ast.ComprehensionExpr) (known list, others []strays, ok bool) {
	if p.view != nil || p.Schema == nil || len(p.Schema.XListMapKeys) == 0 {
		return nil, nil, false
	}
	values := map[string][]any{}
	note := func(k string, v any) {
		if !slices.Contains(values[k], v) {
			values[k] = append(values[k], v)
		}
	}
	for _, list := range []*Place{p, p.Counterpart()} {
		for _, name := range sortedKeys(list.children) {
			for k, v := range KeysOf(name) {
				if ok = true; !r.unnamed[name] {
					note(k, v)
				}
			}
		}
	}
	if !ok {
		return nil, nil, false
	}
	ast.PreOrderVisit(c.LoopStep(), ast.NewExprVisitor(func(e ast.Expr) {
		v := literal(e)
		if n, isNumber := v.(number); isNumber {
			v = n.n
		}
		for _, k := range p.Schema.XListMapKeys {
			if fits(p.keySchema(k), v) {
				note(k, v)
			}
		}
	}))
	combinations := []strays{{keys: map[string]any{}, unnamed: map[string][]any{}}}
	for _, k := range p.Schema.XListMapKeys {
		choices := slices.Clip(values[k])
		unnamed := p.unnamed(k, values[k], int(r.most))
		if len(unnamed) > 0 {
			choices = append(choices, stray{})
		}
		var more []strays
		for _, c := range combinations {
			for _, v := range choices {
				with := strays{maps.Clone(c.keys), maps.Clone(c.unnamed)}
				if with.keys[k] = v; v == any(stray{}) {
					with.unnamed[k] = unnamed
				}
				more = append(more, with)
			}
		}
		if combinations = more; len(combinations) > maxItems {
			return nil, nil, false
		}
	}
	for _, c := range combinations {
		if len(c.unnamed) > 0 {
			others = append(others, c)
		} else {
			known = append(known, r.itemOf(p, c.keys))
		}
	}
	return known, others, true
}

func (r *reader) itemOf(p *Place, keys map[string]any) *element {
	item := p.Child(ItemOf(keys))
	return &element{item.Present(), one(item)}
}

// some are items that stand for all strays of a list with one key: so many that a rule
// cannot tell them from more.
func (r *reader) some(p *Place, s strays) (l list) {
	for k, values := range s.unnamed {
		for _, v := range values {
			keys := map[string]any{k: v}
			r.unnamed[ItemOf(keys)] = true
			l = append(l, r.itemOf(p, keys))
		}
	}
	return l
}

// Unnamed reports whether the place is an item, or in one, that stands for those which
// nothing names.
func (p *Place) Unnamed() bool {
	for ; p != nil; p = p.Parent {
		if p.space.unnamed[p.Name] {
			return true
		}
	}
	return false
}

func (p *Place) keySchema(key string) *apiextensionsv1.JSONSchemaProps {
	s := p.Schema.Items.Schema.Properties[key]
	return &s
}

// unnamed are values of a key that differ from those named, up to a number.
func (p *Place) unnamed(key string, named []any, most int) (l []any) {
	s := p.keySchema(key)
	candidate := func(n int) any { return fmt.Sprint("other", n+1) }
	switch {
	case s.Type == "integer":
		candidate = func(n int) any { return int64(n + 1) }
	case s.Type == "boolean":
		candidate = func(n int) any { return n == 0 }
	}
	enum, enumerated := (&Place{Schema: s}).Enum()
	for n := 0; len(l) < most && n < most+len(named)+len(enum); n++ {
		if enumerated && n >= len(enum) || s.Type == "boolean" && n > 1 {
			break
		}
		v := candidate(n)
		if enumerated {
			v = enum[n]
		}
		if !slices.Contains(named, v) {
			l = append(l, v)
		}
	}
	return l
}

// fits reports whether a constant is of a schema's type.
func fits(s *apiextensionsv1.JSONSchemaProps, v any) bool {
	switch v.(type) {
	case string:
		return s.Type == "string"
	case int64:
		return s.Type == "integer"
	case bool:
		return s.Type == "boolean"
	}
	return false
}

// effect says what a step of a comprehension over an item made of its result as it was at
// first: nothing, or another value that depends on nothing else. It is not ok when it
// does.
func effect(first, next value) (changed, ok bool) {
	if first.fails != logic.False || next.fails != logic.False || len(first.cases) != 1 || len(next.cases) != 1 || next.cases[0].when != logic.True {
		return false, false
	}
	switch was := first.cases[0].is.(type) {
	case bool, number:
		return was != next.cases[0].is, true
	case list:
		is, ok := next.cases[0].is.(list)
		return len(is) > 0, ok && len(was) == 0 && !slices.ContainsFunc(is, func(e *element) bool { return e.when != logic.True })
	}
	return false, false
}

// itemKey is the value that a key of an item always has; nil for what is no key of one.
func (p *Place) itemKey(name string) any { return KeysOf(p.Name)[name] }
