package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// schemaKeyword names a difference between two schemas: a keyword, or several that belong together. Its
// effect is not decided here, but by the values that only one of the schemas accepts.
type schemaKeyword struct {
	sort  Sort
	names []string
	set   bool // the order of the items in its lists has no meaning
	// with are other keywords that its meaning depends on.
	with []string
	// present and absent are set if the API server rejects values because the schema has or lacks the
	// keyword, but the validators of schemas do not.
	present, absent bool
	// decodes is set if values are decoded by it, before they are validated.
	decodes bool
	notes   map[ChangeKind]string
}

// schemaKeywords lists the keywords in the order of differences, but for types, child schemas, required
// and rules.
var schemaKeywords = []schemaKeyword{
	{sort: KeywordSort, names: []string{"enum"}, set: true},
	{sort: KeywordSort, names: []string{"minLength"}},
	{sort: KeywordSort, names: []string{"maxLength"}},
	{sort: KeywordSort, names: []string{"minItems"}},
	{sort: KeywordSort, names: []string{"maxItems"}},
	{sort: KeywordSort, names: []string{"minProperties"}},
	{sort: KeywordSort, names: []string{"maxProperties"}},
	{sort: KeywordSort, names: []string{"minimum", "exclusiveMinimum"}, with: numeric},
	{sort: KeywordSort, names: []string{"maximum", "exclusiveMaximum"}, with: numeric},
	{sort: KeywordSort, names: []string{"pattern"}},
	{sort: KeywordSort, names: []string{"format"}, with: []string{"type"}},
	{sort: KeywordSort, names: []string{"multipleOf"}, with: numeric},
	{sort: KeywordSort, names: []string{"uniqueItems"}},
	{sort: Shape, names: []string{"nullable"}, decodes: true},
	{sort: Shape, names: []string{"default"}, decodes: true, notes: map[ChangeKind]string{
		Added:   "Objects without it are read with the default from now on, stored ones as well.",
		Changed: "Objects that are written without it get the new default; those stored with the old one keep it.",
		Removed: "Objects that are written without it stay so; those stored with the default keep it.",
	}},
	{sort: Composition, names: []string{"allOf"}},
	{sort: Composition, names: []string{"anyOf"}},
	{sort: Composition, names: []string{"oneOf"}},
	{sort: Composition, names: []string{"not"}},
	{sort: KeywordSort, names: []string{"x-kubernetes-list-type", "x-kubernetes-list-map-keys"}, set: true, present: true},
	{sort: Shape, names: []string{"x-kubernetes-map-type"}, notes: map[ChangeKind]string{Added: ownership, Changed: ownership, Removed: ownership}},
	{sort: KeywordSort, names: []string{"x-kubernetes-preserve-unknown-fields"}, absent: true},
	{sort: KeywordSort, names: []string{"x-kubernetes-embedded-resource"}, present: true, absent: true},
}

// numeric are the keywords that decide whether the API server truncates bounds: it does so for values
// without a decimal point.
var numeric = []string{"type", "format", "x-kubernetes-int-or-string"}

const ownership = "It decides which fields server-side apply owns one by one."

// comparedElsewhere are keywords that other methods compare, or that do not affect validation.
var comparedElsewhere = []string{
	"description", "title", "example", "externalDocs", "id", "$schema",
	"type", "x-kubernetes-int-or-string", "x-kubernetes-validations", "required",
}

// keywordValues has the values of a schema's keywords as JSON, without child schemas.
type keywordValues map[string]json.RawMessage

