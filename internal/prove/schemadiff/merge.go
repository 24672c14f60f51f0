package schemadiff

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
)

// merging combines two schemas. The result accepts values that either schema accepts or, if tight
// is set, values that both accept, as far as a schema can express this.
type merging struct{ tight bool }

// merge merges two schemas, one of which may be nil.
func (m merging) merge(a, b *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	switch {
	case a == nil:
		return b
	case b == nil || a == b:
		return a
	case a.Type != b.Type || a.XIntOrString != b.XIntOrString || a.XEmbeddedResource != b.XEmbeddedResource:
		if m.tight {
			return a
		}
		return &apiextensionsv1.JSONSchemaProps{Nullable: a.Nullable || b.Nullable}
	}
	c := *a
	m.values(&c, a, b)
	c.Nullable = both(m.tight, a.Nullable, b.Nullable)
	if !sameDefault(a, b) {
		c.Default = nil
	}
	if !reflect.DeepEqual(a.XListType, b.XListType) || !slices.Equal(a.XListMapKeys, b.XListMapKeys) {
		c.XListType, c.XListMapKeys = nil, nil
	}
	if !reflect.DeepEqual(a.XPreserveUnknownFields, b.XPreserveUnknownFields) {
		c.XPreserveUnknownFields = nil
		if preserve := true; !m.tight {
			c.XPreserveUnknownFields = &preserve
		}
	}
	c.XValidations = either(m.tight, a.XValidations, b.XValidations, formula.RuleKey)
	c.Required = either(m.tight, a.Required, b.Required, func(name string) string { return name })
	c.Required = slices.DeleteFunc(c.Required, func(name string) bool {
		x, inA := a.Properties[name]
		y, inB := b.Properties[name]
		// Objects may omit properties with a default. They should omit properties that only one
		// side has.
		return !m.tight && !sameDefault(&x, &y) || m.tight && inA != inB
	})
	m.composed(&c, a, b)
	m.inner(&c, a, b)
	return &c
}

func sameDefault(a, b *apiextensionsv1.JSONSchemaProps) bool {
	return formula.SameShape(&apiextensionsv1.JSONSchemaProps{Default: a.Default}, &apiextensionsv1.JSONSchemaProps{Default: b.Default})
}

func both(tight, a, b bool) bool {
	if tight {
		return a && b
	}
	return a || b
}

// either returns the items of both lists if all is set, and otherwise their common items. Items with
// the same key are equal.
func either[T any](all bool, a, b []T, key func(T) string) []T {
	keys := func(l []T) map[string]bool {
		set := map[string]bool{}
		for _, x := range l {
			set[key(x)] = true
		}
		return set
	}
	l := slices.Clone(a)
	if !all {
		inB := keys(b)
		return slices.DeleteFunc(l, func(x T) bool { return !inB[key(x)] })
	}
	inA := keys(a)
	for _, x := range b {
		if !inA[key(x)] {
			l = append(l, x)
		}
	}
	return l
}

// values merges the keywords on a single value.
func (m merging) values(c, a, b *apiextensionsv1.JSONSchemaProps) {
	if a.Format != b.Format {
		c.Format = m.text(a.Format, b.Format)
	}
	if a.Pattern != b.Pattern {
		c.Pattern = m.text(a.Pattern, b.Pattern)
	}
	switch {
	case len(a.Enum) > 0 && len(b.Enum) > 0:
		c.Enum = either(!m.tight, a.Enum, b.Enum, jsonKey)
	case m.tight:
		c.Enum = append(slices.Clip(a.Enum), b.Enum...)
	default:
		c.Enum = nil
	}
	c.MinLength, c.MaxLength = least(m, a.MinLength, b.MinLength), most(m, a.MaxLength, b.MaxLength)
	c.MinItems, c.MaxItems = least(m, a.MinItems, b.MinItems), most(m, a.MaxItems, b.MaxItems)
	c.MinProperties, c.MaxProperties = least(m, a.MinProperties, b.MinProperties), most(m, a.MaxProperties, b.MaxProperties)
	c.Minimum, c.Maximum = least(m, a.Minimum, b.Minimum), most(m, a.Maximum, b.Maximum)
	c.ExclusiveMinimum, c.ExclusiveMaximum = both(!m.tight, a.ExclusiveMinimum, b.ExclusiveMinimum), both(!m.tight, a.ExclusiveMaximum, b.ExclusiveMaximum)
	c.UniqueItems = both(!m.tight, a.UniqueItems, b.UniqueItems)
	if !reflect.DeepEqual(a.MultipleOf, b.MultipleOf) {
		if c.MultipleOf = nil; m.tight {
			c.MultipleOf = cmp.Or(a.MultipleOf, b.MultipleOf)
		}
	}
}

