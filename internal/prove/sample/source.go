package sample

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Bounds of the search for valid values.
const (
	maxDepth  = 64     // of schemas
	maxValues = 8      // valid values that are kept for one schema
	maxTries  = 400    // candidates that are tried for one schema
	maxWords  = 8      // alternatives that are combined with each other
	maxItems  = 1100   // items of a list with a minimum length
	maxSize   = 10_000 // scalars, lists and objects in one value
	maxShown  = 64     // bytes of a value in a message
)

// Source finds small values that schemas and their rules accept. It builds values from the inside
// out, so each schema validates only its own level.
type Source struct {
	ctx              context.Context
	apiVersion, kind string                                          // of resources
	schema           *apiextensionsv1.JSONSchemaProps                // of resources, or nil
	stored           apiextensionsv1.CustomResourceDefinitionVersion // see Stored
	name             string                                          // of resources, as soon as it is known
	depth            int
}

// NewSource returns a source of values for one question (see [logic.Question]) about the resources
// of a version. Searches stop when its steps are exhausted, or when ctx ends.
func NewSource(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int) *Source {
	g := &Source{ctx: logic.Question(ctx), apiVersion: crd.Spec.Group + "/" + crd.Spec.Versions[version].Name, kind: crd.Spec.Names.Kind}
	if s := crd.Spec.Versions[version].Schema; s != nil {
		g.schema = s.OpenAPIV3Schema
	}
	for i, v := range crd.Spec.Versions {
		if v.Storage && i != version && v.Schema != nil && (crd.Spec.Conversion == nil || crd.Spec.Conversion.Strategy != apiextensionsv1.WebhookConverter) {
			g.stored = v
		}
	}
	return g
}

// Stored returns the name and the schema of the version in which resources are stored, if it is
// another version and no webhook converts them. Stored resources have its defaults.
func (g *Source) Stored() (name string, schema *apiextensionsv1.JSONSchemaProps) {
	if g.stored.Schema == nil {
		return "", nil
	}
	return g.stored.Name, g.stored.Schema.OpenAPIV3Schema
}

// Context returns the context that ends searches.
func (g *Source) Context() context.Context { return g.ctx }

// Err returns the cause of the context's end, or nil.
func (g *Source) Err() error { return context.Cause(g.ctx) }

// Valid returns a copy of the first value that n and suits accept. If suits is nil, n decides
// alone.
func (g *Source) Valid(n *Schema, suits func(any) bool) (any, error) {
	first, err := g.First(n)
	if err != nil {
		return nil, err
	}
	if suits != nil && !suits(first) {
		if first, err = g.search(n, g.raw(n), suits); err != nil {
			return nil, err
		}
	}
	return runtime.DeepCopyJSONValue(first), nil
}

// First returns the smallest value that n accepts. The caller must not change it.
func (g *Source) First(n *Schema) (any, error) {
	if !n.tried {
		n.tried = true
		if g.depth++; g.depth > maxDepth {
			n.failure = fmt.Errorf("%s: the schema is nested too deeply", n.Path)
		} else {
			n.least, n.failure = g.preferred(n)
		}
		g.depth--
		if g.ctx.Err() != nil {
			n.tried = false // retry with more time
		}
	}
	return n.least, n.failure
}

// Several returns a few values that n accepts, the smallest first. The caller must not change them.
func (g *Source) Several(n *Schema) []any {
	if _, err := g.First(n); err != nil || n.values != nil {
		return n.values
	}
	n.values = []any{n.least}
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > maxDepth {
		return n.values
	}
	// The search may end before it finds enough values, which is not an error here.
	_, _ = g.search(n, g.raw(n), func(v any) bool {
		if !slices.ContainsFunc(n.values, func(w any) bool { return reflect.DeepEqual(v, w) }) {
			n.values = append(n.values, v)
		}
		return len(n.values) >= maxValues
	})
	values := n.values
	if g.ctx.Err() != nil {
		n.values = nil
	}
	return values
}

// search returns the first candidate that n and suits accept.
func (g *Source) search(n *Schema, candidates iter.Seq[any], suits func(any) bool) (any, error) {
	var last error
	tries := 0
	for v := range candidates {
		if g.ctx.Err() != nil {
			return nil, context.Cause(g.ctx)
		}
		if tries++; tries > maxTries {
			break
		}
		if !small(v) {
			last = errors.New("it would be too large to try")
			continue
		}
		v, err := g.Accept(n, v)
		switch {
		case err != nil:
			last = err
		case suits == nil || suits(v):
			return v, nil
		}
	}
	switch {
	case last != nil:
	case n.inner != nil:
		return nil, n.inner
	default:
		last = errors.New("there is nothing to try")
	}
	return nil, fmt.Errorf("%s: no valid value found: %w", n.Path, last)
}

