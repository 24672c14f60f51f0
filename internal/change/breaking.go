package change

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/regular"
	"github.com/unioncel/unioncel/internal/prove/sample"
)

// Bounds of the values that are generated to violate a rule.
const (
	mostMadeUp = 24  // values of one schema
	mostSized  = 300 // items or entries in one value
	mostDeep   = 4   // nested schemas
)

// breaking returns values that satisfy the schema without its rules, violate the rule refuses and
// satisfy the rule accepts, which may be nil. The search for examples alone does not find such
// values: for example, a list of strings that do not match a pattern in the rule. If refuses is a
// transition rule, breaking ignores both rules.
func (w *walker) breaking(s *jsonSchema, accepts, refuses *apiextensionsv1.ValidationRule) []any {
	m := &madeUp{walker: w}
	for _, r := range []*apiextensionsv1.ValidationRule{accepts, refuses} {
		m.learn(r)
	}
	bare := *s
	bare.XValidations = nil
	judge, err := sample.Judge(w.ctx, &bare)
	if err != nil {
		return nil
	}
	holds, err := sample.JudgeRule(s, accepts)
	if err != nil {
		return nil
	}
	fails, err := sample.JudgeRule(s, refuses)
	if err != nil {
		return nil
	}
	changing := formula.ReadsOld(*refuses)
	var l []any
	for _, v := range m.madeValues(s, 0) {
		if len(l) < enough && judge(v) && (changing || holds(w.ctx, v) && !fails(w.ctx, v)) {
			l = append(l, v)
		}
	}
	return l
}

// madeUp generates values from the literals and patterns of rules.
type madeUp struct {
	*walker
	texts    []any
	numbers  []any
	patterns []string
}

// learn collects the literals and patterns of a rule, and strings that distinguish the patterns.
func (m *madeUp) learn(r *apiextensionsv1.ValidationRule) {
	if r == nil {
		return
	}
	read, err := formula.Parse(r.Rule)
	if err != nil {
		return
	}
	for _, literal := range read.Literals {
		n, ok := literal.(int64)
		if !ok {
			m.texts = append(m.texts, literal)
			continue
		}
		for _, n := range []int64{n + 1, n, n - 1} {
			m.numbers = append(m.numbers, n)
			if n >= 0 && n < math.MaxInt16 {
				m.texts = append(m.texts, strings.Repeat("a", int(n)))
			}
		}
	}
	for _, p := range read.Patterns {
		for _, q := range append([]string{""}, m.patterns...) {
			for _, pair := range [][2]string{{q, p}, {p, q}} {
				if text, found, err := regular.Difference(m.ctx, regular.Language{Pattern: pair[0]}, regular.Language{Pattern: pair[1]}); err == nil && found {
					m.texts = append(m.texts, text)
				}
			}
		}
		m.patterns = append(m.patterns, p)
	}
}

// madeValues returns values of a schema.
func (m *madeUp) madeValues(s *jsonSchema, depth int) []any {
	var l []any
	switch {
	case depth > mostDeep:
	case len(s.Enum) > 0:
		l = constants(s.Enum)
	case s.Type == "string":
		for _, v := range slices.Concat(m.texts, samples) {
			if _, ok := v.(string); ok {
				l = append(l, v)
			}
		}
		l = m.valuesBetween(s, &jsonSchema{Not: &jsonSchema{}}, l)
	case s.Type == "integer" || s.Type == "number":
		l = m.valuesBetween(s, &jsonSchema{Not: &jsonSchema{}}, slices.Concat(m.numbers, []any{int64(0), int64(1), int64(-1), int64(7)}))
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil:
		l = m.lists(s, depth)
	case s.Type == "object" && len(s.Properties) == 0 && open(s):
		values := &jsonSchema{Type: "string"}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			values = s.AdditionalProperties.Schema
		}
		for i, v := range m.madeValues(values, depth+1) {
			l = append(l, map[string]any{"key": v})
			for _, key := range m.texts {
				if key, ok := key.(string); ok && i == 0 {
					l = append(l, map[string]any{key: v})
				}
			}
		}
		l = append(l, m.sized(m.values(values), func(items []any) any {
			entries := map[string]any{}
			for i, v := range items {
				entries[fmt.Sprint("key", i)] = v
			}
			return entries
		})...)
	case s.Type == "object" && len(s.Properties) > 0:
		l = m.objects(s, depth)
	default:
		l = m.values(s)
	}
	return l[:min(len(l), mostMadeUp)]
}

func (m *madeUp) objects(s *jsonSchema, depth int) []any {
	l := m.values(s)
	base := map[string]any{}
	if len(l) > 0 {
		base, _ = l[0].(map[string]any)
	}
	rounds := make([][]any, mostMadeUp) // the first value of each property comes before the second value of any property
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		for i, v := range m.madeValues(&p, depth+1) {
			o := maps.Clone(base)
			if o == nil {
				o = map[string]any{}
			}
			o[name] = v
			rounds[i] = append(rounds[i], o)
		}
	}
	return append(slices.Concat(rounds...), l...)
}

// lists returns lists of one item, of two items that differ only in their keys, of two different
// items, and of as many items as each number in the rules.
func (m *madeUp) lists(s *jsonSchema, depth int) []any {
	l := []any{[]any{}}
	items := m.madeValues(s.Items.Schema, depth+1)
	for _, v := range items {
		l = append(l, []any{v})
	}
	for i, v := range items {
		l = append(l, []any{v, m.other(s, v, i)})
	}
	for _, v := range items[:min(1, len(items))] {
		for _, u := range items[1:] {
			l = append(l, []any{v, u})
		}
	}
	if len(l) > mostMadeUp {
		l = slices.Concat(l[:mostMadeUp/2], l[1+len(items):][:min(mostMadeUp/4, len(l)-1-len(items))])
	}
	return append(m.sized(items, func(items []any) any {
		var list []any
		for i, v := range items {
			if i > 0 {
				v = m.other(s, v, i)
			}
			list = append(list, v)
		}
		return list
	}), l...)
}

// other returns a copy of an item with other keys, if the list has keys.
func (m *madeUp) other(list *jsonSchema, item any, i int) any {
	item = runtime.DeepCopyJSONValue(item)
	o, _ := item.(map[string]any)
	for _, key := range list.XListMapKeys {
		switch v := o[key].(type) {
		case string:
			o[key] = fmt.Sprint(v, i)
		case int64:
			o[key] = v + int64(i)
		}
	}
	return item
}

// sized returns a value with n items for each number n in the rules.
func (m *madeUp) sized(items []any, of func([]any) any) []any {
	var l []any
	for _, n := range m.numbers {
		if n := n.(int64); n > 2 && n <= mostSized && len(items) > 0 {
			l = append(l, of(slices.Repeat(items, int(n)/len(items)+1)[:n]))
		}
	}
	return l
}
