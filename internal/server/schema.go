package server

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
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

// Defaults returns a function that sets the defaults of a root schema in an object, and removes nulls, as
// the API server does before it validates the object. It does nothing if the schema is not structural.
func Defaults(root *apiextensionsv1.JSONSchemaProps) func(object map[string]any) {
	s, err := Structural(root)
	return func(object map[string]any) {
		if err == nil {
			defaulting.PruneNonNullableNullsWithoutDefaults(object, s)
			defaulting.Default(object, s)
		}
	}
}
