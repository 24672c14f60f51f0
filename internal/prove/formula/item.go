package formula

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// itemPrefix begins the names of items with keys. The keys follow as a JSON object.
const itemPrefix = Item + " "

// ItemOf returns the name of the list item with the given keys (strings, int64s and bools) in
// paths.
func ItemOf(keys map[string]any) string {
	data, _ := json.Marshal(keys) // scalars do not fail
	return itemPrefix + string(data)
}

// KeysOf returns the keys in the name of an item, or nil for other names.
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

// ItemWith returns the item of a list that has the keys in a name, or nil.
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

// otherKey is the value of a key in unnamed items. It differs from all constants of the rule. It may
// equal any other value.
type otherKey struct{}

// unknownItems are items with an otherKey for some keys. Only their keys are known.
type unknownItems struct{ keys map[string]any }

// isOther reports whether a value may be an unknown item or its key.
func isOther(v value) bool {
	return slices.ContainsFunc(v.cases, func(c choice) bool {
		switch c.is.(type) {
		case otherKey, unknownItems:
			return true
		}
		return false
	})
}

// differs reports whether x is an otherKey (said), and whether it certainly differs from y (known).
func (r *ruleReader) differs(x, y any) (said, known bool) {
	switch x.(type) {
	case unknownItems:
		return true, false
	case otherKey:
		if n, ok := y.(number); ok && !n.more {
			y = n.n
		}
		switch y.(type) {
		case string, int64, bool:
			return true, slices.Contains(r.constants, y)
		}
		return true, false
	}
	return false, false
}

// maxItems bounds the number of list items that a comprehension distinguishes.
const maxItems = 300

// items returns the items of a list that a rule or facts distinguish by key, and the other items,
// which may occur any number of times. ok is false for lists without facts about an item.
func (r *ruleReader) items(p *Place) (known list, others []unknownItems, ok bool) {
	if p = p.asSent(); p.view != nil || p.Schema == nil || len(p.Schema.XListMapKeys) == 0 {
		return nil, nil, false
	}
	named, ok := r.named(p)
	if !ok {
		return nil, nil, false
	}
	combinations := []map[string]any{{}}
	for _, k := range p.Schema.XListMapKeys {
		var more []map[string]any
		choices := slices.Clip(named[k])
		if all, finite := p.keyValues(k); !finite || slices.ContainsFunc(all, func(v any) bool { return !slices.Contains(named[k], v) }) {
			choices = append(choices, otherKey{})
		}
		for _, c := range combinations {
			for _, v := range choices {
				with := maps.Clone(c)
				with[k] = v
				more = append(more, with)
			}
		}
		if combinations = more; len(combinations) > maxItems {
			return nil, nil, false
		}
	}
	for _, keys := range combinations {
		if slices.Contains(slices.Collect(maps.Values(keys)), any(otherKey{})) {
			others = append(others, unknownItems{keys})
		} else {
			known = append(known, r.itemOf(p, keys))
		}
	}
	return known, others, true
}

// named returns the values of list keys that occur in the rule or in items with facts. ok is false
// if no item has facts, or if a value is the key of a representative of unnamed items.
func (r *ruleReader) named(p *Place) (values map[string][]any, ok bool) {
	values = map[string][]any{}
	note := func(k string, v any) {
		if !slices.Contains(values[k], v) {
			values[k] = append(values[k], v)
		}
	}
	var items []string // with facts
	for _, list := range []*Place{p, p.Counterpart()} {
		items = append(items, slices.DeleteFunc(sortedKeys(list.children), func(name string) bool { return KeysOf(name) == nil })...)
	}
	ok = len(items) > 0
	for _, k := range p.Schema.XListMapKeys {
		constants := r.constants
		if p.keySchema(k).Type == "boolean" { // a boolean key is a condition without a constant
			constants = append(slices.Clip(constants), false, true)
		}
		for _, v := range constants {
			if r.unnamed[ItemOf(map[string]any{k: v})] {
				return nil, false
			}
			if ok && fits(p.keySchema(k), v) {
				note(k, v)
			}
		}
	}
	for _, name := range items {
		for k, v := range KeysOf(name) {
			if !r.unnamed[name] {
				note(k, v)
			}
		}
	}
	return values, ok
}

func (r *ruleReader) itemOf(p *Place, keys map[string]any) *element {
	item := p.Child(ItemOf(keys))
	return &element{item.Present(), one(item)}
}

