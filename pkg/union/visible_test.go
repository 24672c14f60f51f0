package union

import (
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// visible agrees with the API server: rules cannot read values without a CEL type. The same
// holds for discriminators, which must be CEL strings.
func TestVisible(t *testing.T) {
	for _, text := range []string{
		"{type: string}", "{type: string, format: byte}", "{type: string, format: date}", "{type: string, format: date-time}",
		"{type: string, format: duration}", "{type: string, format: uuid}", "{type: string, format: datetime}", "{type: string, format: password}",
		"{type: string, maxLength: 3}", "{type: string, nullable: true}",
		"{type: boolean}", "{type: integer}", "{type: integer, format: int64}", "{type: number}", "{type: number, format: double}",
		"{x-kubernetes-int-or-string: true}",
		"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
		"{}", "{x-kubernetes-preserve-unknown-fields: true}", "{nullable: true}",
		"{type: object}", "{type: object, x-kubernetes-preserve-unknown-fields: true}",
		"{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}",
		"{type: object, properties: {a: {type: string}}, x-kubernetes-embedded-resource: true}",
		"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
		"{type: object, additionalProperties: {type: string}}",
		"{type: object, additionalProperties: true}",
		"{type: object, additionalProperties: {}}",
		"{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}",
		"{type: object, additionalProperties: {type: object, x-kubernetes-preserve-unknown-fields: true}}",
		"{type: object, additionalProperties: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}}",
		"{type: object, additionalProperties: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}}",
		"{type: array, items: {type: string}}",
		"{type: array, items: {x-kubernetes-int-or-string: true}}",
		"{type: array, items: {}}",
		"{type: array, items: {x-kubernetes-preserve-unknown-fields: true}}",
		"{type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}",
		"{type: array, items: {type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}}",
		"{type: array, items: {type: array, items: {type: array, items: {}}}}",
		"{type: array, items: {type: object, additionalProperties: {}}}",
		"{type: array}",
	} {
		var s apiextensionsv1.JSONSchemaProps
		if err := sigsyaml.UnmarshalStrict([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		var in apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&s, &in, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(&in)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		theirs := model.SchemaDeclType(structural, structural.XEmbeddedResource)
		if got, want := visible(&s), theirs != nil; got != want {
			t.Errorf("visible(%s) = %t", text, got)
		}
		declared, _ := Parse("", "", yamltext.ListNode((&Union{Discriminator: "type"}).Node()), nil)
		r := &resolver{d: declared[0], u: &Union{Discriminator: "type"}, schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"type": s},
		}}
		r.discriminator()
		if got, want := !r.diags.HasErrors(), theirs != nil && slices.Contains([]string{"string", "bool", "int"}, theirs.TypeName()); got != want {
			t.Errorf("%s may be a discriminator: %t; the server says %v", text, got, theirs)
		}
	}
}
