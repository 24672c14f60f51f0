package verify_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// The first rule misses one member.
func ExampleObject() {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	schema := &apiextensionsv1.JSONSchemaProps{
		Type:         "object",
		Properties:   map[string]apiextensionsv1.JSONSchemaProps{"git": text, "image": text, "path": text},
		XValidations: apiextensionsv1.ValidationRules{{Rule: "!(has(self.git) && has(self.image))"}},
	}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com",
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Source"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
		}},
	}}
	u := &union.Union{
		Members:     []union.Member{{Name: "git"}, {Name: "image"}, {Name: "path"}},
		Cardinality: union.AtMostOne,
		Change:      union.Clear,
	}

	proofs, err := verify.Object(context.Background(), crd, 0, pathOf(nil), []*union.Union{u})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := proofs[0]
	fmt.Println("proved:", p.Proved())
	for _, d := range p.Differences() {
		fmt.Println(d.Kind, "-", d.Words(u))
		fmt.Println(d.New)
	}
	// Output:
	// proved: false
	// accepted - git and path are set together
	// map[apiVersion:example.com/v1 git:a kind:Source metadata:map[name:example] path:a]
}

// All hand-written constraints except one are equivalent to the union.
func ExampleReplaceable() {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	schema := &apiextensionsv1.JSONSchemaProps{
		Type:       "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"git": text, "image": text, "tag": text},
		OneOf:      []apiextensionsv1.JSONSchemaProps{{Required: []string{"git"}}, {Required: []string{"image"}}},
		XValidations: apiextensionsv1.ValidationRules{
			{Rule: "!has(self.tag) || has(self.image)"},
			{Rule: "has(self.git) || has(self.image)"},
		},
	}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com",
		Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Source"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
		}},
	}}
	u := &union.Union{Members: []union.Member{{Name: "git"}, {Name: "image"}}, Cardinality: union.ExactlyOne, Change: union.Clear}

	constraints, c, err := verify.Replaceable(context.Background(), crd, 0, pathOf(nil), u)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(constraints, "are", c.Verdict)

	u.Cardinality = union.AtMostOne
	constraints, c, err = verify.Replaceable(context.Background(), crd, 0, pathOf(nil), u)
	fmt.Println(constraints, err)
	c, err = verify.Compare(context.Background(), crd, 0, pathOf(nil), u, []verify.Constraint{{Key: "oneOf"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("oneOf is", c.Verdict, "-", c.Looser.Words(u))
	// Output:
	// [x-kubernetes-validations[1] oneOf] are equivalent
	// [] <nil>
	// oneOf is looser - no member is set
}
