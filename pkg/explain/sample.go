package explain

import (
	"encoding/json"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/unioncel/unioncel/pkg/union"
)

// schema is a schema as the API server's packages want it.
type schema = apiextensions.JSONSchemaProps

func object(properties map[string]schema) schema {
	return schema{Type: "object", Properties: properties}
}

// sampleOf is a schema of the type of another, and a value that it accepts.
func sampleOf(p apiextensionsv1.JSONSchemaProps) (schema, any) {
	switch {
	case p.XIntOrString:
		return schema{XIntOrString: true}, int64(1)
	case p.Type == "string":
		return schema{Type: p.Type}, "x"
	case p.Type == "integer":
		return schema{Type: p.Type}, int64(1)
	case p.Type == "number":
		return schema{Type: p.Type}, 1.5
	case p.Type == "boolean":
		return schema{Type: p.Type}, true
	case p.Type == "array" && p.Items != nil && p.Items.Schema != nil:
		item, value := sampleOf(*p.Items.Schema)
		return schema{Type: p.Type, Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &item}}, []any{value}
	case p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil:
		entry, value := sampleOf(*p.AdditionalProperties.Schema)
		return schema{Type: "object", AdditionalProperties: &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &entry}}, map[string]any{sampleKey: value}
	}
	return object(nil), map[string]any{}
}

// sampleValue is a schema of a member, and a value that counts as set.
func (s *subject) sampleValue(m union.Member) (schema, any) {
	p := s.schema.Properties[m.Name]
	if m.Empty != union.EmptyObject {
		return sampleOf(p)
	}
	properties, value := map[string]schema{}, map[string]any{}
	for _, f := range m.Fields {
		properties[f], value[f] = sampleOf(p.Properties[f])
	}
	return object(properties), value
}

// emptyValue is a value of a member that counts as unset.
func emptyValue(set any) any {
	switch set.(type) {
	case string:
		return ""
	case []any:
		return []any{}
	}
	return map[string]any{}
}

// sampleSchema is all of a union object's schema that its union's conditions
// depend on. What else restricts the discriminator, a pattern say, is left out:
// samples do not keep to it.
func (s *subject) sampleSchema() (schema, error) {
	o := object(map[string]schema{})
	for _, m := range s.Members {
		o.Properties[m.Name], _ = s.sampleValue(m)
	}
	if s.Discriminator == "" {
		return o, nil
	}
	kept := apiextensionsv1.JSONSchemaProps{Type: "string", Enum: s.written.Enum, MinLength: s.written.MinLength}
	var discriminator schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&kept, &discriminator, nil); err != nil {
		return o, err
	}
	o.Properties[s.Discriminator] = discriminator
	if s.required {
		o.Required = []string{s.Discriminator}
	}
	return o, nil
}

// fallback is what the server sets the discriminator to when it is left out.
func (s *subject) fallback() string {
	var value string
	if union.Defaulted(&s.written) {
		_ = json.Unmarshal(s.written.Default.Raw, &value) // anything but a string is for the server to reject
	}
	return value
}

// neverUnset reports whether the server leaves no object with an unset discriminator:
// it fills in a default, and the schema rejects "".
func (s *subject) neverUnset() bool { return s.fallback() != "" && !s.admitsEmpty() }

// unsetIsEmpty reports whether an unset discriminator is "" in samples: where
// the schema does not let it be absent.
func (s *subject) unsetIsEmpty() bool {
	return (s.required || union.Defaulted(&s.written)) && s.admitsEmpty()
}

// admitsEmpty reports whether the schema lets the discriminator be "".
func (s *subject) admitsEmpty() bool {
	return (s.enum == nil || slices.Contains(s.enum, "")) && (s.written.MinLength == nil || *s.written.MinLength == 0)
}

// admitsOther reports whether the schema lets the discriminator have a value that is
// not known.
func (s *subject) admitsOther() bool {
	var written schema
	if len(s.written.XValidations) > 0 || apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&s.written, &written, nil) != nil {
		return false
	}
	validator, _, err := validation.NewSchemaValidator(&written)
	return err == nil && validator.Validate(s.otherValue()).IsValid()
}

// sample is an object in a state, with some of the members unset there but empty.
func (s *subject) sample(st union.State, empty ...int) map[string]any {
	o := map[string]any{}
	if st.Value != "" || s.Discriminator != "" && s.unsetIsEmpty() {
		o[s.Discriminator] = st.Value
	}
	for i, p := range st.Present {
		if p {
			_, o[s.Members[i].Name] = s.sampleValue(s.Members[i])
		}
	}
	for _, i := range empty {
		_, set := s.sampleValue(s.Members[i])
		o[s.Members[i].Name] = emptyValue(set)
	}
	return o
}
