package report_test

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func ExampleLint() {
	src := []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.example.com}
spec:
  group: example.com
  names: {kind: Route, plural: routes}
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
              type: {type: string}
              http: {type: object, properties: {path: {type: string}}}
              hosts: {type: array, items: {type: string}}
            x-kubernetes-unions:
            - discriminator: type
              fields-to-discriminateBy: {http: HTTP, hosts: Hosts}
`)
	config := report.LintConfig{Ignore: []diag.Code{codes.ListMember}, Severities: map[diag.Code]diag.Severity{codes.NoEnum: diag.Error}}
	findings := config.Apply(report.Lint(crdpatch.Open("route.yaml", src), crdpatch.Options{}))
	for _, d := range findings {
		fmt.Println(d)
	}
	fmt.Println("there are errors:", findings.Count(diag.Error) > 0)
	// Output:
	// route.yaml:23:30: error: UC520: discriminator "type" has no enum: a misspelt value such as "HTPT" is accepted, and selects no member
	// there are errors: true
}
