package crdpatch_test

import (
	"fmt"

	"github.com/unioncel/unioncel/pkg/crdpatch"
)

const backup = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  names: {kind: Backup, plural: backups}
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
            properties:
              s3: {type: object}
              gcs: {type: object}
            x-kubernetes-unions:
            - members: [s3, gcs]
              cardinality: ExactlyOne
`

// Print the rules of each union, and their costs by the API server's estimator.
func ExampleAsk() {
	file := crdpatch.Open("backup.yaml", []byte(backup))
	plans, diagnostics := crdpatch.Ask(file, crdpatch.Options{}, (*crdpatch.CRD).Plan)
	for _, d := range diagnostics {
		fmt.Println(d)
	}
	for _, p := range plans {
		for _, u := range p.Unions {
			fmt.Println(p.Name, u.Place)
			for _, r := range u.Rules {
				fmt.Println(r.Rule.Rule, r.Cost.Rule())
			}
		}
	}
	// Output:
	// backups.example.com spec
	// has(self.s3) ? !has(self.gcs) : has(self.gcs) 3
}
