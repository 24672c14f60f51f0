package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/regular"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// keywords records the differences in the keywords of o and n, two schemas of the same type at path p.
func (w *walker) keywords(p schemapath.Path, o, n *jsonSchema) {
	w.required(p, o, n)
	w.enum(p, o, n)
	w.bounds(p, o, n)
	w.text(p, o, n)
	w.shaped(p, o, n)
	w.composed(p, o, n)
	w.listed(p, o, n)
}

func (w *walker) required(p schemapath.Path, o, n *jsonSchema) {
	for _, name := range append(slices.Clone(o.Required), n.Required...) {
		was, is := slices.Contains(o.Required, name), slices.Contains(n.Required, name)
		if was == is {
			continue
		}
		kind := turned(is)
		d := w.add(p.Append(schemapath.Property(name)), Required, "required", "", kind, fmt.Sprintf("required %s", kind))
		k := []schemadiff.Clause{{At: p, Keywords: &jsonSchema{Required: []string{name}}}}
		if is {
			d.shift.New = k
		} else {
			d.shift.Old = k
		}
	}
}

func (w *walker) enum(p schemapath.Path, o, n *jsonSchema) {
	a, b := constants(o.Enum), constants(n.Enum)
	gone, more := onlyIn(a, b), onlyIn(b, a)
	if len(gone)+len(more) == 0 && (len(a) == 0) == (len(b) == 0) || w.folded[p.String()+" enum"] {
		return
	}
	kind, what := Changed, []string{}
	switch {
	case len(a) == 0:
		kind, what = Added, []string{"enum added: " + words(b)}
	case len(b) == 0:
		kind, what = Removed, []string{"enum removed: " + words(a)}
	default:
		if len(more) > 0 {
			what = append(what, words(more)+" added")
		}
		if len(gone) > 0 {
			what = append(what, words(gone)+" removed")
		}
	}
	d := w.add(p, KeywordSort, "enum", "enum", kind, strings.Join(what, ", "))
	if len(b) > 0 && (len(a) == 0 || len(gone) > 0) {
		d.shift.New = enumClause(p, n.Enum, w.valuesBetween(o, n, append(slices.Clone(gone), w.values(o)...)))
	}
	if len(a) > 0 && (len(b) == 0 || len(more) > 0) {
		d.shift.Old = enumClause(p, o.Enum, w.valuesBetween(n, o, append(slices.Clone(more), w.values(n)...)))
	}
}

// enumClause returns the clauses of an enum of the schema at a path.
func enumClause(p schemapath.Path, enum []apiextensionsv1.JSON, try []any) []schemadiff.Clause {
	at, ok := seatOf(p)
	if ok && len(at.tail) == 0 {
		k := &jsonSchema{Properties: map[string]jsonSchema{at.property: {Enum: enum}}}
		// The second clause only adds values to try.
		return []schemadiff.Clause{{At: at.holder, Keywords: k}, {At: at.holder, Property: at.property, Keywords: &jsonSchema{Enum: enum}, Try: try}}
	}
	return clause(p, &jsonSchema{Enum: enum}, try...)
}

func constants(l []apiextensionsv1.JSON) []any {
	var out []any
	for _, j := range l {
		var v any
		if json.Unmarshal(j.Raw, &v) == nil {
			if f, ok := v.(float64); ok && f == float64(int64(f)) {
				v = int64(f)
			}
			out = append(out, v)
		}
	}
	return out
}

