package formula

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// maxDepth bounds the nesting of keywords.
const maxDepth = 64

// Schema returns the formula that the value at p satisfies the keywords of a schema: required,
// properties, enum, allOf, anyOf, oneOf, not, minProperties and the like. The value must exist;
// null counts as a value. Rules are ignored.
func (s *Space) Schema(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	return s.keywords(k, p, 0)
}

func (s *Space) keywords(k *apiextensionsv1.JSONSchemaProps, p *Place, depth int) logic.Lit {
	if depth > maxDepth || s.Len() > maxGates {
		return s.unread(k, p, "schemas")
	}
	var all []logic.Lit
	add := func(l logic.Lit) { all = append(all, l) }
	switch {
	case p.Schema == nil || p.Schema.Type == "":
		return s.unread(k, p, "schemas")
	case p.Schema.Type == "object": // these keywords do not apply to other types
		for _, name := range k.Required {
			add(p.Child(name).Key())
		}
		for _, name := range sortedKeys(k.Properties) {
			sub := k.Properties[name]
			c := p.Child(name)
			add(s.Implies(c.present, s.keywords(&sub, c, depth+1)))
			if c.null != logic.False {
				add(s.Implies(c.null, s.ofNull(&sub, c)))
			}
		}
		add(s.counted(k, p))
	}
	add(s.enum(k, p))
	for i := range k.AllOf {
		add(s.keywords(&k.AllOf[i], p, depth+1))
	}
	if len(k.AnyOf) > 0 {
		add(s.branches(k.AnyOf, p, depth, 1)[1])
	}
	if len(k.OneOf) > 0 {
		counts := s.branches(k.OneOf, p, depth, 2)
		add(s.And(counts[1], counts[2].Not()))
	}
	if k.Not != nil {
		add(s.keywords(k.Not, p, depth+1).Not())
	}
	add(s.rest(k, p))
	return s.And(all...)
}

// branches returns, by index up to n, the formulas that at least that many of the schemas accept p.
func (s *Space) branches(l []apiextensionsv1.JSONSchemaProps, p *Place, depth, n int) []logic.Lit {
	var accept []logic.Lit
	for i := range l {
		accept = append(accept, s.keywords(&l[i], p, depth+1))
	}
	return s.AtLeast(n, accept)
}

// ofNull returns the formula that null satisfies the keywords.
func (s *Space) ofNull(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	if isAny(k) {
		return logic.True
	}
	holder := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{p.Name: *k}}
	return s.ask(Question{Schema: holder, At: p.Parent, Reads: []*Place{p}, What: "null"})
}

// isAny reports whether a schema accepts every value.
func isAny(k *apiextensionsv1.JSONSchemaProps) bool {
	c := *k
	c.Description = ""
	return equalSchemas(&c, &apiextensionsv1.JSONSchemaProps{})
}

func equalSchemas(a, b *apiextensionsv1.JSONSchemaProps) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

func (s *Space) enum(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	if k.Enum == nil {
		return logic.True
	}
	values, ok := scalars(k)
	if !ok || p.Schema.Type == "number" && len(values) > 0 {
		return s.unread(&apiextensionsv1.JSONSchemaProps{Enum: k.Enum}, p, "enum")
	}
	found := logic.False // p is not null
	for _, v := range values {
		found = s.Or(found, p.Equals(v))
	}
	return found
}

// counted translates minProperties and maxProperties.
func (s *Space) counted(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	if k.MinProperties == nil && k.MaxProperties == nil {
		return logic.True
	}
	schema := p.Schema
	if len(schema.Properties) == 0 || schema.AdditionalProperties != nil || schema.XPreserveUnknownFields != nil || schema.XEmbeddedResource {
		if k.MaxProperties == nil && *k.MinProperties == 1 {
			return p.Empty().Not()
		}
		return s.unread(&apiextensionsv1.JSONSchemaProps{MinProperties: k.MinProperties, MaxProperties: k.MaxProperties}, p, "minProperties and maxProperties")
	}
	var keys []logic.Lit
	for _, name := range sortedKeys(schema.Properties) {
		keys = append(keys, p.Child(name).Key())
	}
	atLeast := func(n int64) logic.Lit {
		switch {
		case n <= 0:
			return logic.True
		case n > int64(len(keys)):
			return logic.False
		}
		return s.AtLeast(int(n), keys)[n]
	}
	holds := logic.True
	if k.MinProperties != nil {
		holds = atLeast(*k.MinProperties)
	}
	if k.MaxProperties != nil {
		holds = s.And(holds, atLeast(max(*k.MaxProperties, -1)+1).Not())
	}
	return holds
}

// rest translates the keywords for a single value.
func (s *Space) rest(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	only := apiextensionsv1.JSONSchemaProps{
		Pattern: k.Pattern, Format: k.Format, MinLength: k.MinLength, MaxLength: k.MaxLength, Minimum: k.Minimum, Maximum: k.Maximum,
		ExclusiveMinimum: k.ExclusiveMinimum, ExclusiveMaximum: k.ExclusiveMaximum, MultipleOf: k.MultipleOf, MinItems: k.MinItems, MaxItems: k.MaxItems,
		UniqueItems: k.UniqueItems, Items: k.Items, AdditionalProperties: k.AdditionalProperties,
	}
	holds := logic.True
	switch p.Schema.Type {
	case "string":
		if only.MinLength != nil && *only.MinLength == 1 {
			holds, only.MinLength = s.And(holds, p.Empty().Not()), nil
		}
		if only.MaxLength != nil && *only.MaxLength == 0 {
			holds, only.MaxLength = s.And(holds, p.Empty()), nil
		}
	case "array":
		if only.MinItems != nil && *only.MinItems == 1 {
			holds, only.MinItems = s.And(holds, p.Empty().Not()), nil
		}
	}
	if k.Type != "" && k.Type != p.Schema.Type {
		only.Type = k.Type
	}
	if isAny(&only) {
		return holds
	}
	return s.And(holds, s.unread(&only, p, "values"))
}

// unread returns a question for unsupported keywords.
func (s *Space) unread(k *apiextensionsv1.JSONSchemaProps, p *Place, what string) logic.Lit {
	return s.ask(Question{Schema: k, At: p, Reads: []*Place{p}, What: what})
}

func (s *Space) ask(q Question) logic.Lit {
	asked := s.question(q)
	s.Require(asked.Fails.Lit.Not())
	return asked.Holds.Lit
}

// Unread returns the formula that the value at p satisfies keywords if it exists. Only the API
// server evaluates these keywords.
func (s *Space) Unread(k *apiextensionsv1.JSONSchemaProps, p *Place) logic.Lit {
	return s.Implies(p.present, s.unread(k, p, "values"))
}

// Unknown returns a question about the value at p that cannot be evaluated.
func (s *Space) Unknown(p *Place) logic.Lit {
	return s.ask(Question{At: p, Reads: []*Place{p}, What: "values"})
}
