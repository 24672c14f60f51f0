package judge

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structurallisttype "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/features"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// strategy validates the objects of one version of a CRD, like the types of that name in
// pkg/registry/customresource. The server shares the validators among its requests, so they are
// safe for concurrent use.
type strategy struct {
	minor            int
	apiVersion, kind string
	hasStatus        bool // the status subresource

	structural      *structuralschema.Structural
	schemaValidator validation.SchemaValidator
	statusValidator validation.SchemaValidator
	celValidator    *cel.Validator
}

// newStrategy mirrors getOrCreateServingInfoFor in pkg/apiserver/customresource_handler.go for a
// version. The version "" is the first served one.
func newStrategy(minor int, crd *apiextensionsv1.CustomResourceDefinition, version string) (*strategy, error) {
	for _, v := range crd.Spec.Versions {
		if v.Served && (version == "" || v.Name == version) {
			return newVersionStrategy(minor, crd, v.Name)
		}
	}
	return nil, fmt.Errorf("the CRD serves no version %q", version)
}

func newVersionStrategy(minor int, crd *apiextensionsv1.CustomResourceDefinition, version string) (*strategy, error) {
	s := &strategy{
		minor:      minor,
		apiVersion: crd.Spec.Group + "/" + version,
		kind:       crd.Spec.Names.Kind,
	}
	external, err := apihelpers.GetSchemaForVersion(crd, version)
	if err != nil {
		return nil, fmt.Errorf("find the schema: %w", err)
	}
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(external, internal, nil); err != nil {
		return nil, fmt.Errorf("convert the schema: %w", err)
	}

	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, fmt.Errorf("make the schema structural: %w", err)
	}
	s.structural = structural.DeepCopy()
	if err := structuraldefaulting.PruneDefaults(s.structural); err != nil {
		return nil, fmt.Errorf("prune defaults: %w", err)
	}

	if s.schemaValidator, _, err = validation.NewSchemaValidator(internal.OpenAPIV3Schema); err != nil {
		return nil, fmt.Errorf("make the schema's validator: %w", err)
	}
	subresources, err := apihelpers.GetSubresourcesForVersion(crd, version)
	if err != nil {
		return nil, fmt.Errorf("find the subresources: %w", err)
	}
	if subresources != nil && subresources.Status != nil {
		s.hasStatus = true
		if status, ok := internal.OpenAPIV3Schema.Properties["status"]; ok {
			if s.statusValidator, _, err = validation.NewSchemaValidator(&status); err != nil {
				return nil, fmt.Errorf("make the validator of status: %w", err)
			}
		}
	}
	s.celValidator = cel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	return s, nil
}

// create mirrors customResourceStrategy.PrepareForCreate and Validate.
func (s *strategy) create(o *resource) []Error {
	if o.sent == nil {
		return badRequest(o)
	}
	obj := o.sent
	if s.hasStatus {
		obj = maps.Clone(obj)
		delete(obj, "status")
	}

	errs := validation.ValidateCustomResource(nil, obj, s.schemaValidator)
	fields := schemaFields(errs, "", "")
	errs = append(errs, validateEmbedded(obj, s.structural)...)
	errs = append(errs, structurallisttype.ValidateListSetsAndMaps(nil, s.structural, obj)...)
	return list(s.withRules(errs, obj, nil), fields)
}

// update mirrors customResourceStrategy.PrepareForUpdate and ValidateUpdate.
func (s *strategy) update(o, before *resource) []Error {
	if o.sent == nil {
		return badRequest(o)
	}
	obj, old := o.sent, before.stored
	if s.hasStatus {
		obj = withStatus(obj, old)
	}

	schemaOptions, celOptions := s.ratcheting(obj, old)
	errs := validation.ValidateCustomResourceUpdate(nil, obj, old, s.schemaValidator, schemaOptions...)
	fields := schemaFields(errs, "", "")
	errs = append(errs, validateEmbedded(obj, s.structural)...)
	errs = append(errs, s.listTypes(obj, old)...)
	return list(s.withRules(errs, obj, old, celOptions...), fields)
}

