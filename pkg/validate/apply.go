package validate

import (
	"errors"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Applicable answers a server-side apply to an object in storage that would change nothing. The
// server merges typed values: each value must have its type in the schema, in the version of the
// request and in each version that metadata.managedFields name. Versions that the CRD does not
// have are left out, and so are those that only a webhook converts to. Validation of the result
// is that of [Kind.Update].
//
// The error is that of [Kind.Read].
func (k *Kind) Applicable(object map[string]any, version string) (Answer, error) {
	v, err := k.version(version)
	if err != nil {
		return Answer{}, err
	}
	live, err := k.Read(object, version)
	if err != nil {
		return Answer{}, err
	}
	l, err := v.typed(live, typed.AllowDuplicates)
	managed, _, _ := unstructured.NestedFieldNoCopy(live, "metadata", "managedFields") // nil if there are none
	entries, _ := managed.([]any)
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		name, _ := fields["apiVersion"].(string)
		gv, wrong := schema.ParseGroupVersion(name)
		if wrong != nil || gv.Version == version || len(l) > 0 || err != nil {
			continue
		}
		other, wrong := k.known(gv.Version)
		converted := runtime.DeepCopyJSON(live)
		if wrong == nil && k.stored(converted, other) == nil {
			l, err = other.typed(converted)
		}
	}
	answer := Answer{Errors: l}
	if len(l) > 0 {
		answer.Refused = apierrors.NewInternalError(l.ToAggregate())
	}
	return answer, err
}

// typed returns why an object cannot be merged.
func (v *version) typed(object map[string]any, opts ...typed.ValidationOptions) (field.ErrorList, error) {
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
		said, _, _ := strings.Cut(e.ErrorMessage, ", got ") // which prints Go values
		l = append(l, field.Invalid(field.NewPath(strings.TrimPrefix(e.Path, ".")), field.OmitValueType{}, "server-side apply: "+said))
	}
	return l, nil
}

// typeConverter does what buildOpenAPIModelsForApply in pkg/apiserver does, whose package comes
// with a web server. metadata has always the types that it should have.
func (v *version) typeConverter() (managedfields.TypeConverter, error) {
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

// addEmbeddedFields is addEmbeddedProperties of pkg/controller/openapi/builder.
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
