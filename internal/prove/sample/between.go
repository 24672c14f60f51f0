package sample

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/regular"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Bounds of the values that Between tries.
const (
	mostContrasting = 8   // values that are returned
	mostNested      = 16  // values of one nested schema
	mostSized       = 300 // items or entries in one value
	mostDeep        = 4   // nested schemas
)

// Anything is a schema without keywords, Nothing a schema that rejects every value.
var (
	Anything = &apiextensionsv1.JSONSchemaProps{}
	Nothing  = &apiextensionsv1.JSONSchemaProps{Not: Anything}
)

// Between returns a few values that the keywords and rules of one schema accept and those of the other
// reject. It tries values at the bounds of both. If the other schema has a transition rule, whose result
// depends on the old value too, Between returns any values that the first one accepts.
func Between(ctx context.Context, accepts, rejects *apiextensionsv1.JSONSchemaProps) []any {
	c := &contrast{ctx: ctx}
	c.learn(rejects) // first, for values that are just beyond its bounds
	c.learn(accepts)
	if slices.ContainsFunc(rejects.XValidations, formula.ReadsOld) {
		rejects = Nothing
	}
	accepted, err := judge(ctx, accepts)
	if err != nil {
		return nil
	}
	kept, err := judge(ctx, rejects)
	if err != nil {
		return nil
	}
	l := []any{}
	try := func(values []any) {
		for _, v := range values {
			known := func(w any) bool { return reflect.DeepEqual(v, w) }
			if len(l) < mostContrasting && ctx.Err() == nil && accepted(v) && !kept(v) && !slices.ContainsFunc(l, known) {
				l = append(l, v)
			}
		}
	}
	values := c.values(accepts, 0)
	try(values)
	if len(l) < mostContrasting {
		try(similar(values))
	}
	return runtime.DeepCopyJSONValue(l).([]any)
}

// judge returns a function that validates values against the keywords of a schema and its rules, as
// on creation. It ignores rules that do not compile.
func judge(ctx context.Context, s *apiextensionsv1.JSONSchemaProps) (func(v any) bool, error) {
	keywords, err := Judge(ctx, s)
	if err != nil {
		return nil, err
	}
	rules := New(s, "", false).Rules()
	return func(v any) bool {
		return keywords(v) && !slices.ContainsFunc(rules, func(t *Test) bool { said, _ := t.Evaluate(ctx, v, nil); return said != Holds })
	}, nil
}

// contrast generates values at the bounds of schemas and from the literals and patterns of rules.
type contrast struct {
	ctx       context.Context
	texts     []any
	numbers   []any
	nearest   []any   // the numbers next to bounds, which are long
	sizes     []int64 // of lists, maps and strings
	languages []regular.Language
}

// learn collects the constants of a schema, and strings that distinguish its patterns from those before.
func (c *contrast) learn(s *apiextensionsv1.JSONSchemaProps) {
	for _, k := range formula.Flattened(s, nil) {
		c.constants(formula.EnumValues(k)...)
		for _, bound := range []*float64{k.Minimum, k.Maximum} {
			if bound != nil {
				c.around(*bound)
			}
		}
		if k.Format == "int32" {
			c.around(math.MinInt32)
			c.around(math.MaxInt32)
		}
		if k.MultipleOf != nil {
			c.multiples(*k.MultipleOf)
		}
		for _, bound := range []*int64{k.MinItems, k.MaxItems, k.MinProperties, k.MaxProperties} {
			if bound != nil {
				c.sizes = append(c.sizes, *bound-1, *bound, *bound+1)
			}
		}
		if text, ok := formats[strings.ToLower(k.Format)]; ok {
			c.texts = append(c.texts, text)
		}
		c.distinguish(languageOf(k))
	}
	for _, r := range s.XValidations {
		read, err := formula.Parse(r.Rule)
		if err != nil {
			continue
		}
		c.constants(read.Literals...)
		for _, p := range read.Patterns {
			c.distinguish(regular.Language{Pattern: p})
		}
	}
}

func (c *contrast) constants(values ...any) {
	for _, v := range values {
		n, ok := v.(int64)
		if !ok {
			c.texts = append(c.texts, v)
			continue
		}
		for _, n := range []int64{n + 1, n, n - 1} {
			c.numbers, c.sizes = append(c.numbers, n), append(c.sizes, n)
			if n >= 0 && n < math.MaxInt16 {
				c.texts = append(c.texts, strings.Repeat("a", int(n)))
			}
		}
	}
}

