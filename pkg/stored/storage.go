package stored

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// converts reports whether a webhook converts the objects of a CRD. Without one, the same object
// in another version has another apiVersion and lacks the fields that the version does not have.
func (j *Judge) converts() bool {
	return j.crd.Spec.Conversion != nil && j.crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// stored returns a printed object as the API server has it in storage.
func (j *Judge) stored(object map[string]any, v Verdict) (map[string]any, error) {
	now := j
	if j.before != nil {
		now = j.before
	}
	storage := now.kind.Storage()
	_, known := j.rules[storage]
	switch {
	case v.Version == storage || !known:
		return object, nil
	case !now.converts():
		u := unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
		u.SetAPIVersion(j.crd.Spec.Group + "/" + storage)
		return u.Object, nil
	case !j.converts():
		return nil, fmt.Errorf("%s is of version %s, which a webhook has made of the stored version %s", v, v.Version, storage)
	}
	return object, nil
}

// lost returns the paths of fields of a stored object that a write through a version loses: the
// API server drops unknown fields when it decodes the object, and after each conversion.
func (j *Judge) lost(stored map[string]any, version string) []string {
	u := unstructured.Unstructured{Object: stored}
	schemas := []string{u.GroupVersionKind().Version, version, j.kind.Storage()}
	if j.converts() {
		schemas = schemas[:1]
	}
	object := runtime.DeepCopyJSON(stored)
	var l []string
	for _, name := range slices.Compact(schemas) {
		if s := j.structural[name]; s != nil {
			l = append(l, pruning.PruneWithOptions(object, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
		}
	}
	return l
}

// structural returns the schema of a version, or nil if unknown fields are kept.
func structural(crd *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	if crd.Spec.PreserveUnknownFields || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(props)
}
