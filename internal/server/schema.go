package server

import (
	"fmt"

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

// Defaulted returns a CRD as the API server reads it on creation: with defaults, and without a status.
// It shares most of its content with crd.
func Defaulted(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	out := &apiextensionsv1.CustomResourceDefinition{TypeMeta: crd.TypeMeta, ObjectMeta: crd.ObjectMeta, Spec: crd.Spec}
	out.Spec.Conversion = crd.Spec.Conversion.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(out)
	return out
}

// InternalCRD returns a CRD in the type that the API server validates on creation. It shares most of
// its content with crd.
func InternalCRD(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(Defaulted(crd), out, nil); err != nil {
		return nil, fmt.Errorf("convert to the API server's internal version: %w", err)
	}
	return out, nil
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