// around adds the numbers at and next to a bound, with and without a decimal point: the API server
// truncates the bounds of numbers without one. If two bounds treat all these numbers alike, they accept
// the same numbers.
func (c *contrast) around(bound float64) {
	n := int64(bound)
	c.numbers = append(c.numbers, n-1, n, n+1)
	for _, f := range []float64{math.Floor(bound) - 1, math.Floor(bound), bound, math.Ceil(bound), math.Ceil(bound) + 1} {
		c.numbers = append(c.numbers, f)
	}
	c.nearest = append(c.nearest, math.Nextafter(bound, math.Inf(-1)), math.Nextafter(bound, math.Inf(1)))
}

// multiples adds numbers that are multiples of a number, and others.
func (c *contrast) multiples(of float64) {
	for _, n := range []int64{1, 2, 3, 5, 7, 10, 100} {
		c.numbers = append(c.numbers, n, n*int64(of), int64(float64(n)*of))
	}
	c.numbers = append(c.numbers, of, 2*of, of/2, 0.1, 0.5)
}

// distinguish adds strings that are in only one of two languages.
func (c *contrast) distinguish(language regular.Language) {
	for _, other := range append([]regular.Language{{}}, c.languages...) {
		for _, pair := range [][2]regular.Language{{other, language}, {language, other}} {
			if text, found, err := regular.Difference(c.ctx, pair[0], pair[1]); err == nil && found {
				c.texts = append(c.texts, text)
			}
		}
	}
	c.languages = append(c.languages, language)
}

func languageOf(s *apiextensionsv1.JSONSchemaProps) regular.Language {
	return regular.Language{Pattern: s.Pattern, Min: s.MinLength, Max: s.MaxLength}
}

// values returns candidates for values of a schema.
func (c *contrast) values(s *apiextensionsv1.JSONSchemaProps, depth int) (l []any) {
	switch {
	case depth > mostDeep:
		return nil
	case len(s.Enum) > 0 && !converts(s):
	case s.Type == "string":
		l = slices.Concat(c.texts, slices.Collect(texts(New(s, "", false))), unusual)
	case s.Type == "integer" || s.Type == "number":
		for _, v := range slices.Concat(c.numbers, []any{int64(0), int64(1), int64(-1), int64(7), 1.5, 0.0}, unusual, c.nearest) {
			switch v.(type) {
			case int64:
				l = append(l, v)
			case float64:
				if s.Type == "number" {
					l = append(l, v)
				}
			}
		}
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil:
		l = c.lists(s, depth)
	case s.Type == "object" && len(s.Properties) == 0 && formula.Open(s):
		l = c.maps(s, depth)
	case s.Type == "object" && len(s.Properties) > 0:
		l = c.objects(s, depth)
	case s.Type == "":
		l = slices.Concat(c.texts, c.numbers, Values(c.ctx, s), unusual, []any{0.0, 1.0}, c.nearest)
	default:
		l = Values(c.ctx, s)
	}
	l = append(formula.EnumValues(s), l...)
	if depth > 0 {
		accepts, err := Judge(c.ctx, s)
		l = slices.DeleteFunc(l, func(v any) bool { return err != nil || !accepts(v) })
		l = l[:min(len(l), mostNested)]
	}
	return l
}

// maps returns maps without entries, of one entry, and of as many as each size.
func (c *contrast) maps(s *apiextensionsv1.JSONSchemaProps, depth int) (l []any) {
	of := Anything
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		of = s.AdditionalProperties.Schema
	}
	l = append(l, map[string]any{})
	for i, v := range c.values(of, depth+1) {
		l = append(l, map[string]any{"key": v})
		for _, key := range c.texts {
			if key, ok := key.(string); ok && i == 0 {
				l = append(l, map[string]any{key: v})
			}
		}
	}
	return append(l, c.sized(Values(c.ctx, of), func(items []any) any {
		entries := map[string]any{}
		for i, v := range items {
			entries[fmt.Sprint("key", i)] = v
		}
		return entries
	})...)
}

