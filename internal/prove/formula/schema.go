package formula

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
)

// Structural converts a schema to a structural schema.
func Structural(s *apiextensionsv1.JSONSchemaProps) (*structuralschema.Structural, error) {
	in, err := Internal(s)
	if err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(in)
}

// Internal converts a schema to the API server's internal type.
func Internal(s *apiextensionsv1.JSONSchemaProps) (*apiextensions.JSONSchemaProps, error) {
	out := &apiextensions.JSONSchemaProps{}
	return out, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, out, nil)
}

// KeepsUnknown reports whether a schema, which may be nil, has x-kubernetes-preserve-unknown-fields.
func KeepsUnknown(s *apiextensionsv1.JSONSchemaProps) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// Validator returns the API server's validator for the keywords of a schema.
func Validator(s *apiextensionsv1.JSONSchemaProps) (apiservervalidation.SchemaValidator, error) {
	in, err := Internal(s)
	if err != nil {
		return nil, err
	}
	v, _, err := apiservervalidation.NewSchemaValidator(in)
	return v, err
}

// Pruned returns a copy of s that has only the properties on or below one of the paths, and no
// rules. The copy is equivalent for rules that read no other properties. It shares unchanged parts.
func Pruned(s *apiextensionsv1.JSONSchemaProps, paths [][]string) *apiextensionsv1.JSONSchemaProps {
	c := *s
	c.XValidations = nil
	c.AllOf, c.AnyOf, c.OneOf, c.Not = nil, nil, nil, nil
	c.Default, c.Example = nil, nil
	whole := slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 })
	if s.Properties != nil {
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	for name, p := range s.Properties {
		var below [][]string
		for _, path := range paths {
			if len(path) > 0 && path[0] == name {
				below = append(below, path[1:])
			}
		}
		if whole {
			below = [][]string{nil}
		}
		if len(below) > 0 {
			c.Properties[name] = *Pruned(&p, below)
		}
	}
	all := [][]string{nil}
	if s.Items != nil && s.Items.Schema != nil {
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: Pruned(s.Items.Schema, all)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: Pruned(s.AdditionalProperties.Schema, all)}
	}
	return &c
}
