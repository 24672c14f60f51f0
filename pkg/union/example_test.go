package union_test

import (
	"fmt"
	"log"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

func ExampleResolve() {
	const declarations = `
- discriminator: type
  fields-to-discriminateBy:
    http: HTTP
    tpc: [TCP, TLS]
- members: [git, image]
`
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"type": text, "http": text, "tcp": text, "git": text, "image": text,
	}}

	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(declarations), &doc); err != nil {
		log.Fatal(err)
	}
	parsed, diags := union.Parse("crd.yaml", "spec", doc.Content[0], nil)
	unions, resolved := union.Resolve(parsed, schema, false)
	for _, d := range append(diags, resolved...).Sort() {
		fmt.Println(d)
		fmt.Println(" hint:", d.Hint)
	}
	fmt.Println(unions[0] == nil, unions[1].Cardinality, unions[1].MemberNames())
	// Output:
	// crd.yaml:5:5: error: UC203: member "tpc" is not a property of this object
	//  hint: write "tcp"
	// true AtMostOne [git image]
}

func ExampleUnion_Judge() {
	u := &union.Union{
		Discriminator: "type",
		Members:       []union.Member{{Name: "http", Values: []string{"HTTP"}}, {Name: "tcp", Values: []string{"TCP", "TLS"}}},
		Cardinality:   union.AtMostOne,
		Change:        union.Clear,
	}
	old := u.StateOf(map[string]any{"type": "HTTP", "http": map[string]any{}})
	for _, object := range []map[string]any{
		{"type": "TCP", "tcp": map[string]any{"port": 1}},
		{"type": "TCP", "http": map[string]any{}, "tcp": nil},
	} {
		fmt.Println(u.Judge(&old, u.StateOf(object)))
	}
	// Output:
	// []
	// [{forbidden 0} {required 1} {notCleared -1}]
}