// objects returns objects that differ in one property. The first value of each property comes before
// the second value of any property.
func (c *contrast) objects(s *apiextensionsv1.JSONSchemaProps, depth int) []any {
	l := Values(c.ctx, s)
	base := map[string]any{}
	if len(l) > 0 {
		maps.Copy(base, l[0].(map[string]any))
	}
	rounds := make([][]any, mostNested)
	add := func(name string, values []any) {
		for i, v := range values {
			o := maps.Clone(base)
			o[name] = v
			rounds[i] = append(rounds[i], o)
		}
	}
	if formula.Open(s) {
		rounds[0] = append(rounds[0], map[string]any{"unnamed": "a"})
		add("unnamed", []any{"a", map[string]any{}})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		add(name, c.values(&p, depth+1))
	}
	return append(slices.Concat(rounds...), l...)
}

// lists returns lists of one item, of two items that differ only in their keys, of two different
// items, and of as many items as each size.
func (c *contrast) lists(s *apiextensionsv1.JSONSchemaProps, depth int) []any {
	items := c.values(s.Items.Schema, depth+1)
	like := func(v any, i int) any {
		if len(s.XListMapKeys) == 0 {
			return v
		}
		return numbered(v, i, s.XListMapKeys)
	}
	l := append([]any{[]any{}}, c.sized(items, func(items []any) any {
		for i := range items {
			items[i] = like(items[i], i)
		}
		return items
	})...)
	for i, v := range items {
		l = append(l, []any{v}, []any{v, like(v, i)}, []any{items[0], v})
	}
	return l
}

// sized returns a value with n items for each size n, the smallest first.
func (c *contrast) sized(items []any, of func([]any) any) []any {
	var l []any
	for _, n := range slices.Compact(slices.Sorted(slices.Values(c.sizes))) {
		if n >= 0 && n <= mostSized && len(items) > 0 {
			l = append(l, of(slices.Repeat(items, int(n)/len(items)+1)[:n]))
		}
	}
	return l
}

// Containing returns values of a schema that contain the given values at a path, alone and with others: objects
// with and without the value, lists of one and two, and maps at the bounds of their size.
func Containing(ctx context.Context, s *apiextensionsv1.JSONSchemaProps, path schemapath.Path, values ...any) (l []any) {
	const most = 40
	if len(path) == 0 {
		return values
	}
	part := path[0].Schema(s)
	if part == nil {
		return nil
	}
	inner, others := Containing(ctx, part, path[1:], values...), Values(ctx, part)
	name, isProperty := path[0].Property()
	switch {
	case isProperty:
		without := map[string]any{}
		if bases := Values(ctx, s); len(bases) > 0 {
			maps.Copy(without, bases[0].(map[string]any))
		}
		delete(without, name)
		l = append(l, without)
		for _, v := range inner {
			with := maps.Clone(without)
			with[name] = v
			l = append(l, with)
		}
	case path[0] == schemapath.Items:
		for _, v := range inner {
			l = append(l, []any{v})
		}
		for i, v := range inner {
			for _, other := range slices.Concat(inner[:i+1], others) {
				l = append(l, []any{other, v})
			}
		}
	default:
		sizes := []int64{1, 2}
		for _, bound := range []*int64{s.MinProperties, s.MaxProperties} {
			if bound != nil && *bound < most {
				sizes = append(sizes, *bound, *bound+1)
			}
		}
		for _, v := range inner {
			for _, size := range sizes {
				entries := map[string]any{"key": v}
				for i := int64(1); i < size && len(others) > 0; i++ {
					entries[fmt.Sprint("key", i)] = others[0]
				}
				l = append(l, entries)
			}
		}
	}
	return l[:min(len(l), most)]
}

// similar returns strings that differ slightly from the strings among some values.
func similar(values []any) (l []any) {
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			continue
		}
		for c := rune('!'); c <= '~'; c++ {
			l = append(l, text+string(c), string(c)+text)
			if len(text) > 0 {
				l = append(l, text[:1]+string(c)+text[1:])
			}
		}
		if len(text) > 1 {
			l = append(l, text[1:], text[:len(text)-1])
		}
	}
	return l
}

// unusual are values that few schemas accept: strings with odd characters, large numbers, and a list,
// which the API server accepts for a string with a format.
var unusual = []any{"abc", "a b", "a_b", "-", "12", "1a", "é", "::1", strings.Repeat("a", 64), "1h", "YQ==", "a-b", true, 1.5, int64(1) << 40, int64(-1), 1e300, []any{}}

