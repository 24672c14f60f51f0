package crd_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
)

const gateway = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gateways.example.com
spec:
  group: example.com
  names: {kind: Gateway, plural: gateways}
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
            x-kubernetes-unions: # where traffic goes
            - members: [service, url]
              discriminatorChange: Allow
            properties:
              service: {type: string}
              url: {type: string} # comments stay
`

func ExampleFile_Compile() {
	out, diags := crd.Open("gateway.yaml", []byte(gateway), crd.Options{NoAnnotation: true}).Compile()
	if err := diag.Text(os.Stdout, diags, nil); err != nil || diags.HasErrors() {
		return
	}
	_, schema, _ := bytes.Cut(out, []byte("properties:\n"))
	fmt.Printf("%s", schema)
	// Output:
	//           spec:
	//             type: object
	//             x-kubernetes-validations:
	//             - message: "at most one of service, url may be set"
	//               rule: "!(has(self.service) && has(self.url))"
	//             properties:
	//               service: {type: string}
	//               url: {type: string} # comments stay
}

func ExampleFile_Compile_diagnostics() {
	bad := bytes.Replace([]byte(gateway), []byte("[service, url]"), []byte("[service, uri]"), 1)
	_, diags := crd.Open("gateway.yaml", bad, crd.Options{}).Compile()
	for _, d := range diags {
		fmt.Println(d)
		fmt.Println("hint:", d.Hint)
	}
	// Output:
	// gateway.yaml:20:34: error: UC203: member "uri" is not a property of this object
	// hint: write "url"
}

func ExampleFile_Decompile() {
	compiled, _ := crd.Open("gateway.yaml", []byte(gateway), crd.Options{}).Compile()
	// Other tools may have added to the file meanwhile.
	edited := bytes.Replace(compiled, []byte("kind: Gateway, "), []byte("kind: Gateway, shortNames: [gw], "), 1)
	out, _ := crd.Open("gateway.yaml", edited, crd.Options{}).Decompile()
	for line := range bytes.Lines(out) {
		if !bytes.Contains([]byte(gateway), line) {
			fmt.Printf("%s", line)
		}
	}
	decompiled, _ := crd.Open("gateway.yaml", compiled, crd.Options{}).Decompile()
	fmt.Println(string(decompiled) == gateway)
	// Output:
	//   names: {kind: Gateway, shortNames: [gw], plural: gateways}
	// true
}

// Print the rules of each union, and their costs by the API server's estimator.
func ExampleFile_Plans() {
	plans, _ := crd.Open("gateway.yaml", []byte(gateway), crd.Options{}).Plans()
	for _, p := range plans {
		for _, u := range p.Unions {
			for _, r := range u.Rules {
				fmt.Println(p.Name, u.Place, r.Rule.Rule, r.Cost.Rule())
			}
		}
	}
	// Output:
	// gateways.example.com spec !(has(self.service) && has(self.url)) 3
}

// The rule of another tool forbids that neither member is set.
func ExampleFile_Verify() {
	strict := bytes.Replace([]byte(gateway), []byte("            properties:\n              service"), []byte(
		"            x-kubernetes-validations:\n            - rule: has(self.service) != has(self.url)\n            properties:\n              service"), 1)
	proofs, _, err := crd.Open("gateway.yaml", strict, crd.Options{}).Verify(context.Background())
	for _, p := range proofs {
		fmt.Println(p.CRD, p.Path, p.Proved, err)
		for _, d := range p.Differences {
			fmt.Println(d.Accepted, d.Text, d.Object["spec"])
		}
	}
	// Output:
	// gateways.example.com spec false <nil>
	// false no member is set map[]
}

// Compare the union with one that requires a member.
func ExampleFile_Diff() {
	before := crd.Open("gateway.yaml", []byte(gateway), crd.Options{})
	exactly := bytes.Replace([]byte(gateway), []byte("discriminatorChange: Allow"), []byte("cardinality: ExactlyOne"), 1)
	changes, _, err := crd.Open("gateway.yaml", exactly, crd.Options{}).Diff(context.Background(), before)
	for _, c := range changes {
		fmt.Println(c.Path, c.Subject, c.Text, c.Tighter, c.Looser, err)
		fmt.Println(c.Rejected.Object["spec"], c.Rejected.Errors)
	}
	// Output:
	// spec union service, url cardinality AtMostOne -> ExactlyOne true false <nil>
	// map[] [spec: Invalid value: exactly one of service, url must be set]
}

func ExampleFile_Validate() {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gateway", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"service": "web", "url": "https://example.com"},
	}}
	file := crd.Open("gateway.yaml", []byte(gateway), crd.Options{})
	fmt.Println(file.Validate(context.Background(), object, nil))
	// Output:
	// Gateway.example.com "a" is invalid: spec: Invalid value: at most one of service, url may be set
}

// A client that sets url need not clear service.
func ExampleFile_Normalize() {
	object := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Gateway", "metadata": map[string]any{"name": "a"}, "spec": spec,
		}}
	}
	old := object(map[string]any{"service": "web"})
	new := object(map[string]any{"service": "web", "url": "https://example.com"})
	changes, err := crd.Open("gateway.yaml", []byte(gateway), crd.Options{}).Normalize(new, old)
	fmt.Println(changes, err)
	fmt.Println(new.Object["spec"])
	// Output:
	// [spec: service is cleared] <nil>
	// map[url:https://example.com]
}
