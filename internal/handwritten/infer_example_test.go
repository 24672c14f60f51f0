package handwritten_test

import (
	"context"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/handwritten"
)

func ExampleInfer() {
	var crd apiextensionsv1.CustomResourceDefinition
	err := sigs.Unmarshal([]byte(`
spec:
  group: example.com
  names: {kind: Backup, plural: backups}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [type]
            properties:
              type: {type: string, enum: [S3, Volume, None]}
              s3: {type: object, properties: {bucket: {type: string}}}
              volume: {type: object, properties: {claim: {type: string}}}
            x-kubernetes-validations:
            - rule: "self.type == 'S3' ? has(self.s3) : !has(self.s3)"
            - rule: "self.type == 'Volume' ? true : !has(self.volume)"
`), &crd)
	if err != nil {
		fmt.Println(err)
		return
	}
	found, _, err := handwritten.Infer(context.Background(), &crd)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Println(f.Path, f.Replaces, f.Comparison.Verdict)
		if err := yaml.NewEncoder(os.Stdout).Encode(f.Union.Node()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// spec [x-kubernetes-validations[0] x-kubernetes-validations[1]] equivalent
	// discriminator: type
	// fields-to-discriminateBy:
	//     s3: S3
	//     volume: Volume
	// optionalMembers: [volume]
	// discriminatorChange: Allow
}
