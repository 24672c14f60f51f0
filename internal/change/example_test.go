package change_test

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// The change tightens the schema. First it is unknown whether the stored objects are valid.
func ExampleNewPlan() {
	read := func(spec string) *apiextensionsv1.CustomResourceDefinition {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(testcrd.Versions("Route", testcrd.Version{Name: "v1", Spec: spec})), crd); err != nil {
			panic(err)
		}
		return crd
	}
	facts := change.Facts{
		From:    read("{type: object, properties: {port: {type: integer}}}"),
		To:      read("{type: object, properties: {port: {type: integer, maximum: 65535}}}"),
		Changes: &change.Comparison{Changes: []change.Change{{Class: change.Tighter, What: "maximum added"}}},
	}
	fmt.Println(change.NewPlan(facts).Verdict)
	facts.Objects = &change.Objects{Total: 3}
	fmt.Print(change.PlanDocument(change.NewPlan(facts)).Text())
	// Output:
	// wait
	// routes.example.com: go
	//
	// 1. done: The API server accepts the CRD
	// 2. done: Every API server supports the rules
	// 3. done: The stored objects are valid after the change: 3 objects
	// 4. next: Apply the CRD
	//      kubectl apply -f NEW
	// 5. advice: The change can be reverted
	//      kubectl apply -f OLD
}