// small reports whether a value is small enough to be validated many times.
func small(v any) bool {
	left := maxSize
	var count func(v any) bool
	count = func(v any) bool {
		if left--; left < 0 {
			return false
		}
		switch v := v.(type) {
		case []any:
			return !slices.ContainsFunc(v, func(item any) bool { return !count(item) })
		case map[string]any:
			for _, value := range v {
				if !count(value) {
					return false
				}
			}
		}
		return true
	}
	return count(v)
}

// Accept returns v with defaults if n accepts v, without validating its children. It may change v.
func (g *Source) Accept(n *Schema, v any) (any, error) {
	if d := n.Defaults(); d != nil {
		v = runtime.DeepCopyJSONValue(v)
		d(v)
	}
	keywords, err := n.ownKeywords()
	if err != nil {
		return nil, fmt.Errorf("rule %q: %w", "schema", err)
	}
	if l := keywords.Validate(g.ctx, v); len(l) > 0 {
		return nil, rejection(v, l[0])
	}
	for _, t := range n.Rules() {
		if t.Broken != nil {
			return nil, fmt.Errorf("rule %q: %w", t.Text, t.Broken)
		}
		switch said, detail := g.answer(t, v); said {
		case Errs:
			return nil, fmt.Errorf("rule %q fails to evaluate: %s", t.Text, detail)
		case Fails:
			return nil, fmt.Errorf("rule %q is false", t.Text)
		}
	}
	return v, nil
}

// answer evaluates a test on a creation and on an update without changes.
func (g *Source) answer(t *Test, v any) (said Answer, detail string) {
	if said, detail = t.Evaluate(g.ctx, v, nil); said == Holds && t.ReadsOld {
		return t.Evaluate(g.ctx, v, v)
	}
	return said, detail
}

// Admits reports whether n accepts a value, without validating its children.
func (g *Source) Admits(n *Schema, v any) bool {
	_, err := g.Accept(n, v)
	return err == nil
}

// Refuses reports whether n itself rejects a value, regardless of its parents and its old value.
func (g *Source) Refuses(n *Schema, v any) bool {
	keywords, err := n.ownKeywords()
	return err == nil && len(keywords.Validate(g.ctx, v)) > 0 ||
		slices.ContainsFunc(n.Rules(), func(t *Test) bool {
			said, _ := t.Evaluate(g.ctx, v, nil)
			return !t.ReadsOld && said != Holds
		})
}

// rejection converts an error of the API server about a value. It includes the value, because the
// path of the value is unknown.
func rejection(v any, e *field.Error) error {
	detail, bare := strings.CutPrefix(e.Detail, " in body ")
	switch {
	case detail == "":
		return errors.New(e.ErrorBody())
	case !bare:
		return errors.New(detail)
	}
	switch v := v.(type) {
	case string:
		if len(v) <= maxShown {
			return fmt.Errorf("%q %s", v, detail)
		}
	case bool, int64, float64:
		return fmt.Errorf("%v %s", v, detail)
	}
	return errors.New("it " + detail)
}

// ownKeywords validates values against the keywords of n. It assumes valid properties and items.
func (n *Schema) ownKeywords() (*formula.Keywords, error) {
	if n.own == nil && n.ownError == nil {
		only := *n.Props
		only.XValidations = nil
		// Values in the schema itself (enum, default) have not been validated before.
		if Composite(n.Props) && len(n.Props.Enum) == 0 && n.Props.Default == nil {
			only.Properties, only.AdditionalProperties, only.Items = nil, nil, nil
		}
		n.own, n.ownError = formula.Validator(&only)
	}
	return n.own, n.ownError
}

// Composite reports whether the values of a schema are objects, maps or lists.
func Composite(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.Type == "object" || s.Type == "array"
}

// Defaults returns a function that sets the defaults of a value. It is nil if no property has one.
func (n *Schema) Defaults() func(any) {
	only := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, p := range n.Props.Properties {
		if p.Default != nil {
			only.Properties[name] = p
		}
	}
	if len(only.Properties) == 0 {
		return nil
	}
	s, err := server.Structural(only)
	if err != nil {
		return nil
	}
	return func(v any) { defaulting.Default(v, s) }
}

// raw yields candidates for values of n, the smallest first.
func (g *Source) raw(n *Schema) iter.Seq[any] {
	var l []any
	if d := n.Props.Default; d != nil {
		if v := decoded(d); v != nil {
			l = append(l, v)
		}
	}
	l = append(l, formula.EnumValues(n.Props)...)
	if len(n.Props.Enum) > 0 {
		return slices.Values(l)
	}
	return join(slices.Values(l), g.typed(n))
}

