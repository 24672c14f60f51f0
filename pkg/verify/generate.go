package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of the search for valid values.
const (
	maxDepth  = 64     // of schemas
	maxValues = 8      // valid values kept for one schema
	maxTries  = 400    // candidates tried for one schema
	maxWork   = 60_000 // candidates tried for all the schemas of one union object
	maxWords  = 8      // alternatives combined with each other
	maxItems  = 1100   // of a list that must not be empty
	maxSize   = 10_000 // scalars, lists and objects in one value
	maxShown  = 64     // bytes of a value in a message
)

// generator finds small values that a schema, rules included, accepts. It builds
// them from the inside out, so that every schema is checked only for what it
// says itself.
type generator struct {
	ctx              context.Context
	apiVersion, kind string // of the resource
	work             int
	depth            int
}

func newGenerator(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int) *generator {
	return &generator{ctx: ctx, apiVersion: crd.Spec.Group + "/" + crd.Spec.Versions[version].Name, kind: crd.Spec.Names.Kind}
}

// ownCheck is one thing a schema itself demands of a value.
type ownCheck struct {
	test *test
	// schema judges what is not a rule.
	schema apiservervalidation.SchemaValidator
}

// valid returns the first value that n accepts and that suits.
func (g *generator) valid(n *node, suits func(any) bool) (any, error) {
	first, err := g.first(n)
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

// first returns the smallest value that n accepts. The caller must not change
// it.
func (g *generator) first(n *node) (any, error) {
	if !n.tried {
		n.tried = true
		if g.depth++; g.depth > maxDepth {
			n.failure = fmt.Errorf("%s: the schema is nested too deeply", n.path)
		} else {
			n.least, n.failure = g.search(n, g.raw(n), nil)
		}
		g.depth--
		if g.ctx.Err() != nil {
			n.tried = false // it may be asked again, when there is more time
		}
	}
	return n.least, n.failure
}

// several returns a few values that n accepts, the smallest first. The caller
// must not change them.
func (g *generator) several(n *node) []any {
	if _, err := g.first(n); err != nil || n.values != nil {
		return n.values
	}
	n.values = []any{n.least}
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > maxDepth {
		return n.values
	}
	// That the search ends without having found enough is no error.
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

// search returns the first candidate that n accepts and that suits.
func (g *generator) search(n *node, candidates iter.Seq[any], suits func(any) bool) (any, error) {
	var last error
	tries := 0
	for v := range candidates {
		if g.ctx.Err() != nil {
			return nil, context.Cause(g.ctx)
		}
		if tries++; tries > maxTries || g.work > maxWork {
			break
		}
		g.work++
		if !small(v) {
			last = errors.New("it would be too large to try")
			continue
		}
		v, err := g.accept(n, v)
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
	return nil, fmt.Errorf("%s: no valid value found: %w", n.path, last)
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

// accept returns v with its defaults when n itself accepts it.
func (g *generator) accept(n *node, v any) (any, error) {
	checks := g.own(n)
	if d := n.defaults(); d != nil {
		v = runtime.DeepCopyJSONValue(v)
		d(v)
	}
	for _, c := range checks {
		if c.schema != nil {
			if l := apiservervalidation.ValidateCustomResource(nil, v, c.schema); len(l) > 0 {
				return nil, rejection(v, l[0])
			}
			continue
		}
		if c.test.broken != nil {
			return nil, fmt.Errorf("rule %q: %w", c.test.text, c.test.broken)
		}
		said, detail := c.test.evaluate(g.ctx, v, nil)
		if said == holds && c.test.ReadsOld {
			// What does not change must be acceptable, too.
			said, detail = c.test.evaluate(g.ctx, v, v)
		}
		if said == errs {
			return nil, fmt.Errorf("rule %q fails to evaluate: %s", c.test.text, detail)
		}
		if said != holds {
			return nil, fmt.Errorf("rule %q is false", c.test.text)
		}
	}
	return v, nil
}

// rejection is what the server's validator says of a value. Where it would name the
// path to the value, which it was not given, this has the value itself.
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

// own returns the checks of n itself. Properties and items are valid already.
func (g *generator) own(n *node) []*ownCheck {
	if n.checked {
		return n.own
	}
	n.checked = true
	only := *n.schema
	only.XValidations = nil
	if !isComposite(n.schema) || len(n.schema.Enum) > 0 || n.schema.Default != nil {
		// A value that comes from the schema has been checked nowhere.
	} else {
		only.Properties, only.AdditionalProperties = nil, nil
		if only.Items != nil {
			only.Items = nil
		}
	}
	v, err := schemaValidator(&only)
	if err != nil {
		n.own = append(n.own, &ownCheck{test: &test{text: "schema", broken: err, Rule: &formula.Rule{}}})
		return n.own
	}
	n.own = append(n.own, &ownCheck{schema: v})
	for _, t := range n.tests() {
		n.own = append(n.own, &ownCheck{test: t})
	}
	return n.own
}

func isComposite(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.Type == "object" || s.Type == "array"
}

// defaults returns what fills in the defaults of a value, nil when there are
// none among the properties.
func (n *node) defaults() func(any) {
	only := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for name, p := range n.schema.Properties {
		if p.Default != nil {
			only.Properties[name] = p
		}
	}
	if len(only.Properties) == 0 {
		return nil
	}
	s, err := formula.Structural(only)
	if err != nil {
		return nil
	}
	return func(v any) { defaulting.Default(v, s) }
}

// raw is candidates for a value of n, the smallest first.
func (g *generator) raw(n *node) iter.Seq[any] {
	s := n.schema
	switch {
	case len(s.Enum) > 0 || s.Default != nil:
		return func(yield func(any) bool) {
			if s.Default != nil {
				if v := decoded(s.Default); v != nil && !yield(v) {
					return
				}
			}
			for _, v := range formula.EnumValues(s) {
				if !yield(v) {
					return
				}
			}
			if len(s.Enum) == 0 {
				for v := range g.typed(n) {
					if !yield(v) {
						return
					}
				}
			}
		}
	}
	return g.typed(n)
}

func (g *generator) typed(n *node) iter.Seq[any] {
	s := n.schema
	switch {
	case s.XIntOrString:
		return join(slices.Values([]any{int64(1), "1", int64(0), "50%", int64(8080)}), g.literals(n), texts(n))
	case s.Type == "string":
		return join(g.literals(n), texts(n))
	case s.Type == "integer" || s.Type == "number":
		return join(numbers(n), g.literals(n))
	case s.Type == "boolean":
		return slices.Values([]any{false, true})
	case s.Type == "array":
		return g.lists(n)
	case s.Type == "object":
		return g.objects(n, nil, "")
	}
	return slices.Values([]any{map[string]any{}, "a", int64(1), []any{}})
}

// literals are those that the schema's own rules mention: they are often what a
// value must be.
func (g *generator) literals(n *node) iter.Seq[any] {
	var l []any
	lengths := lengthsOf(n)
	for _, c := range g.own(n) {
		if c.test != nil {
			for _, p := range c.test.Patterns {
				for _, length := range lengths {
					for _, text := range matching(p, length) {
						l = append(l, text)
					}
				}
			}
			l = append(l, c.test.Literals...)
		}
	}
	for _, literal := range l {
		// What a string starts or ends with may be shorter than it.
		if text, ok := literal.(string); ok && lengths[0].missing(text) > 0 {
			l = append(l, lengths[0].filled(text), strings.Repeat("a", lengths[0].missing(text))+text)
		}
	}
	return slices.Values(l)
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

// lists is lists of valid items, as short as may be first.
func (g *generator) lists(n *node) iter.Seq[any] {
	return func(yield func(any) bool) {
		least := 0
		if n.schema.MinItems != nil {
			least = int(min(*n.schema.MinItems, maxItems))
		}
		if least == 0 && !yield([]any{}) {
			return
		}
		items := n.child(step{kind: item})
		if items == nil {
			return
		}
		values := g.several(items)
		n.inner = items.failure
		for _, v := range values {
			list := []any{v}
			for i := 1; i < least; i++ {
				list = append(list, another(v, values, i, n.schema.XListMapKeys))
			}
			if !yield(list) {
				return
			}
			if l := spread(v, items); len(l) > 1 && !yield(l) {
				return
			}
		}
		if len(values) > 1 && least < 2 {
			yield([]any{values[0], values[1]})
		}
	}
}

// spread is an item for each value that its first required enumeration has.
func spread(v any, items *node) []any {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for _, name := range items.schema.Required {
		p := items.property(name)
		if p == nil || len(p.schema.Enum) == 0 {
			continue
		}
		var l []any
		for i := range p.schema.Enum[:min(len(p.schema.Enum), maxItems)] {
			one := maps.Clone(object)
			one[name] = decoded(&p.schema.Enum[i])
			l = append(l, one)
		}
		return l
	}
	return nil
}

// another is an item unlike the ones before it, if there is a way.
func another(v any, values []any, i int, keys []string) any {
	if i < len(values) && len(keys) == 0 {
		return values[i]
	}
	object, ok := runtime.DeepCopyJSONValue(v).(map[string]any)
	if !ok {
		return values[i%len(values)]
	}
	for _, k := range keys {
		switch value := object[k].(type) {
		case string:
			object[k] = fmt.Sprint(value, i)
		case int64:
			object[k] = value + int64(i)
		default:
			continue
		}
		break
	}
	return object
}
