package compile_test

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/pkg/compile"
)

// Print the rules of a CRD and their paths.
func ExampleCompilation_Result() {
	manifest, err := testmanifest.Parse("crd.yaml", []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: probes.example.com}
spec:
  group: example.com
  names: {kind: Probe, plural: probes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {http: {type: object}, tcp: {type: object}}
            x-kubernetes-unions:
            - members: [http, tcp]
              cardinality: ExactlyOne
`))

	if err != nil {
		fmt.Println(err)
		return
	}
	result, diagnostics := compile.New(manifest, compile.Options{}).Result()
	if diagnostics.HasErrors() {
		fmt.Println(diagnostics)
		return
	}
	for _, a := range result.Additions {
		fmt.Println(a.Place)
		for _, rule := range a.Rules {
			fmt.Println(" ", rule.Rule)
		}
	}
	// Output:
	// spec
	//   has(self.http) ? !has(self.tcp) : has(self.tcp)
}

// A misspelt member is reported at its position.
func ExampleCompilation_Result_diagnostics() {
	manifest, err := testmanifest.Parse("crd.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties: {http: {type: object}, tcp: {type: object}}
        x-kubernetes-unions:
        - members: [http, tpc]
`))

	if err != nil {
		fmt.Println(err)
		return
	}
	_, diagnostics := compile.New(manifest, compile.Options{}).Result()
	for _, d := range diagnostics {
		fmt.Println(d)
		fmt.Println(d.Hint)
	}
	// Output:
	// crd.yaml:11:27: error: UC203: member "tpc" is not a property of this object
	// write "tcp"
}
