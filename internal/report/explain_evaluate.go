package report

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
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// schema is a schema in the internal version of the API.
type schema = apiextensions.JSONSchemaProps

func object(name string, property schema) schema {
	return schema{Type: "object", Properties: map[string]schema{name: property}}
}

// judge has the validators of the API server for a resource that consists only of the union object.
type judge struct {
	subject *unionPlan
	schema  validation.SchemaValidator
	rules   validator
}

// judge returns a judge of some constraints alongside the union. If own is set, the judge includes
// the union's own rules.
func (s *unionPlan) judge(own bool, beside ...compile.HandWritten) (*judge, error) {
	on := s.schema
	if present := func(r compile.RulePlan) bool { return r.Present }; len(beside) == 0 && !s.OfItems() && !slices.ContainsFunc(s.plan.Rules, present) {
		on.Properties = s.properties() // hand-written messages may read any property
	}
	on.XValidations, on.AllOf, on.AnyOf, on.OneOf, on.Not, on.MinProperties, on.MaxProperties = nil, nil, nil, nil, nil, nil, nil
	for _, b := range beside {
		b.Constraint.CopyTo(&on, &s.schema)
	}
	if own {
		on.XValidations = append(on.XValidations, s.rulesAt(s.plan.Place)...)
	}
	if n := len(on.AllOf); n > 0 && n < len(s.schema.AllOf) {
		// The API server reports whether no schema of the allOf holds. The omitted schemas hold.
		on.AllOf = append(on.AllOf, apiextensionsv1.JSONSchemaProps{})
	}
	// Hand-written rules come first, as in the result. The union may use them as its own rules.
	at := map[string]int{}
	for i, r := range s.schema.XValidations {
		at[r.Rule] = i - len(s.schema.XValidations)
	}
	slices.SortStableFunc(on.XValidations, func(a, b apiextensionsv1.ValidationRule) int { return at[a.Rule] - at[b.Rule] })
	var whole schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&on, &whole, nil); err != nil {
		return nil, err
	}
	j := &judge{subject: s}
	var err error
	if j.rules, err = newValidator(whole, on.XValidations, len(s.plan.Place.Path) == 0); err != nil {
		return nil, err
	}
	for _, step := range slices.Backward(s.plan.Place.Path) {
		inner := whole
		switch name, ok := step.Property(); {
		case ok:
			whole = object(name, inner)
		case step == schemapath.Items:
			whole = schema{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &inner}}
		default:
			whole = schema{Type: "object", AdditionalProperties: &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &inner}}
		}
	}
	j.schema, _, err = validation.NewSchemaValidator(&whole)
	return j, err
}

// properties returns the properties that the union's own rules read. Fields below these properties
// may be large, and are omitted unless a rule reads them.
func (s *unionPlan) properties() map[string]apiextensionsv1.JSONSchemaProps {
	only := s.schema
	only.Properties = nil
	if s.Discriminator != "" {
		keep(&only, &s.schema, s.Path(s.Discriminator), s.written)
	}
	for _, m := range s.Members {
		path := s.Path(m.Name)
		p := *path.Schema(&s.schema)
		all := p.Properties
		p.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		for _, f := range m.Fields {
			p.Properties[f] = all[f]
		}
		keep(&only, &s.schema, path, p)
	}
	return only.Properties
}

// keep copies the schema of a property, and the schemas on the path to it, into another schema.
func keep(into, from *apiextensionsv1.JSONSchemaProps, path schemapath.Path, p apiextensionsv1.JSONSchemaProps) {
	name, _ := path[0].Property()
	if len(path) > 1 {
		holder, ok := into.Properties[name]
		if !ok {
			holder = from.Properties[name]
			holder.Properties = nil
		}
		keep(&holder, path[0].Schema(from), path[1:], p)
		p = holder
	}
	if into.Properties == nil {
		into.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	into.Properties[name] = p
}

// trial is a resource with its union object. old is the union object before an update.
type trial struct {
	resource    map[string]any
	old, object any
}

// errors returns the errors for a union object, in the order and format of kubectl. The schema
// never ratchets a changed union object, so schema errors do not depend on the old object.
func (j *judge) errors(o trial) []string {
	found := validation.ValidateCustomResource(nil, o.resource, j.schema)
	l := lines(found)
	switch {
	case !server.Blocked(found):
		l = append(l, j.rules.errors(j.subject.path, o.old, o.object)...)
	case j.subject.ruled:
		l = append(l, plainText(server.NotEvaluated.Error()))
	}
	return l
}

// lines returns errors as kubectl prints them, without duplicates.
func lines(errs field.ErrorList) []string {
	l := []string{}
	for _, e := range errs {
		if line := plainText(e.Error()); !slices.Contains(l, line) {
			l = append(l, line)
		}
	}
	return l
}

// validator is the API server's validator of rules. The zero value has no rules.
type validator struct{ *schemacel.Validator }

// newValidator returns a validator of rules on a schema. It ignores rules in the properties. root
// is set for the schema of a resource.
func newValidator(on schema, of []apiextensionsv1.ValidationRule, root bool) (validator, error) {
	structural, err := structuralschema.NewStructural(&on)
	if err != nil {
		return validator{}, err
	}
	(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		s.XValidations = nil
		return true
	}}).Visit(structural)
	structural.XValidations = of
	return validator{schemacel.NewValidator(structural, root, celconfig.PerCallLimit)}, nil
}

// errors returns the errors of the rules for an object at a path. old is nil for a creation.
func (v validator) errors(path *field.Path, old, new any) []string {
	if v.Validator == nil {
		return nil
	}
	errs, _ := v.sparse(old, new).Validate(context.Background(), path, nil, new, old, math.MaxInt64)
	return lines(errs)
}

// sparse returns v with a schema that has only the properties of some objects. This does not change
// the result. But the API server copies the map of all properties whenever a rule reads one of
// them, which takes most of the time for a large union.
func (v validator) sparse(objects ...any) *schemacel.Validator {
	all := *v.Schema
	all.Properties = map[string]structuralschema.Structural{}
	for _, o := range objects {
		fields, _ := o.(map[string]any)
		for name := range maps.Keys(fields) {
			if p, ok := v.Schema.Properties[name]; ok {
				all.Properties[name] = p
			}
		}
	}
	reduced := *v.Validator
	reduced.Schema = &all
	return &reduced
}
