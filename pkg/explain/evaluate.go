package explain

import (
	"context"
	"maps"
	"math"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// notChecked is the API server's error in place of those of rules, which it does
// not evaluate on an object that has an error of some types.
var notChecked = field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")

var blocking = []field.ErrorType{
	field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid,
}

// judge has the validators that the API server would have for a union object, if the
// resource consisted of nothing else.
type judge struct {
	subject *subject
	schema  validation.SchemaValidator
	rules   validator
}

// judge returns that of some of the constraints beside the union; with the union's own
// rules, and the schema in their place, or without.
func (s *subject) judge(own bool, beside ...compile.Beside) (*judge, error) {
	on, err := s.sampleSchema()
	if err != nil {
		return nil, err
	}
	var written apiextensionsv1.JSONSchemaProps
	for _, b := range beside {
		b.CopyTo(&written)
	}
	of := written.XValidations
	if own {
		of = append(of, s.rulesAt(s.plan.Place)...)
		if s.allOf != nil {
			written.AllOf = append(slices.Clip(written.AllOf), *s.allOf)
		}
	}
	if n := len(written.AllOf); n > 0 && n < s.allOfs() {
		// The API server says when none of them holds; those that are left out do.
		written.AllOf = append(slices.Clip(written.AllOf), apiextensionsv1.JSONSchemaProps{})
	}
	// In the order of the result: hand-written ones, which may be used as the union's, come first.
	at := map[string]int{}
	for i, r := range s.schema.XValidations {
		at[r.Rule] = i - len(s.schema.XValidations)
	}
	slices.SortStableFunc(of, func(a, b apiextensionsv1.ValidationRule) int { return at[a.Rule] - at[b.Rule] })
	written.XValidations = nil
	var added schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &added, nil); err != nil {
		return nil, err
	}
	restrict(&on, added)
	read := on
	present := func(r compile.RulePlan) bool { return r.Present }
	if len(beside) > 0 || own && slices.ContainsFunc(s.plan.Rules, present) { // hand-written messages may read any property
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&s.schema, &read, nil); err != nil {
			return nil, err
		}
		restrict(&read, added)
	}
	j := &judge{subject: s}
	if j.rules, err = newValidator(read, of); err != nil {
		return nil, err
	}
	for _, step := range slices.Backward(s.plan.Place.Path) {
		inner := on
		switch name, ok := step.Property(); {
		case ok:
			on = object(map[string]schema{name: inner})
		case step == schemapath.Items:
			on = schema{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &inner}}
		default:
			on = schema{Type: "object", AdditionalProperties: &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &inner}}
		}
	}
	j.schema, _, err = validation.NewSchemaValidator(&on)
	return j, err
}

// allOfs is how many schemas the allOf of the union object has in the result.
func (s *subject) allOfs() int {
	n := len(s.schema.AllOf)
	if s.allOf != nil && !slices.ContainsFunc(s.schema.AllOf, func(o apiextensionsv1.JSONSchemaProps) bool { return equality.Semantic.DeepEqual(o, *s.allOf) }) {
		n++
	}
	return n
}

// restrict gives a schema the constraints of another, but for rules.
func restrict(to *schema, from schema) {
	to.AllOf, to.AnyOf, to.OneOf, to.Not = from.AllOf, from.AnyOf, from.OneOf, from.Not
	to.MinProperties, to.MaxProperties = from.MinProperties, from.MaxProperties
}

// resource wraps a union object in all that is above it.
func (s *subject) resource(o map[string]any) any {
	var r any = o
	for _, step := range slices.Backward(s.plan.Place.Path) {
		switch name, ok := step.Property(); {
		case ok:
			r = map[string]any{name: r}
		case step == schemapath.Items:
			r = []any{r}
		default:
			r = map[string]any{sampleKey: r}
		}
	}
	return r
}

// errors returns the errors for a union object, in the order and as kubectl
// prints them; with old nil for its creation. A change of the union object is
// none that the schema forgives, so there the old one does not matter.
func (j *judge) errors(old, new map[string]any) []string {
	found := validation.ValidateCustomResource(nil, j.subject.resource(new), j.schema)
	l := lines(found)
	switch {
	case !slices.ContainsFunc(found, func(e *field.Error) bool { return slices.Contains(blocking, e.Type) }):
		l = append(l, j.rules.errors(j.subject.path, old, new)...)
	case j.subject.ruled:
		l = append(l, plain(notChecked.Error()))
	}
	return l
}

// lines are errors as kubectl prints them, each once.
func lines(errs field.ErrorList) []string {
	l := []string{}
	for _, e := range errs {
		if line := plain(e.Error()); !slices.Contains(l, line) {
			l = append(l, line)
		}
	}
	return l
}

// validator is the API server's own for rules; nil has none.
type validator struct{ *schemacel.Validator }

// newValidator returns that of rules on a schema, without the rules in its properties.
func newValidator(on schema, of []apiextensionsv1.ValidationRule) (validator, error) {
	structural, err := structuralschema.NewStructural(&on)
	if err != nil {
		return validator{}, err
	}
	(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		s.XValidations = nil
		return true
	}}).Visit(structural)
	structural.XValidations = of
	return validator{schemacel.NewValidator(structural, false, celconfig.PerCallLimit)}, nil
}

// errors returns the errors of the rules for an object at a path; with old nil
// for its creation.
func (v validator) errors(path *field.Path, old, new map[string]any) []string {
	if v.Validator == nil {
		return nil
	}
	var before any
	if old != nil {
		before = old
	}
	errs, _ := v.sparse(old, new).Validate(context.Background(), path, nil, new, before, math.MaxInt64)
	return lines(errs)
}

// sparse returns v with a schema that has only the properties of some objects.
// Rules see the same, but whenever one looks at a property the API server copies
// the map of all: for a large union that takes most of the time.
func (v validator) sparse(objects ...map[string]any) *schemacel.Validator {
	all := *v.Schema
	all.Properties = map[string]structuralschema.Structural{}
	for _, o := range objects {
		for name := range maps.Keys(o) {
			if p, ok := v.Schema.Properties[name]; ok {
				all.Properties[name] = p
			}
		}
	}
	reduced := *v.Validator
	reduced.Schema = &all
	return &reduced
}
