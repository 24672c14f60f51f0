package product_test

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/yamltext"
)

func ExampleReadSuite() {
	files := map[string]string{"valid.yaml": "apiVersion: example.com/v1\nkind: Route\nspec: {http: {}}\n"}
	s, diags := product.ReadSuite("index.yaml", []byte("crd: routes.example.com\ntests:\n- {name: http is set, object: valid.yaml}\n"),
		func(path string) ([]byte, error) { return []byte(files[path]), nil }, yamltext.Limits{})
	if diags.HasErrors() {
		panic(diags)
	}
	fmt.Println(s.CRD, s.Tests[0].Name, s.Tests[0].Object["spec"])
	// Output: routes.example.com http is set map[http:map[]]
}
