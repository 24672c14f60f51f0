package cost_test

import (
	"fmt"
	"math"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/cost"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// crd is a CRD whose spec has the given schema, in the server's internal version.
func crd(schema string) *apiextensions.CustomResourceDefinition {
	var spec apiextensionsv1.JSONSchemaProps
	if err := sigs.UnmarshalStrict([]byte(schema), &spec); err != nil {
		panic(err)
	}
	in := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}},
	}}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(in)
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, out, nil); err != nil {
		panic(err)
	}
	return out
}

func rules(texts ...string) []apiextensionsv1.ValidationRule {
	var l []apiextensionsv1.ValidationRule
	for _, text := range texts {
		l = append(l, apiextensionsv1.ValidationRule{Rule: text})
	}
	return l
}

const list = "{type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}"

func ExampleEstimator_Rules() {
	e := cost.New(crd(list), nil)
	costs, err := e.Rules(0, schemapath.Of("spec").To(schemapath.Items), rules("has(self.a) && has(self.b)", "self.a == self.b"))
	if err != nil {
		panic(err)
	}
	for _, c := range costs {
		fmt.Println(c.Once, c.Executions, c.Rule(), c.Fits())
	}
	// Output:
	// 2 1048576 2097152 true
	// 314577 1048576 329857892352 false
}

func TestErrors(t *testing.T) {
	e := cost.New(crd(list), nil)
	for name, tt := range map[string]struct {
		path schemapath.Path
		rule string
	}{
		"no such property": {schemapath.Of("status"), "true"},
		"no list":          {schemapath.Of("spec").To(schemapath.Values), "true"},
		"not resolved":     {schemapath.Of("spec").To(schemapath.Elements), "true"},
		"does not compile": {schemapath.Of("spec").To(schemapath.Items), "self.c"},
		"not a condition":  {schemapath.Of("spec").To(schemapath.Items), "self.a"},
	} {
		if costs, err := e.Rules(0, tt.path, rules(tt.rule)); err == nil {
			t.Errorf("%s: %v", name, costs)
		}
	}
}

// TestWritten: what stands in a version counts with its executions, and its
// message expressions once.
func TestWritten(t *testing.T) {
	const schema = `
type: array
maxItems: 10
x-kubernetes-validations: [{rule: "has(self[0].a)"}]
items:
  type: object
  properties: {a: {type: string}, b: {type: string, maxLength: 4}}
  x-kubernetes-validations:
  - {rule: "has(self.a) && has(self.b)", messageExpression: "has(self.a) ? 'a' : 'b'"}`
	c := crd(schema)
	got, err := cost.New(c, nil).Written(0)
	if err != nil {
		t.Fatal(err)
	}
	e := cost.New(crd(schema), nil)
	of := func(path schemapath.Path, r apiextensionsv1.ValidationRule) uint64 {
		t.Helper()
		l, err := e.Rules(0, path, []apiextensionsv1.ValidationRule{r})
		if err != nil {
			t.Fatal(err)
		}
		return cost.Sum(l)
	}
	want := of(schemapath.Of("spec"), apiextensionsv1.ValidationRule{Rule: "has(self[0].a)"}) + 2*10 + 1
	if got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// TestSaturation: costs without a bound do not wrap around.
func TestSaturation(t *testing.T) {
	dear := cost.Cost{Once: math.MaxUint64 / 2, Executions: 3, MessageExpression: 1}
	if dear.Rule() != math.MaxUint64 || dear.Total() != math.MaxUint64 || dear.Fits() {
		t.Errorf("%+v: %d, %d", dear, dear.Rule(), dear.Total())
	}
	if sum := cost.Sum([]cost.Cost{dear, dear}); sum != math.MaxUint64 {
		t.Error(sum)
	}
	if !(cost.Cost{Once: 1, Executions: cost.RuleLimit}).Fits() || (cost.Cost{MessageExpression: cost.MessageLimit + 1}).Fits() {
		t.Error("the limits themselves are within the budgets")
	}
}
