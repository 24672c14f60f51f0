package product_test

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func ExampleJSONSchema() {
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"http": {Type: "string"}, "tcp": {Type: "string"}}}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group, crd.Spec.Names.Kind = "example.com", "Route"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}}
	u := &union.Union{Members: []union.Member{{Name: "http"}, {Name: "tcp"}}, Cardinality: union.ExactlyOne}
	s, err := product.JSONSchema(crd, 0, []union.Object{{Place: schemapath.Place{Path: schemapath.Path{schemapath.Property("spec")}}, Unions: []*union.Union{u}}})
	if err != nil {
		panic(err)
	}
	branches, err := json.Marshal(s["properties"].(map[string]any)["spec"].(map[string]any)["oneOf"])
	if err != nil {
		panic(err)
	}
	fmt.Println(string(branches))
	// Output: [{"additionalProperties":false,"patternProperties":{"^(tcp)$":{"errorMessage":"This property is not allowed here.","type":"null"}},"properties":{"http":{"type":"string"}},"required":["http"],"title":"http","type":"object"},{"additionalProperties":false,"patternProperties":{"^(http)$":{"errorMessage":"This property is not allowed here.","type":"null"}},"properties":{"tcp":{"type":"string"}},"required":["tcp"],"title":"tcp","type":"object"},{"type":"null"}]
}
