package change_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// The stored mode is no longer allowed. It persists until a client changes it.
func ExampleJudge_Object() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: "{type: object, properties: {mode: {type: string, enum: [Fast, Safe]}}}"})
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		fmt.Println(err)
		return
	}
	judge, err := change.NewJudge(crd, change.JudgeOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := judge.Object(context.Background(), map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "it"},
		"spec": map[string]any{"mode": "Old"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s is %s\n", verdict, verdict.State)
	for _, p := range verdict.Problems() {
		fmt.Printf("%s: %s\n", p.Constraint, p)
	}
	// Output:
	// Thing it is ratcheted
	// enum of spec.mode: spec.mode: Unsupported value: "Old": supported values: "Fast", "Safe"
}