// onlyIn returns the items of a that b does not have.
func onlyIn(a, b []any) []any {
	there := map[string]bool{}
	for _, v := range b {
		there[asText(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(v any) bool { return there[asText(v)] })
}

// asText returns the JSON text of a decoded JSON value.
func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// words lists the first few values.
func words(l []any) string {
	const most = 6
	var out []string
	for _, v := range l[:min(len(l), most)] {
		out = append(out, cmp.Or(strings.Trim(asText(v), `"`), `""`))
	}
	if len(l) > most {
		out = append(out, fmt.Sprintf("and %d more", len(l)-most))
	}
	return strings.Join(out, ", ")
}

// bounds compares the keywords that bound a value from below or from above.
func (w *walker) bounds(p schemapath.Path, o, n *jsonSchema) {
	w.bound(p, o, n, bounding{name: "minLength", of: func(s *jsonSchema) **int64 { return &s.MinLength }, beyond: func(s *jsonSchema, v int64) { s.MaxLength = new(v - 1) }})
	w.bound(p, o, n, bounding{name: "maxLength", upper: true, of: func(s *jsonSchema) **int64 { return &s.MaxLength }, beyond: func(s *jsonSchema, v int64) { s.MinLength = new(v + 1) }})
	w.bound(p, o, n, bounding{name: "minItems", of: func(s *jsonSchema) **int64 { return &s.MinItems }, beyond: func(s *jsonSchema, v int64) { s.MaxItems = new(v - 1) }})
	w.bound(p, o, n, bounding{name: "maxItems", upper: true, of: func(s *jsonSchema) **int64 { return &s.MaxItems }, beyond: func(s *jsonSchema, v int64) { s.MinItems = new(v + 1) }})
	w.bound(p, o, n, bounding{name: "minProperties", own: true, of: func(s *jsonSchema) **int64 { return &s.MinProperties }, beyond: func(s *jsonSchema, v int64) { s.MaxProperties = new(v - 1) }})
	w.bound(p, o, n, bounding{name: "maxProperties", own: true, upper: true, of: func(s *jsonSchema) **int64 { return &s.MaxProperties }, beyond: func(s *jsonSchema, v int64) { s.MinProperties = new(v + 1) }})
	w.number(p, o, n, false)
	w.number(p, o, n, true)
}

// bounding is a keyword that bounds a value.
type bounding struct {
	name  string
	upper bool
	own   bool // the bound is on the number of the object's properties
	of    func(*jsonSchema) **int64
	// beyond makes a schema accept only values outside a bound.
	beyond func(*jsonSchema, int64)
}

func (w *walker) bound(p schemapath.Path, o, n *jsonSchema, l bounding) {
	a, b := *l.of(o), *l.of(n)
	if reflect.DeepEqual(a, b) {
		return
	}
	d := w.add(p, KeywordSort, l.name, l.name, kindOf(a, b), fmt.Sprintf("%s %s", l.name, became(a, b)))
	only := func(v *int64) *jsonSchema {
		s := &jsonSchema{}
		*l.of(s) = v
		return s
	}
	put := func(v *int64, at, other *jsonSchema) []schemadiff.Clause {
		c := *other
		l.beyond(&c, *v)
		try := w.values(&c)
		text, none := w.textWithout(other, only(v))
		switch {
		case none:
			return nil
		case l.own:
			return own(p, at, only(v), try...)
		}
		return clause(p, only(v), w.valuesBetween(other, at, append(text, try...))...)
	}
	if tighter(a, b, l.upper) {
		d.shift.New = put(b, n, o)
	}
	if tighter(b, a, l.upper) {
		d.shift.Old = put(a, o, n)
	}
	if _, ok := seatOf(p); !ok && !l.own {
		d.doubt = "there is no such value"
	}
}

// tighter reports whether bound b rejects values that bound a accepts.
func tighter(a, b *int64, upper bool) bool {
	switch {
	case b == nil:
		return false
	case a == nil:
		return true
	case upper:
		return *b < *a
	}
	return *b > *a
}

func kindOf[T any](a, b *T) ChangeKind {
	switch {
	case a == nil:
		return Added
	case b == nil:
		return Removed
	}
	return Changed
}

// turned returns the kind of change that turns something on or off.
func turned(on bool) ChangeKind {
	if on {
		return Added
	}
	return Removed
}

func became[T any](a, b *T) string {
	switch {
	case a == nil:
		return fmt.Sprintf("added: %v", *b)
	case b == nil:
		return fmt.Sprintf("removed: %v", *a)
	}
	return fmt.Sprintf("%v -> %v", *a, *b)
}

// number compares minimum or maximum, together with exclusiveMinimum or exclusiveMaximum.
func (w *walker) number(p schemapath.Path, o, n *jsonSchema, upper bool) {
	name, of := "minimum", func(s *jsonSchema) (*float64, bool) { return s.Minimum, s.ExclusiveMinimum }
	if upper {
		name, of = "maximum", func(s *jsonSchema) (*float64, bool) { return s.Maximum, s.ExclusiveMaximum }
	}
	a, aExclusive := of(o)
	b, bExclusive := of(n)
	if reflect.DeepEqual(a, b) && (aExclusive == bExclusive || a == nil) {
		return
	}
	what := fmt.Sprintf("%s %s", name, became(a, b))
	if aExclusive != bExclusive {
		what += map[bool]string{true: ", exclusive", false: ", inclusive"}[bExclusive]
	}
	d := w.add(p, KeywordSort, name, name, kindOf(a, b), what)
	only := func(s *jsonSchema) *jsonSchema {
		k := numeric(s)
		if v, exclusive := of(s); upper {
			k.Maximum, k.ExclusiveMaximum = v, exclusive
		} else {
			k.Minimum, k.ExclusiveMinimum = v, exclusive
		}
		return k
	}
	put := func(at, other *jsonSchema) []schemadiff.Clause {
		bound, before := a, b
		if at == n {
			bound, before = b, a
		}
		try := numbersAround(n.Type == "integer", bound, before)
		if len(w.valuesBetween(only(other), only(at), try)) == 0 {
			return nil // the server treats both bounds alike for every value at the bounds
		}
		return clause(p, only(at), w.valuesBetween(other, at, append(slices.Clone(try), w.values(other)...))...)
	}
	d.shift.New, d.shift.Old = put(n, o), put(o, n)
}

// numeric returns the keywords that decide whether the server truncates bounds: it does so for
// values without a decimal point.
func numeric(s *jsonSchema) *jsonSchema {
	return &jsonSchema{Type: s.Type, Format: s.Format, XIntOrString: s.XIntOrString}
}

// numbersAround returns the numbers at and next to bounds, with and without a decimal point. If two
// bounds treat these numbers alike, they accept the same numbers.
func numbersAround(integers bool, bounds ...*float64) []any {
	var l []any
	for _, v := range bounds {
		if v == nil {
			continue
		}
		n := int64(*v)
		l = append(l, n-1, n, n+1)
		if integers {
			continue
		}
		for _, f := range []float64{math.Floor(*v) - 1, math.Floor(*v), math.Nextafter(*v, math.Inf(-1)), *v, math.Nextafter(*v, math.Inf(1)), math.Ceil(*v), math.Ceil(*v) + 1} {
			l = append(l, f)
		}
	}
	return l
}

// text compares the keywords on strings that only the server can evaluate.
func (w *walker) text(p schemapath.Path, o, n *jsonSchema) {
	judged := func(name, a, b string, of func(string) *jsonSchema) {
		if a == b {
			return
		}
		kind, what := Changed, fmt.Sprintf("%s %s -> %s", name, a, b)
		switch {
		case a == "":
			kind, what = Added, name+" added: "+b
		case b == "":
			kind, what = Removed, name+" removed: "+a
		}
		d := w.add(p, KeywordSort, name, name, kind, what)
		if name == "format" {
			w.cautious(d, o, n)
		}
		var try []any
		for _, s := range []*jsonSchema{o, n} {
			plain := *s
			plain.Pattern, plain.Format = "", ""
			try = append(append(try, w.values(s)...), w.values(&plain)...)
		}
		try = append(likes(append(try, samples...)), []any{}) // the server accepts a list for a string with a format
		put := func(v string, at, other *jsonSchema) []schemadiff.Clause {
			text, none := w.textWithout(other, of(v))
			switch {
			case none, name == "pattern" && v == "":
				return nil
			case name == "format" && at.Type == "string" && !w.checks(v) && !w.checks(other.Format), name == "format" && at.Type != "string" && v == "":
				return nil
			}
			return clause(p, of(v), w.valuesBetween(other, at, append(text, try...))...)
		}
		d.shift.New, d.shift.Old = put(b, n, o), put(a, o, n)
	}
	judged("pattern", o.Pattern, n.Pattern, func(s string) *jsonSchema { return &jsonSchema{Pattern: s} })
	judged("format", o.Format, n.Format, func(s string) *jsonSchema { return &jsonSchema{Type: o.Type, Format: s} })
	if !reflect.DeepEqual(o.MultipleOf, n.MultipleOf) {
		d := w.add(p, KeywordSort, "multipleOf", "multipleOf", kindOf(o.MultipleOf, n.MultipleOf), "multipleOf "+became(o.MultipleOf, n.MultipleOf))
		numbers := []any{int64(1), int64(2), int64(3), int64(5), int64(7), int64(10), int64(100), 0.1, 0.5}
		for _, m := range []*float64{o.MultipleOf, n.MultipleOf} {
			if m != nil {
				numbers = append(numbers, *m, int64(*m), 2**m, *m/2)
				for _, k := range []int64{2, 3, 5} {
					numbers = append(numbers, k*int64(*m), int64(float64(k)**m))
				}
			}
		}
		put := func(at, other *jsonSchema) []schemadiff.Clause {
			k := numeric(at)
			k.MultipleOf = at.MultipleOf
			return clause(p, k, w.valuesBetween(other, at, numbers)...)
		}
		if n.MultipleOf != nil {
			d.shift.New = put(n, o)
		}
		if o.MultipleOf != nil {
			d.shift.Old = put(o, n)
		}
	}
}

// checks reports whether the server validates a string format. It ignores unknown formats.
func (w *walker) checks(format string) bool {
	return len(w.valuesBetween(&jsonSchema{Type: "string", Format: format}, &jsonSchema{Type: "string"}, []any{[]any{}})) > 0
}

// textWithout returns the shortest string that one schema accepts and the other rejects. none is
// true if patterns and lengths exclude such a string.
func (w *walker) textWithout(accepts, refuses *jsonSchema) (text []any, none bool) {
	if accepts.Type != "string" || accepts.Format != "" || refuses.Format != "" {
		return nil, false
	}
	of := func(s *jsonSchema) regular.Language {
		return regular.Language{Pattern: s.Pattern, Min: s.MinLength, Max: s.MaxLength}
	}
	found, ok, err := regular.Difference(w.ctx, of(accepts), of(refuses))
	switch {
	case err != nil:
		return nil, false
	case !ok:
		return nil, true
	}
	return []any{found}, false
}

// enough bounds the values that are tried for one clause.
const enough = 8

// valuesBetween returns the first few values that one schema accepts and the other rejects. It
// ignores rules.
func (w *walker) valuesBetween(accepts, refuses *jsonSchema, values []any) []any {
	a, err := sample.Judge(w.ctx, accepts)
	if err != nil {
		return nil
	}
	r, err := sample.Judge(w.ctx, refuses)
	if err != nil {
		return nil
	}
	var l []any
	for _, v := range values {
		if len(l) < enough && w.ctx.Err() == nil && a(v) && !r(v) {
			l = append(l, v)
		}
	}
	return l
}

// likes returns the values, and strings that differ slightly from them.
func likes(values []any) []any {
	l := slices.Clone(values)
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

// samples are values of various types and formats.
var samples = []any{
	"", "a", "A", "abc", "a-b", "a.b", "a b", "a_b", "-", "0", "12", "1a", "é", strings.Repeat("a", 64), "aaaaaaaaaa",
	"2024-01-01T00:00:00Z", "2024-01-01", "1h", "10.0.0.1", "::1", "10.0.0.0/8", "example.com", "https://example.com/", "a@example.com",
	"YQ==", "0b2f7e5c-8f4f-4e65-9d29-0f6b5e7f2b11", "50%", int64(1) << 40, int64(-1), 1e300,
}

// composed compares allOf, anyOf, oneOf and not.
func (w *walker) composed(p schemapath.Path, o, n *jsonSchema) {
	for _, k := range []struct {
		name string
		of   func(s *jsonSchema) *jsonSchema
	}{
		{"allOf", func(s *jsonSchema) *jsonSchema { return &jsonSchema{AllOf: s.AllOf} }},
		{"anyOf", func(s *jsonSchema) *jsonSchema { return &jsonSchema{AnyOf: s.AnyOf} }},
		{"oneOf", func(s *jsonSchema) *jsonSchema { return &jsonSchema{OneOf: s.OneOf} }},
		{"not", func(s *jsonSchema) *jsonSchema { return &jsonSchema{Not: s.Not} }},
	} {
		a, b := k.of(o), k.of(n)
		if reflect.DeepEqual(a, b) || k.name == "anyOf" && (o.XIntOrString && n.AnyOf == nil || n.XIntOrString && o.AnyOf == nil) && isIntOrString(a, b) {
			continue
		}
		empty := &jsonSchema{}
		kind := Changed
		switch {
		case reflect.DeepEqual(a, empty):
			kind = Added
		case reflect.DeepEqual(b, empty):
			kind = Removed
		}
		d := w.add(p, Composition, k.name, k.name, kind, k.name+" "+string(kind))
		try := slices.Concat(w.values(o), w.values(n))
		if kind != Removed {
			d.shift.New = own(p, n, b, w.valuesBetween(o, n, likes(try))...)
		}
		if kind != Added {
			d.shift.Old = own(p, o, a, w.valuesBetween(n, o, likes(try))...)
		}
		if d.shift.New == nil && d.shift.Old == nil {
			d.doubt = "there is no such value"
		}
	}
}

// isIntOrString reports whether a schema has the anyOf that x-kubernetes-int-or-string implies.
func isIntOrString(l ...*jsonSchema) bool {
	return slices.ContainsFunc(l, func(s *jsonSchema) bool {
		return reflect.DeepEqual(s.AnyOf, []jsonSchema{{Type: "integer"}, {Type: "string"}})
	})
}

// listed compares the server's constraints on lists and objects that JSON Schema does not have.
func (w *walker) listed(p schemapath.Path, o, n *jsonSchema) {
	listType := func(s *jsonSchema) string {
		if s.XListType == nil {
			return "atomic"
		}
		return *s.XListType
	}
	twice := func(s *jsonSchema) []any {
		l := []any{[]any{"a", "a"}, []any{int64(1), int64(1)}, []any{map[string]any{}, map[string]any{}}, []any{map[string]any{}}}
		if s.Items != nil && s.Items.Schema != nil {
			for _, v := range w.values(s.Items.Schema) {
				l = append(l, []any{v, v})
			}
			if v := w.values(s.Items.Schema); len(v) > 1 {
				l = append(l, []any{v[0], v[1]})
			}
		}
		return l
	}
	a, b := listType(o), listType(n)
	if a != b || !slices.Equal(o.XListMapKeys, n.XListMapKeys) {
		what := a + " -> " + b
		if a == b {
			what = "keys " + strings.Join(o.XListMapKeys, ", ") + " -> " + strings.Join(n.XListMapKeys, ", ")
		}
		d := w.guess(p, o, n, "x-kubernetes-list-type", Changed, "list type "+what, append(twice(o), twice(n)...)...)
		if b == "atomic" {
			d.shift.New = nil
		}
		if a == "atomic" {
			d.shift.Old = nil
		}
	}
	if !reflect.DeepEqual(o.XMapType, n.XMapType) {
		w.add(p, Shape, "x-kubernetes-map-type", "x-kubernetes-map-type", kindOf(o.XMapType, n.XMapType), "map type "+became(o.XMapType, n.XMapType)).Note = "It decides which fields server-side apply owns one by one."
	}
	if o.UniqueItems != n.UniqueItems {
		w.guess(p, o, n, "uniqueItems", Changed, fmt.Sprintf("uniqueItems %t -> %t", o.UniqueItems, n.UniqueItems), append(twice(o), twice(n)...)...)
	}
	unnamed := []any{map[string]any{"unnamed": "a"}, map[string]any{"unnamed": map[string]any{}}, "a", int64(7)}
	if x, y := formula.KeepsUnknown(o), formula.KeepsUnknown(n); x != y {
		d := w.guess(p, o, n, "x-kubernetes-preserve-unknown-fields", turned(y), "unknown fields are "+map[bool]string{true: "kept", false: "dropped"}[y], unnamed...)
		if len(o.Properties) > 0 && len(n.Properties) > 0 {
			// Rules get the same fields. A side that lacks a field rejects objects with this field.
			d.shift.Reshaped, d.caution = nil, ""
		}
		if y {
			d.shift.New = nil
		} else {
			d.shift.Old = nil
		}
	}
	if o.XEmbeddedResource != n.XEmbeddedResource {
		w.guess(p, o, n, "x-kubernetes-embedded-resource", Changed, fmt.Sprintf("embedded resource: %t -> %t", o.XEmbeddedResource, n.XEmbeddedResource),
			map[string]any{}, map[string]any{"apiVersion": "v1", "kind": "Example", "metadata": map[string]any{"name": "example"}})
	}
}
