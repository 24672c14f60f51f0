package explain

import (
	"encoding/json"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// schema is a schema as the API server's packages want it.
type schema = apiextensions.JSONSchemaProps

func object(properties map[string]schema) schema {
	return schema{Type: "object", Properties: properties}
}

// sampleValue is a schema and a value that counts as set, for each way a member
// can be empty.
func sampleValue(m union.Member) (schema, any) {
	str := schema{Type: "string"}
	switch m.Empty {
	case union.EmptyString:
		return str, "x"
	case union.EmptyCollection:
		return schema{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &str}}, []any{"x"}
	case union.EmptyObject:
		properties, value := map[string]schema{}, map[string]any{}
		for _, f := range m.Fields {
			properties[f], value[f] = str, "x"
		}
		return object(properties), value
	}
	return object(nil), map[string]any{}
}

// sampleSchema is all of a union object's schema that its union's conditions
// depend on. What else restricts the discriminator, a pattern say, is left out:
// samples do not keep to it.
func (s *subject) sampleSchema() (schema, error) {
	o := object(map[string]schema{})
	for _, m := range s.Members {
		o.Properties[m.Name], _ = sampleValue(m)
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
		_ = json.Unmarshal(s.written.Default.Raw, &value) // anything but a string is for the server to refuse
	}
	return value
}

// neverUnset reports whether the server leaves no object with an unset discriminator:
// it fills in a default, and the schema refuses "".
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

// sample is an object in a state.
func (s *subject) sample(st union.State) map[string]any {
	o := map[string]any{}
	if st.Value != "" || s.Discriminator != "" && s.unsetIsEmpty() {
		o[s.Discriminator] = st.Value
	}
	for i, p := range st.Present {
		if p {
			_, o[s.Members[i].Name] = sampleValue(s.Members[i])
		}
	}
	return o
}