// counted returns the unnamed items of a list with one key. These are all possible items, or as
// many representatives as a comprehension with the initial result first can distinguish. All rules
// share the representatives. ok is false if another rule has named different items.
func (r *ruleReader) counted(p *Place, s unknownItems, first value) (l list, ok bool) {
	p = p.asSent()
	n := int(r.most) + 1
	if _, isBool := first.cases[0].is.(bool); isBool && n > maxItems {
		n = 1 // a single item decides the result
	}
	if len(s.keys) > 1 || n > maxItems { // several keys have too many combinations
		return nil, false
	}
	k := p.Schema.XListMapKeys[0]
	all, ok := r.named(p)
	named := all[k]
	values, finite := p.keyValues(k)
	for i := 1; !finite && i <= len(named)+n; i++ {
		if p.keySchema(k).Type == "integer" {
			values = append(values, int64(i))
		} else {
			values = append(values, fmt.Sprint("other", i))
		}
	}
	for _, v := range values {
		keys := map[string]any{k: v}
		switch {
		case slices.Contains(named, v):
		case finite:
			l = append(l, r.itemOf(p, keys))
		case len(l) < n:
			r.unnamed[ItemOf(keys)] = true
			l = append(l, &element{p.Child(ItemOf(keys)).Present(), one(s)})
		}
	}
	return l, ok && (finite || r.once(p, named))
}

// once reports whether the list has the same named items as in the first call.
func (r *ruleReader) once(p *Place, named []any) bool {
	list, l := strings.Join(p.Path(), "\x00"), []string{}
	for _, v := range named {
		l = append(l, fmt.Sprintf("%#v", v))
	}
	slices.Sort(l)
	if first, ok := r.counts[list]; ok {
		return slices.Equal(first, l)
	}
	r.counts[list] = l
	return true
}

// NameItems lets rules tell the items of a list at p apart by their keys, which have the constants
// as values. Callers name the constants of all rules before they translate one. A view with another
// schema of the list has no such items.
func (p *Place) NameItems(constants []any) {
	if p.Schema == nil || p.Schema.Items == nil || p.Schema.Items.Schema == nil || len(p.Schema.XListMapKeys) == 0 {
		return
	}
	named, most := map[string][]any{}, 0
	for _, k := range p.Schema.XListMapKeys {
		s := p.keySchema(k)
		if s.Default != nil {
			return // the sent item may lack the key
		}
		for _, v := range append([]any{false, true}, constants...) {
			if fits(s, v) && !slices.Contains(named[k], v) {
				named[k] = append(named[k], v)
			}
		}
		if len(named[k]) == 0 {
			return
		}
		most = max(most, len(named[k]))
	}
	if most > maxNamed {
		return
	}
	for i := range most {
		keys := map[string]any{}
		for k, l := range named {
			keys[k] = l[i%len(l)]
		}
		p.Child(ItemOf(keys)).Present()
	}
}

// maxNamed bounds the named items of a list, because each rule reads all of them.
const maxNamed = 64

// Unnamed reports whether the place is or is in a representative of unnamed items.
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

// keyValues returns all values of a key, if its schema lists them.
func (p *Place) keyValues(key string) (values []any, finite bool) {
	s := p.keySchema(key)
	if s.Type == "boolean" {
		return []any{false, true}, true
	}
	return (&Place{Schema: s}).Enum()
}

// fits reports whether a constant has the type of a schema.
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

// effect reports whether one step of a comprehension over an item changes the initial result. ok is
// false if the changed result depends on other values.
func effect(first, next value) (changed, ok bool) {
	if first.fails != logic.False || next.fails != logic.False || len(first.cases) != 1 || len(next.cases) != 1 || next.cases[0].when != logic.True {
		return false, false
	}
	switch was := first.cases[0].is.(type) {
	case bool, number:
		return was != next.cases[0].is, plain(next)
	case list:
		is, ok := next.cases[0].is.(list)
		return len(is) > 0, ok && len(was) == 0 && !slices.ContainsFunc(is, func(e *element) bool { return e.when != logic.True || !plain(e.is) })
	}
	return false, false
}

// plain reports whether a value is a single scalar or an otherKey.
func plain(v value) bool {
	if v.fails != logic.False || len(v.cases) != 1 {
		return false
	}
	switch v.cases[0].is.(type) {
	case string, bool, number, otherKey, unknownItems:
		return true
	}
	return false
}

// itemKey returns the value of an item's key, or nil if name is not a key.
func (p *Place) itemKey(name string) any { return KeysOf(p.Name)[name] }
