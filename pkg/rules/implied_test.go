package rules_test

import (
	"fmt"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestImplied tries conditions that are left to the schema: schema and rules
// together reject what the model rejects.
func TestImplied(t *testing.T) {
	const members = "a: {type: object}, b: {type: string}"
	tests := []struct {
		name, schema, keys string
		implied            union.Implied
	}{
		{"required enum", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B]}, " + members + "}}",
			"unmappedValues: Forbid", union.Implied{Selected: true, Unmapped: true}},
		{"required enum with empty value", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B, '']}, " + members + "}}",
			"unmappedValues: Forbid", union.Implied{Unmapped: true}},
		{"required enum with memberless value", "{type: object, required: [type], properties: {type: {type: string, enum: [A, B, None]}, " + members + "}}",
			"unmappedValues: Forbid", union.Implied{Selected: true}},
		{"nullable", "{type: object, required: [type], properties: {type: {type: string, nullable: true, enum: [A, B]}, " + members + "}}",
			"", union.Implied{Unmapped: true}},
		{"minLength", "{type: object, required: [type], properties: {type: {type: string, minLength: 1}, " + members + "}}",
			"unmappedValues: Forbid", union.Implied{Selected: true}},
		{"required", "{type: object, required: [type], properties: {type: {type: string}, " + members + "}}", "", union.Implied{}},
		{"optional enum", "{type: object, properties: {type: {type: string, enum: [A, B]}, " + members + "}}",
			"cardinality: ExactlyOne", union.Implied{Unmapped: true}},
		{"optional enum, at most one", "{type: object, properties: {type: {type: string, enum: [A, B, '']}, " + members + "}}",
			"unmappedValues: Forbid", union.Implied{Unmapped: true}},
	}
	for _, tt := range tests {
		for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
			t.Run(fmt.Sprintf("%s, %s", tt.name, encoding), func(t *testing.T) {
				t.Parallel()
				schema := schemaOf(t, tt.schema)
				u := unionOf(t, "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, "+tt.keys+"}", schema)
				if u.Implied != tt.implied {
					t.Fatalf("implied are %+v", u.Implied)
				}
				valid := schemaValidator(t, schema)
				s := newServer(t, structural(t, schema), rules.Static(u, encoding))
				for _, typ := range []any{absent{}, nil, "", "A", "B", "None", "C"} {
					for _, a := range []any{absent{}, map[string]any{}} {
						for _, b := range []any{absent{}, "x"} {
							object := with(with(with(nil, "type", typ), "a", a), "b", b)
							stored := len(s.fails(t, nil, object)) == 0 && valid(object)
							legal := len(u.Violations(u.StateOf(object))) == 0
							// A schema may forbid more: an enum, a required type.
							if stored && !legal || legal && valid(object) && !stored {
								t.Errorf("%v is stored: %t, legal: %t", object, stored, legal)
							}
						}
					}
				}
			})
		}
	}
}

// schemaValidator is the API server's, without its CEL rules. As when it
// decodes, nulls of properties that are not nullable are dropped.
func schemaValidator(t *testing.T, schema *apiextensionsv1.JSONSchemaProps) func(map[string]any) bool {
	t.Helper()
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &in, nil); err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&in)
	if err != nil {
		t.Fatal(err)
	}
	return func(object map[string]any) bool {
		object = with(object, "", absent{})
		for name, value := range object {
			if value == nil && !schema.Properties[name].Nullable {
				delete(object, name)
			}
		}
		return v.Validate(object).IsValid()
	}
}
