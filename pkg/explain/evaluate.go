package explain

import (
	"context"
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// validator is the API server's own; nil has no rules.
type validator struct{ *schemacel.Validator }

// validator returns that of the union's rules on a place, from which links lead
// to the union object. All that a rule of a union reads is whether members are
// set and the discriminator, so a schema with just these is enough.
func (s *subject) validator(at compile.Place, links []string) validator {
	schema := s.sampleSchema()
	for i := len(links) - 1; i >= 0; i-- {
		schema = object(map[string]structuralschema.Structural{links[i]: schema})
	}
	for _, r := range s.rulesAt(at) {
		schema.XValidations = append(schema.XValidations, validationRule(r))
	}
	return validator{schemacel.NewValidator(&schema, false, celconfig.PerCallLimit)}
}

// errors returns the errors for an object at a path, as kubectl prints them;
// with old nil for its creation.
func (v validator) errors(path *field.Path, old, new map[string]any) []string {
	l := []string{}
	if v.Validator == nil {
		return l
	}
	var before any
	if old != nil {
		before = old
	}
	errs, _ := v.Validate(context.Background(), path, nil, new, before, math.MaxInt64)
	for _, e := range errs {
		l = append(l, plain(e.Error()))
	}
	return l
}

// sampleValue is a schema and a value that counts as set, for each way a member
// can be empty.
func sampleValue(m union.Member) (structuralschema.Structural, any) {
	str := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	switch m.Empty {
	case union.EmptyString:
		return str, "x"
	case union.EmptyCollection:
		return structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &str}, []any{"x"}
	case union.EmptyObject:
		properties, value := map[string]structuralschema.Structural{}, map[string]any{}
		for _, f := range m.Fields {
			properties[f], value[f] = str, "x"
		}
		return object(properties), value
	}
	return object(nil), map[string]any{}
}

func object(properties map[string]structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: properties}
}

func (s *subject) sampleSchema() structuralschema.Structural {
	properties := map[string]structuralschema.Structural{}
	for _, m := range s.Members {
		properties[m.Name], _ = sampleValue(m)
	}
	if s.Discriminator != "" {
		properties[s.Discriminator] = structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	}
	return object(properties)
}

// sample is an object in a state.
func (s *subject) sample(st union.State) map[string]any {
	o := map[string]any{}
	if st.Value != "" {
		o[s.Discriminator] = st.Value
	}
	for i, p := range st.Present {
		if p {
			_, o[s.Members[i].Name] = sampleValue(s.Members[i])
		}
	}
	return o
}

// validationRule is r as the API server reads it.
func validationRule(r rules.Rule) apiextensionsv1.ValidationRule {
	v := apiextensionsv1.ValidationRule{
		Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, FieldPath: r.FieldPath,
	}
	if r.Reason != "" {
		reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
		v.Reason = &reason
	}
	if r.OptionalOldSelf {
		v.OptionalOldSelf = &r.OptionalOldSelf
	}
	return v
}
