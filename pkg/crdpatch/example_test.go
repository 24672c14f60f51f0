package crdpatch_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

const crd = `apiVersion: apiextensions.k8s.io/v1
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

func ExampleCompile() {
	out, diags := crdpatch.Compile(crdpatch.Open("gateway.yaml", []byte(crd)), crdpatch.Options{NoAnnotation: true})
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

func ExampleCompile_diagnostics() {
	bad := bytes.Replace([]byte(crd), []byte("[service, url]"), []byte("[service, uri]"), 1)
	_, diags := crdpatch.Compile(crdpatch.Open("gateway.yaml", bad), crdpatch.Options{})
	for _, d := range diags {
		fmt.Println(d)
		fmt.Println("hint:", d.Hint)
	}
	// Output:
	// gateway.yaml:20:34: error: UC203: member "uri" is not a property of this object
	// hint: write "url"
}

func ExampleDecompile() {
	compiled, _ := crdpatch.Compile(crdpatch.Open("gateway.yaml", []byte(crd)), crdpatch.Options{})
	// Other tools may have added to the file meanwhile.
	edited := bytes.Replace(compiled, []byte("kind: Gateway, "), []byte("kind: Gateway, shortNames: [gw], "), 1)
	out, _ := crdpatch.Decompile(crdpatch.Open("gateway.yaml", edited), crdpatch.Options{})
	for line := range bytes.Lines(out) {
		if !bytes.Contains([]byte(crd), line) {
			fmt.Printf("%s", line)
		}
	}
	decompiled, _ := crdpatch.Decompile(crdpatch.Open("gateway.yaml", compiled), crdpatch.Options{})
	fmt.Println(string(decompiled) == crd)
	// Output:
	//   names: {kind: Gateway, shortNames: [gw], plural: gateways}
	// true
}