// Implies reports whether each value of a schema provably satisfies a schema of one keyword, and of the
// type and format that the meaning of the keyword depends on.
func Implies(ctx context.Context, s, keyword *apiextensionsv1.JSONSchemaProps) bool {
	accepts, err := Judge(ctx, keyword)
	typed := keyword.Type != "" || keyword.XIntOrString
	if err != nil || typed && !wider(s, keyword) {
		return false
	}
	only := *keyword
	only.Type, only.XIntOrString, only.Format = "", false, ""
	isText := s.Type == "string"
	switch {
	case len(s.Enum) > 0 && !converts(s) || len(only.Enum) > 0 && lists(only.Enum, s.Enum):
		only.Nullable = true
		null := s.Nullable && AcceptsNull(*s) && !AcceptsNull(only)
		return !null && !slices.ContainsFunc(formula.EnumValues(s), func(v any) bool { return !accepts(v) })
	case s.Type == "integer" && keyword.Type == "integer" && keyword.Format == "int32" && reflect.DeepEqual(&only, Anything):
		return impliesBound(ctx, s, keyword)
	case s.Type == "integer" && keyword.Type == "integer" && keyword.Format == "int64" && reflect.DeepEqual(&only, Anything):
		return true // the API server accepts no other integers, and no number with a decimal point beyond 2^53
	case reflect.DeepEqual(&only, Anything):
		return !typed || s.Type == keyword.Type && s.XIntOrString == keyword.XIntOrString && s.Format == keyword.Format || keyword.Format == "" && !isText || isText && !isKnown(s.Format) && (keyword.Format == "password" || !isKnown(keyword.Format))
	case only.Pattern == "" && (only.MinLength != nil || only.MaxLength != nil) && isWithin(s.MinLength, s.MaxLength, only.MinLength, only.MaxLength):
		return true
	case only.Pattern != "" || only.MinLength != nil || only.MaxLength != nil:
		_, found, err := regular.Difference(ctx, languageOf(s), languageOf(keyword))
		return isText && s.Format == "" && err == nil && !found
	case only.Minimum != nil || only.Maximum != nil:
		return impliesBound(ctx, s, keyword)
	case only.MinItems != nil || only.MaxItems != nil:
		return isWithin(s.MinItems, s.MaxItems, only.MinItems, only.MaxItems)
	case only.MinProperties != nil || only.MaxProperties != nil:
		return isWithin(s.MinProperties, s.MaxProperties, only.MinProperties, only.MaxProperties)
	}
	return false
}

// wider reports whether the type of the second schema has all values of the type of the first one.
func wider(s, than *apiextensionsv1.JSONSchemaProps) bool {
	if than.XIntOrString {
		return s.XIntOrString || s.Type == "integer" || s.Type == "string"
	}
	return !s.XIntOrString && (s.Type == than.Type || s.Type == "integer" && than.Type == "number")
}

// isKnown reports whether the API server validates a format of strings. It accepts lists for them.
func isKnown(format string) bool {
	accepts, err := Judge(context.Background(), &apiextensionsv1.JSONSchemaProps{Type: "string", Format: format})
	return err == nil && accepts([]any{})
}

// impliesBound is Implies for minimum and maximum.
func impliesBound(ctx context.Context, s, keyword *apiextensionsv1.JSONSchemaProps) bool {
	bounds := &apiextensionsv1.JSONSchemaProps{Type: s.Type, Format: s.Format, XIntOrString: s.XIntOrString,
		Minimum: s.Minimum, Maximum: s.Maximum, ExclusiveMinimum: s.ExclusiveMinimum, ExclusiveMaximum: s.ExclusiveMaximum}
	return len(Between(ctx, bounds, keyword)) == 0
}

// isWithin reports whether all numbers within two bounds, of which each may be nil, are within two others.
func isWithin(least, most, otherLeast, otherMost *int64) bool {
	return (otherLeast == nil || least != nil && *least >= *otherLeast) && (otherMost == nil || most != nil && *most <= *otherMost)
}

// converts reports whether the enum of a schema accepts values that it does not list: the API server converts
// a value to the type of each listed one, so that 1 accepts 1.5, and "A" accepts 65.
func converts(s *apiextensionsv1.JSONSchemaProps) bool { return s.Type == "number" || s.Type == "" }

// lists reports whether some values are among l.
func lists(l, some []apiextensionsv1.JSON) bool {
	for _, j := range some {
		if !slices.ContainsFunc(l, func(k apiextensionsv1.JSON) bool { return string(j.Raw) == string(k.Raw) }) {
			return false
		}
	}
	return len(some) > 0
}
