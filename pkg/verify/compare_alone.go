package verify

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/pkg/schemapath"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
}

// The keys of constraints that have an index.
const (
	ruleKey  = "x-kubernetes-validations"
	allOfKey = "allOf"
)

// String returns the constraint as paths write it: "x-kubernetes-validations[2]",
// "oneOf".
func (c Constraint) String() string {
	if c.Key == ruleKey || c.Key == allOfKey {
		return fmt.Sprintf("%s[%d]", c.Key, c.Index)
	}
	return c.Key
}

// CopyTo writes the constraint of one schema to another, which shares it. It reports
// whether there is such a constraint.
func (c Constraint) CopyTo(to, from *apiextensionsv1.JSONSchemaProps) bool {
	switch {
	case c.Key == ruleKey && c.Index >= 0 && c.Index < len(from.XValidations):
		to.XValidations = append(to.XValidations, from.XValidations[c.Index])
		return true
	case c.Key == allOfKey && c.Index >= 0 && c.Index < len(from.AllOf):
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

// missing returns an error unless there are such constraints on the schema of n,
// each given once.
func missing(n *node, constraints []Constraint) error {
	for i, c := range constraints {
		if !c.CopyTo(&apiextensionsv1.JSONSchemaProps{}, n.schema) {
			return fmt.Errorf("%s has no %s to compare", n.path, c)
		}
		if slices.Contains(constraints[:i], c) {
			return fmt.Errorf("%s of %s is given twice", c, n.path)
		}
	}
	return nil
}

// isolated is a copy of a CRD in which nothing but the given constraints, which
// exist, restricts the object that steps lead to, nor what it lies in, whose other
// properties are left out unless they are required. What its own properties
// restrict stays. The copy shares what it does not change.
func isolated(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, constraints []Constraint) *apiextensionsv1.CustomResourceDefinition {
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	validation := *c.Spec.Versions[version].Schema
	validation.OpenAPIV3Schema = along(validation.OpenAPIV3Schema, path, func(object *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
		alone := unrestricted(object)
		for _, c := range constraints {
			c.CopyTo(alone, object)
		}
		return alone
	})
	c.Spec.Versions[version].Schema = &validation
	return &c
}

// along copies the schemas that a path, which exists, leads through, unrestricted,
// and what do makes of the last.
func along(s *apiextensionsv1.JSONSchemaProps, path schemapath.Path, do func(*apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if len(path) == 0 {
		return do(s)
	}
	c := unrestricted(s)
	name, ok := path[0].Property()
	switch {
	case path[0] == schemapath.Items:
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: along(s.Items.Schema, path[1:], do)}
	case !ok:
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: along(s.AdditionalProperties.Schema, path[1:], do)}
	default:
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for _, required := range s.Required {
			if p, ok := s.Properties[required]; ok {
				c.Properties[required] = p
			}
		}
		p := s.Properties[name]
		c.Properties[name] = *along(&p, path[1:], do)
	}
	return c
}