func (g *Source) typed(n *Schema) iter.Seq[any] {
	s := n.Props
	// Most searches end before the literals of other schemas.
	literals := func(rules func() []*Test) iter.Seq[any] {
		return func(yield func(any) bool) { slices.Values(wanted(n, rules()))(yield) }
	}
	own, others := literals(n.Rules), literals(n.inherited)
	switch {
	case s.XIntOrString:
		return join(slices.Values([]any{int64(1), "1", int64(0), "50%", int64(8080)}), own, texts(n), others)
	case s.Type == "string":
		return join(own, texts(n), others)
	case s.Type == "integer" || s.Type == "number":
		return join(numbers(n), own, others)
	case s.Type == "boolean":
		return slices.Values([]any{false, true})
	case s.Type == "array":
		return g.lists(n)
	case s.Type == "object":
		return g.objects(n, nil, "")
	}
	return slices.Values([]any{map[string]any{}, "a", int64(1), []any{}})
}

func join(seqs ...iter.Seq[any]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, seq := range seqs {
			for v := range seq {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// lists yields lists of valid items, the shortest first.
func (g *Source) lists(n *Schema) iter.Seq[any] {
	return func(yield func(any) bool) {
		least := 0
		if n.Props.MinItems != nil {
			least = int(min(*n.Props.MinItems, maxItems))
		}
		if least == 0 && !yield([]any{}) {
			return
		}
		items := n.Child(schemapath.Items)
		if items == nil {
			return
		}
		values := g.Several(items)
		n.inner = items.failure
		sized := func(size int, v any, others []any) []any {
			list := []any{v}
			for i := 1; i < size; i++ {
				list = append(list, another(v, others, i, n.Props.XListMapKeys))
			}
			return list
		}
		sizes := sizesOf(n.demands())
		for i, v := range values {
			if !yield(sized(least, v, values)) {
				return
			}
			if l := spread(v, items); len(l) > 1 && !yield(l) {
				return
			}
			if i > 0 {
				continue
			}
			for _, size := range sizes {
				if !yield(sized(size, v, nil)) {
					return
				}
			}
			if items.Props.Nullable && !yield([]any{nil}) {
				return
			}
		}
		if len(values) > 1 && least < 2 && !yield([]any{values[0], values[1]}) {
			return
		}
		for _, size := range sizes {
			for _, v := range append(g.Wanted(items), values...) {
				if !yield(sized(size, v, nil)) {
					return
				}
			}
		}
	}
}

// spread returns an item for each value of the first required property with an enum.
func spread(v any, items *Schema) []any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, name := range items.Props.Required {
		p := items.Property(name)
		if p == nil || len(p.Props.Enum) == 0 {
			continue
		}
		var l []any
		for i := range p.Props.Enum[:min(len(p.Props.Enum), maxItems)] {
			one := maps.Clone(object)
			one[name] = decoded(&p.Props.Enum[i])
			l = append(l, one)
		}
		return l
	}
	return nil
}

// another returns an item that differs from the previous items if possible.
func another(v any, values []any, i int, keys []string) any {
	switch {
	case len(keys) > 0:
		return numbered(v, i, keys)
	case i < len(values):
		return values[i]
	}
	return v
}

// ItemWith returns an item of a list. Its keys are in name, the name of the item in formulas.
func (g *Source) ItemWith(items *Schema, name string) (any, error) {
	return g.search(items, g.objects(items, formula.KeysOf(name), ""), nil)
}

// maxWritten bounds the values that Written returns.
const maxWritten = 256

// Written returns values that have literals of a rule: a scalar, an object with literals in some of its
// properties, or a list of one such item. The schema need not accept them.
func (g *Source) Written(n *Schema, literals []any) []any {
	var l []any
	switch kind := n.Props.Type; kind {
	case "string", "integer":
		return slices.DeleteFunc(slices.Clone(literals), func(v any) bool { _, isText := v.(string); return isText != (kind == "string") })
	case "array":
		if items := n.Child(schemapath.Items); items != nil {
			for _, v := range g.Written(items, literals) {
				l = append(l, []any{v})
			}
		}
	case "object":
		for _, v := range g.Several(n) {
			base, _ := v.(map[string]any)
			several := []any{base}
			for _, name := range slices.Sorted(maps.Keys(base)) {
				p := n.Property(name)
				if p == nil || Composite(p.Props) {
					continue
				}
				for _, was := range slices.Clone(several) {
					for _, literal := range g.Written(p, literals) {
						if m := maps.Clone(was.(map[string]any)); len(several) < maxWritten {
							m[name] = literal
							several = append(several, m)
						}
					}
				}
			}
			l = append(l, several[1:]...)
		}
	}
	return l[:min(len(l), maxWritten)]
}