func (m merging) text(a, b string) string {
	if m.tight {
		return cmp.Or(a, b)
	}
	return ""
}

func least[T cmp.Ordered](m merging, a, b *T) *T {
	return bound(m, a, b, func(x, y T) bool { return x < y })
}
func most[T cmp.Ordered](m merging, a, b *T) *T {
	return bound(m, a, b, func(x, y T) bool { return x > y })
}

// bound returns the looser of two bounds or, if tight is set, the tighter bound.
func bound[T cmp.Ordered](m merging, a, b *T, looser func(x, y T) bool) *T {
	switch {
	case a == nil || b == nil:
		if m.tight {
			return cmp.Or(a, b)
		}
		return nil
	case looser(*a, *b) != m.tight:
		return a
	}
	return b
}

// jsonKey returns a key that is the same for equal values, regardless of their text.
func jsonKey(v apiextensionsv1.JSON) string {
	var x any
	if err := json.Unmarshal(v.Raw, &x); err != nil {
		return string(v.Raw)
	}
	text, err := json.Marshal(x)
	if err != nil {
		return string(v.Raw)
	}
	return string(text)
}

// composed merges allOf, anyOf, oneOf and not.
func (m merging) composed(c, a, b *apiextensionsv1.JSONSchemaProps) {
	of := func(s *apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{AllOf: s.AllOf, AnyOf: s.AnyOf, OneOf: s.OneOf, Not: s.Not}
	}
	x, y := of(a), of(b)
	if reflect.DeepEqual(x, y) {
		return
	}
	c.AllOf, c.AnyOf, c.OneOf, c.Not = nil, nil, nil, nil
	if m.tight {
		c.AllOf = []apiextensionsv1.JSONSchemaProps{x, y}
	}
}

// inner merges the child schemas of two schemas.
func (m merging) inner(c, a, b *apiextensionsv1.JSONSchemaProps) {
	if len(a.Properties)+len(b.Properties) > 0 {
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		add := func(name string) {
			x, ok := a.Properties[name]
			y, both := b.Properties[name]
			p := x
			switch {
			case ok && both:
				p = *m.merge(&x, &y)
			case both:
				p = y
			}
			if !(ok && both) {
				p.Default = nil // the other side does not set the default, and may lack the property
			}
			c.Properties[name] = p
		}
		for name := range a.Properties {
			add(name)
		}
		for name := range b.Properties {
			if _, ok := a.Properties[name]; !ok {
				add(name)
			}
		}
	}
	if a.Items != nil && b.Items != nil {
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: m.merge(a.Items.Schema, b.Items.Schema)}
	} else {
		c.Items = cmp.Or(a.Items, b.Items)
	}
	x, y := a.AdditionalProperties, b.AdditionalProperties
	switch {
	case x != nil && y != nil:
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: both(m.tight, x.Allows, y.Allows)}
		if x.Schema != nil && y.Schema != nil || m.tight {
			c.AdditionalProperties.Schema = m.merge(x.Schema, y.Schema)
		}
	case m.tight:
		c.AdditionalProperties = x
	default:
		c.AdditionalProperties = cmp.Or(x, y)
	}
}