// keywordsOf returns the keywords of a schema, without values that have no effect.
func keywordsOf(s jsonSchema) keywordValues {
	s.Properties, s.Items, s.AdditionalProperties = nil, nil, nil // may be large
	if s.XIntOrString && reflect.DeepEqual(s.AnyOf, []jsonSchema{{Type: "integer"}, {Type: "string"}}) {
		s.AnyOf = nil // implied
	}
	if s.XListType != nil && *s.XListType == "atomic" {
		s.XListType = nil
	}
	if !formula.KeepsUnknown(&s) {
		s.XPreserveUnknownFields = nil
	}
	s.ExclusiveMinimum = s.ExclusiveMinimum && s.Minimum != nil
	s.ExclusiveMaximum = s.ExclusiveMaximum && s.Maximum != nil
	k := keywordValues{}
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return keywordValues{"schema": json.RawMessage(fmt.Sprintf("%q", err))}
	}
	return k
}

// value returns the value of a keyword, or nil.
func (k keywordValues) value(name string) (v any) {
	_ = utiljson.Unmarshal(k[name], &v) // absent, or marshalled before
	return v
}

// only returns a schema that has only some of the keywords.
func (k keywordValues) only(names []string) *jsonSchema {
	some, s := maps.Clone(k), &jsonSchema{}
	maps.DeleteFunc(some, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
	if data, err := json.Marshal(some); err == nil {
		_ = json.Unmarshal(data, s) // it was marshalled before
	}
	return s
}

// keywords compares the keywords of two schemas that accept the same types.
func (w *walker) keywords(p schemapath.Path, o, n *jsonSchema) {
	w.required(p, o, n)
	a, b := keywordsOf(*o), keywordsOf(*n)
	known := slices.Clone(comparedElsewhere)
	for _, k := range schemaKeywords {
		w.keyword(p, k, o, n, a, b)
		known = append(known, k.names...)
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if x, y := a.value(name), b.value(name); !slices.Contains(known, name) && asText(x) != asText(y) {
			w.undecided(p, name, name+" "+string(kindOf(x != nil, y != nil)))
		}
	}
}

func (w *walker) required(p schemapath.Path, o, n *jsonSchema) {
	for _, name := range append(slices.Clone(o.Required), n.Required...) {
		was, is := slices.Contains(o.Required, name), slices.Contains(n.Required, name)
		if was == is {
			continue
		}
		kind, side := Added, newSide
		if was {
			kind, side = Removed, oldSide
		}
		d := w.add(p.Append(schemapath.Property(name)), Required, "required", "", kind, fmt.Sprintf("required %s", kind))
		d.shift.Clauses[side] = []schemadiff.Clause{{At: p, Keywords: &jsonSchema{Required: []string{name}}}}
	}
}

// keyword adds a difference if two schemas, which have a and b, differ in a keyword.
func (w *walker) keyword(p schemapath.Path, k schemaKeyword, o, n *jsonSchema, a, b keywordValues) {
	var names, what []string
	for _, name := range k.names {
		if x, y := a.value(name), b.value(name); !k.same(x, y) {
			names, what = append(names, name), append(what, k.described(name, x, y))
		}
	}
	if len(names) == 0 || w.folded[p.String()+" "+names[0]] {
		return
	}
	_, had := a[names[0]]
	_, has := b[names[0]]
	d := w.add(p, k.sort, names[0], k.names[0], kindOf(had, has), strings.Join(what, ", "))
	d.Note = k.notes[d.Kind]
	switch {
	case k.decodes:
		w.decodes(d, nil, a.value("default"), b.value("default"))
	case k.present || k.absent:
		w.unvalidated(d, o, n, had && k.present || !had && k.absent, has && k.present || !has && k.absent)
	case k.sort != Shape:
		all := slices.Concat(k.names, k.with)
		d.shift.Clauses = w.demands(p, o, n, a.only(all), b.only(all))
	}
	if names[0] == "format" {
		w.cautious(d, o, n)
	}
}

// demands returns the clauses for the keywords that only the old or the new schema at a path has.
func (w *walker) demands(p schemapath.Path, o, n, had, has *jsonSchema) [2][]schemadiff.Clause {
	return [2][]schemadiff.Clause{oldSide: w.demand(p, n, had), newSide: w.demand(p, o, has)}
}

// demand returns the clauses for a keyword of the schema at a path, unless the other schema implies it.
func (w *walker) demand(p schemapath.Path, other, keyword *jsonSchema) []schemadiff.Clause {
	at, ok := schemadiff.SeatOf(p)
	switch {
	case sample.Implies(w.ctx, other, keyword):
		return nil
	case ok && len(at.Tail) == 0 && len(keyword.Enum) > 0: // formulas represent enums
		only := schemadiff.Clause{At: at.Holder, Keywords: &jsonSchema{Properties: map[string]jsonSchema{at.Property: *keyword}}}
		return append(w.clause(p, keyword, sample.Between(w.ctx, other, keyword)...), only)
	case other.Type == "object" && other.AdditionalProperties == nil && keyword.Type == "":
		return []schemadiff.Clause{{At: p, Keywords: keyword}}
	}
	return w.clause(p, keyword, sample.Between(w.ctx, other, keyword)...)
}

// unvalidated sets the clauses of a change that the validators of schemas do not see: either schema may
// reject values of the other one.
func (w *walker) unvalidated(d *difference, o, n *jsonSchema, oldRejects, newRejects bool) {
	if _, ok := schemadiff.SeatOf(d.Path); !ok {
		d.doubt = "changes of " + d.Keyword + " of the whole object are not supported"
		return
	}
	if formula.Open(o) == formula.Open(n) || len(o.Properties) == 0 || len(n.Properties) == 0 {
		w.cautious(d, o, n) // otherwise, the side that lacks a field rejects objects with it
	}
	if oldRejects {
		d.shift.Clauses[oldSide] = w.clause(d.Path, nil, sample.Between(w.ctx, n, sample.Nothing)...)
	}
	if newRejects {
		d.shift.Clauses[newSide] = w.clause(d.Path, nil, sample.Between(w.ctx, o, sample.Nothing)...)
	}
}

// described describes the change of the keyword with a name from x to y.
func (k schemaKeyword) described(name string, x, y any) string {
	kind := kindOf(x != nil, y != nil)
	value := cmp.Or(y, x)
	_, isSwitch := value.(bool)
	switch {
	case isSwitch || k.sort == Composition:
		return name + " " + string(kind)
	case kind != Changed:
		return fmt.Sprintf("%s %s: %s", name, kind, words(value))
	case name == "enum":
		a, b := x.([]any), y.([]any)
		var parts []string
		if more := onlyIn(b, a); len(more) > 0 {
			parts = append(parts, words(more)+" added")
		}
		if gone := onlyIn(a, b); len(gone) > 0 {
			parts = append(parts, words(gone)+" removed")
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprintf("%s %s -> %s", name, words(x), words(y))
}

// words prints a value. Of a list, it prints the first few items.
func words(v any) string {
	const most = 6
	switch v := v.(type) {
	case string:
		if v == "" || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return strconv.Quote(v)
		}
		return v
	case []any:
		var out []string
		for _, item := range v[:min(len(v), most)] {
			out = append(out, words(item))
		}
		if len(v) > most {
			out = append(out, fmt.Sprintf("and %d more", len(v)-most))
		}
		return strings.Join(out, ", ")
	}
	return asText(v)
}

// onlyIn returns the items of a that b does not have.
func onlyIn(a, b []any) []any {
	there := map[string]bool{}
	for _, v := range b {
		there[asText(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(v any) bool { return there[asText(v)] })
}

// same reports whether two values of the keyword have the same meaning.
func (k schemaKeyword) same(x, y any) bool {
	a, isList := x.([]any)
	b, isOther := y.([]any)
	return asText(x) == asText(y) || k.set && isList && isOther && len(onlyIn(a, b))+len(onlyIn(b, a)) == 0
}

// asText returns the JSON text of a decoded JSON value. It is the same for 1 and 1.0.
func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// kindOf returns the kind of the change of something that one side had and the other has.
func kindOf(had, has bool) ChangeKind {
	switch {
	case !had:
		return Added
	case !has:
		return Removed
	}
	return Changed
}