// updateStatus mirrors statusStrategy.PrepareForUpdate and ValidateUpdate, and
// customResourceValidator.ValidateStatusUpdate. It returns an error if the CRD has no status
// subresource.
func (s *strategy) updateStatus(o, before *resource) []Error {
	if !s.hasStatus {
		const text = "the CRD has no status subresource"
		return []Error{{Type: "NotFound", Message: text, Text: text}}
	}
	if o.sent == nil {
		return badRequest(o)
	}
	old := before.stored
	obj := withStatus(old, o.sent)

	// Until 1.32 there was no ratcheting here. Until 1.30 the fields of schema errors had no
	// "status" prefix.
	var schemaOptions []validation.ValidationOption
	var celOptions []cel.Option
	if s.minor >= 33 {
		schemaOptions, celOptions = s.ratcheting(obj, old, "status")
	}
	path, prefix := field.NewPath("status"), "status"
	if s.minor <= 30 {
		path, prefix = nil, ""
	}

	var errs field.ErrorList
	if status, ok := obj["status"]; ok {
		errs = append(errs, validation.ValidateCustomResourceUpdate(path, status, old["status"], s.statusValidator, schemaOptions...)...)
	}
	fields := schemaFields(errs, prefix, "status")
	errs = append(errs, s.listTypes(obj, old)...)
	return list(s.withRules(errs, obj, old, celOptions...), fields)
}

// withStatus returns obj with the status of another object, or without a status if that has none.
func withStatus(obj, other map[string]any) map[string]any {
	obj = maps.Clone(obj)
	if status, ok := other["status"]; ok {
		obj["status"] = status
	} else {
		delete(obj, "status")
	}
	return obj
}

// listTypes validates sets and maps in lists, unless the old object is invalid.
func (s *strategy) listTypes(obj, old map[string]any) field.ErrorList {
	errs := structurallisttype.ValidateListSetsAndMaps(nil, s.structural, obj)
	if len(errs) > 0 && len(structurallisttype.ValidateListSetsAndMaps(nil, s.structural, old)) > 0 {
		return nil
	}
	return errs
}

// withRules appends the errors of CEL rules, or an error that says why the rules were not
// evaluated. It mirrors hasBlockingErr in customResourceStrategy.Validate and ValidateUpdate.
func (s *strategy) withRules(errs field.ErrorList, obj, old map[string]any, options ...cel.Option) field.ErrorList {
	if s.celValidator == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	var oldObj any // a nil interface on create, as Validate passes it
	if old != nil {
		oldObj = old
	}
	failed, _ := s.celValidator.Validate(context.Background(), nil, s.structural, obj, oldObj, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, failed...)
}

// ratcheting correlates an object with its old self. The OpenAPI schema applies to the value at the
// keys. Each update needs a new correlation, because comparisons are cached.
func (s *strategy) ratcheting(obj, old map[string]any, keys ...string) ([]validation.ValidationOption, []cel.Option) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.CRDValidationRatcheting) {
		return nil, nil
	}
	root := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: s.structural})
	value := root
	for _, key := range keys {
		value = value.Key(key)
	}
	return []validation.ValidationOption{validation.WithRatcheting(value)}, []cel.Option{cel.WithRatcheting(root)}
}

// validateEmbedded calls schemaobjectmeta.Validate, which takes a context since 1.37.
func validateEmbedded(obj map[string]any, s *structuralschema.Structural) field.ErrorList {
	switch validate := any(schemaobjectmeta.Validate).(type) {
	case func(*field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(nil, obj, s, false)
	case func(context.Context, *field.Path, any, *structuralschema.Structural, bool) field.ErrorList:
		return validate(context.Background(), nil, obj, s, false)
	default:
		panic(fmt.Sprintf("schemaobjectmeta.Validate is a %T", validate))
	}
}

// badRequest returns the error that rejects a malformed object.
func badRequest(o *resource) []Error {
	return []Error{{Type: "BadRequest", Message: o.malformed, Text: o.malformed}}
}

// schemaFields returns the fields of errors of the OpenAPI schema. prefix precedes the fields of
// the errors and is replaced by at, the path of the validated value. For oneOf, anyOf, allOf and
// not, the rest of the path is only in the message: "spec.u" must validate one and only one schema
// (oneOf).
func schemaFields(errs field.ErrorList, prefix, at string) []string {
	var fields []string
	for _, err := range errs {
		below := ""
		if err.Field != noField {
			below = strings.TrimPrefix(strings.TrimPrefix(err.Field, prefix), ".")
		}
		if quoted, unquotedErr := strconv.QuotedPrefix(err.Detail); below == "" && unquotedErr == nil {
			below, _ = strconv.Unquote(quoted)
		}
		fields = append(fields, strings.Trim(at+"."+below, "."))
	}
	return fields
}

// noField is the field of errors without a path.
var noField = (*field.Path)(nil).String()

// list converts the server's errors. The first errors have the given fields.
func list(errs field.ErrorList, fields []string) []Error {
	all := make([]Error, 0, len(errs))
	for i, err := range errs {
		e := Error{Field: err.Field, Type: string(err.Type), Message: err.Detail, Text: err.Error()}
		if i < len(fields) {
			e.Field = fields[i]
		} else if e.Field == noField {
			e.Field = ""
		}
		all = append(all, e)
	}
	return all
}
