package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Constraint is something hand-written on one schema that restricts which
// properties are set together.
type Constraint struct {
	// Key is that of the schema: "x-kubernetes-validations", "allOf", "anyOf",
	// "oneOf", "not", "minProperties" or "maxProperties".
	Key string
	// Index is that of the rule in x-kubernetes-validations, or of the item in
	// allOf; else 0.
	Index int
	// Above is how many schemas further up it stands: 0 is the schema of the union
	// itself, 1 the one that has it as a property, item or value. Only rules may stand
	// further up.
	Above int
}

// String returns the constraint as paths write it: "x-kubernetes-validations[2]",
// "oneOf", "../x-kubernetes-validations[2]".
func (c Constraint) String() string {
	up := strings.Repeat("../", c.Above)
	if c.Key == sample.RuleKey || c.Key == sample.AllOfKey {
		return fmt.Sprintf("%s%s[%d]", up, c.Key, c.Index)
	}
	return up + c.Key
}

// CopyTo writes the constraint of one schema to another, which shares it. It reports
// whether there is such a constraint.
func (c Constraint) CopyTo(to, from *apiextensionsv1.JSONSchemaProps) bool {
	switch {
	case c.Key == sample.RuleKey && c.Index >= 0 && c.Index < len(from.XValidations):
		to.XValidations = append(to.XValidations, from.XValidations[c.Index])
		return true
	case c.Key == sample.AllOfKey && c.Index >= 0 && c.Index < len(from.AllOf):
		to.AllOf = append(to.AllOf, from.AllOf[c.Index])
		return true
	case c.Index != 0:
		return false
	case c.Key == "anyOf":
		to.AnyOf = from.AnyOf
		return len(to.AnyOf) > 0
	case c.Key == "oneOf":
		to.OneOf = from.OneOf
		return len(to.OneOf) > 0
	case c.Key == "not":
		to.Not = from.Not
		return to.Not != nil
	case c.Key == "minProperties":
		to.MinProperties = from.MinProperties
		return to.MinProperties != nil
	case c.Key == "maxProperties":
		to.MaxProperties = from.MaxProperties
		return to.MaxProperties != nil
	}
	return false
}

// unrestricted is a copy of s without anything that restricts more than one value
// in it. It shares what it does not change.
func unrestricted(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	c := *s
	c.XValidations, c.AllOf, c.AnyOf, c.OneOf, c.Not, c.MinProperties, c.MaxProperties = nil, nil, nil, nil, nil, nil, nil
	return &c
}

// missing returns an error unless there are such constraints on the union object's schema,
// or further up, each given once.
func missing(c *sample.Chain, constraints []Constraint) error {
	for i, k := range constraints {
		if k.Above < 0 || k.Above >= len(c.Schemas) || k.Above > 0 && k.Key != sample.RuleKey {
			return fmt.Errorf("%s has no %s to compare", c.Object().Path, k)
		}
		n := c.Schemas[len(c.Schemas)-1-k.Above]
		if !k.CopyTo(&apiextensionsv1.JSONSchemaProps{}, n.Props) {
			return fmt.Errorf("%s has no %s to compare", n.Path, k)
		}
		if slices.Contains(constraints[:i], k) {
			return fmt.Errorf("%s of %s is given twice", k, n.Path)
		}
	}
	return nil
}

// isolated is a copy of a CRD in which nothing but the given constraints, which
// exist, restricts the object that steps lead to, nor what it lies in, whose other
// properties are left out unless they are required or may be read. What its own properties
// restrict stays. The copy shares what it does not change.
func isolated(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, constraints []Constraint) *apiextensionsv1.CustomResourceDefinition {
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	validation := *c.Spec.Versions[version].Schema
	validation.OpenAPIV3Schema = along(validation.OpenAPIV3Schema, path, constraints)
	c.Spec.Versions[version].Schema = &validation
	return &c
}

// along copies the schemas that a path, which exists, leads through, with nothing but
// their own of the constraints.
func along(s *apiextensionsv1.JSONSchemaProps, path schemapath.Path, constraints []Constraint) *apiextensionsv1.JSONSchemaProps {
	c := unrestricted(s)
	for _, k := range constraints {
		if k.Above == len(path) {
			k.CopyTo(c, s)
		}
	}
	if len(path) == 0 {
		return c
	}
	name, ok := path[0].Property()
	switch {
	case path[0] == schemapath.Items:
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: along(s.Items.Schema, path[1:], constraints)}
	case !ok:
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: along(s.AdditionalProperties.Schema, path[1:], constraints)}
	default:
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for _, other := range slices.Concat(s.Required, mentioned(c)) {
			if p, ok := s.Properties[other]; ok {
				c.Properties[other] = p
			}
		}
		p := s.Properties[name]
		c.Properties[name] = *along(&p, path[1:], constraints)
	}
	return c
}

// mentioned are the properties of s that its rules read.
func mentioned(s *apiextensionsv1.JSONSchemaProps) []string {
	var names []string
	for _, r := range s.XValidations {
		rule, err := formula.Parse(r.Rule)
		if err != nil {
			continue // it is not evaluated, either
		}
		for _, path := range rule.Paths {
			if len(path) == 0 {
				return slices.Collect(maps.Keys(s.Properties))
			}
			names = append(names, path[0])
		}
	}
	return names
}
