package infer

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// quantified matches rules about the items of a list. Other rules need not be parsed.
var quantified = pattern.Lazy(`\.(?:all|exists|exists_one|existsOne|filter|map)\(`)

// readList finds the unions of the items of a list, which keys tell apart. The rules are on the
// list or on objects around it.
func (f *finder) readList(s *apiextensionsv1.JSONSchemaProps) error {
	if s.Type != "array" || s.XListType == nil || *s.XListType != "map" || len(s.XListMapKeys) == 0 || s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	o := &candidateObject{schema: s, work: &f.work, slots: map[string]int{}, may: map[int]bool{}}
	var l []*condition
	for above := range len(f.path) + 1 {
		path, on := f.path[len(f.path)-above:].Properties(), s
		if above > 0 {
			if _, ok := f.path[len(f.path)-above].Property(); !ok {
				break // other rules are about several lists
			}
			on = f.levels[len(f.path)-above].schema
		}
		for i, r := range on.XValidations {
			if !quantified().MatchString(r.Rule) || strings.Contains(r.Rule, "oldSelf") || above > 0 && !strings.Contains(r.Rule, path[above-1]) {
				continue
			}
			if c := o.condition(verify.Constraint{Key: ruleKey, Index: i, Above: above}, Items, o.itemDemand(r.Rule, on, path)); c != nil {
				l = append(l, c)
			}
		}
	}
	f.object = len(f.found)
	f.found = append(f.found, nil)
	return f.candidates(o.candidates(l), map[string]bool{})
}

// itemDemand returns a rule as a formula about the items of the list at a path from the schema on.
// It is nil if the rule depends on other values, such as the content of an item.
func (o *candidateObject) itemDemand(rule string, on *apiextensionsv1.JSONSchemaProps, path []string) *demand {
	r, err := formula.Parse(rule)
	if err != nil || len(r.Literals) > maxSlots || !slices.ContainsFunc(r.Paths, func(p []string) bool { return slices.Equal(p, path) }) {
		return nil
	}
	s := formula.New(on)
	list := s.New.Lookup(path...)
	// Formulas tell items apart if an item is known, with any keys from the rule.
	keys := map[string]any{}
	for _, key := range o.schema.XListMapKeys {
		if p := o.schema.Items.Schema.Properties[key]; p.Type == "boolean" {
			keys[key] = true
		} else if i := slices.IndexFunc(r.Literals, func(v any) bool { _, text := v.(string); return text == (p.Type == "string") }); i >= 0 {
			keys[key] = r.Literals[i]
		} else {
			return nil
		}
	}
	list.Child(formula.ItemOf(keys)).Present()
	f, err := s.Rule(r, s.New, formula.Plain)
	if err != nil {
		return nil
	}
	return o.newDemand(s, list, f.Holds)
}

// namedItem is named for the list item whose path is its name in package formula.
func (o *candidateObject) namedItem(path []string) (name string, keys []union.ItemKey, ok bool) {
	values := formula.KeysOf(path[0])
	for _, key := range o.schema.XListMapKeys {
		keys = append(keys, union.ItemKey{Name: key, Value: values[key]})
	}
	u := o.resolve(&union.Union{Members: []union.Member{{Item: keys}}})
	if len(path) > 1 || values == nil || u == nil {
		return "", nil, false
	}
	return u.Members[0].Name, keys, true
}

// member returns the member in a slot.
func (o *candidateObject) member(slot int) union.Member {
	return union.Member{Name: o.names[slot], Item: o.items[slot]}
}
