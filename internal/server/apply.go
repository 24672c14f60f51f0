package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Applicable returns the answer to a server-side apply that changes nothing, for an object that
// [Kind.Read] returned. The server merges typed values: each field must be in the schema with the
// type of its value, in the version of the object and in each version in metadata.managedFields.
// Versions that the CRD does not have, or that only a webhook converts to, are not checked. The
// server then validates the result like an update; use [Kind.Update] for that.
func (k *Kind) Applicable(object map[string]any) (Answer, error) {
	u := &unstructured.Unstructured{Object: object}
	v, err := k.version(u.GroupVersionKind().Version)
	if err != nil {
		return Answer{}, err
	}
	l, err := v.typed(object, typed.AllowDuplicates)
	for _, name := range Managed(object) {
		other, wrong := k.known(name)
		if wrong == nil && other != v && len(l) == 0 && err == nil && k.crd.Spec.Conversion.Strategy == apiextensionsv1.NoneConverter {
			converted := u.DeepCopy()
			converted.SetAPIVersion(k.crd.Spec.Group + "/" + name) // the server does not prune it here
			l, err = other.typed(converted.Object)
		}
	}
	answer := Answer{Errors: l}
	if len(l) > 0 {
		answer.Refused = apierrors.NewInternalError(l.ToAggregate())
	}
	return answer, err
}

// Managed returns the versions in an object's metadata.managedFields, each once.
func Managed(object map[string]any) []string {
	managed, _, _ := unstructured.NestedFieldNoCopy(object, "metadata", "managedFields") // nil if there are none
	entries, _ := managed.([]any)
	var l []string
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		name, _ := fields["apiVersion"].(string)
		if gv, err := schema.ParseGroupVersion(name); err == nil && !slices.Contains(l, gv.Version) {
			l = append(l, gv.Version)
		}
	}
	return l
}

// typed returns the reasons why an object cannot be merged.
func (v *kindVersion) typed(object map[string]any, opts ...typed.ValidationOptions) (field.ErrorList, error) {
	v.merging.Do(func() { v.types, v.mergingErr = v.typeConverter() })
	if v.mergingErr != nil {
		return nil, v.mergingErr
	}
	_, err := v.types.ObjectToTyped(&unstructured.Unstructured{Object: object}, opts...)
	var wrong typed.ValidationErrors
	if !errors.As(err, &wrong) {
		return nil, err
	}
	var l field.ErrorList
	for _, e := range wrong {
		said, _, _ := strings.Cut(e.ErrorMessage, ", got ") // Go values follow
		l = append(l, field.Invalid(field.NewPath(strings.TrimPrefix(e.Path, ".")), field.OmitValueType{}, fmt.Sprintf("server-side apply in %s: %s", v.Name, said)))
	}
	return l, nil
}

// typeConverter follows buildOpenAPIModelsForApply in the server's pkg/apiserver, without a package
// that depends on a web server. Values in metadata always have their types.
func (v *kindVersion) typeConverter() (managedfields.TypeConverter, error) {
	model := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	if v.structural != nil && len(structuralschema.ValidateStructural(nil, v.structural)) == 0 {
		model = v.structural.ToKubeOpenAPI()
		addObjectFields(model)
		addEmbeddedFields(model)
	}
	model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": v.crd.Spec.Group, "version": v.Name, "kind": v.crd.Spec.Names.Kind}})
	return managedfields.NewTypeConverter(map[string]*spec.Schema{"object": model}, v.crd.Spec.PreserveUnknownFields)
}

func addObjectFields(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty())
	s.SetProperty("kind", *spec.StringProperty())
	s.SetProperty("metadata", spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}})
}

// addEmbeddedFields corresponds to addEmbeddedProperties of pkg/controller/openapi/builder.
func addEmbeddedFields(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		addEmbeddedFields(&p)
		s.Properties[name] = p
	}
	if s.Items != nil {
		addEmbeddedFields(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		addEmbeddedFields(s.AdditionalProperties.Schema)
	}
	if embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); embedded {
		addObjectFields(s)
	}
}
