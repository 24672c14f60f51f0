package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// crd returns a CRD whose spec has the given schema, in the server's internal version.
func costCRD(schema string) *apiextensions.CustomResourceDefinition {
	var spec apiextensionsv1.JSONSchemaProps
	if err := sigs.UnmarshalStrict([]byte(schema), &spec); err != nil {
		panic(err)
	}
	in := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}},
	}}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(in)
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
	e := server.NewEstimator(costCRD(list), nil)
	costs, err := e.Rules(0, schemapath.New("spec").Append(schemapath.Items), rules("has(self.a) && has(self.b)", "self.a == self.b"))
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
	e := server.NewEstimator(costCRD(list), nil)
	for name, tt := range map[string]struct {
		path schemapath.Path
		rule string
	}{
		"no such property": {schemapath.New("status"), "true"},
		"no list":          {schemapath.New("spec").Append(schemapath.Values), "true"},
		"not resolved":     {schemapath.New("spec").Append(schemapath.Elements), "true"},
		"does not compile": {schemapath.New("spec").Append(schemapath.Items), "self.c"},
		"not a condition":  {schemapath.New("spec").Append(schemapath.Items), "self.a"},
	} {
		if costs, err := e.Rules(0, tt.path, rules(tt.rule)); err == nil {
			t.Errorf("%s: %v", name, costs)
		}
	}
}

// TestWritten asserts that rules count with their executions, and each messageExpression once.
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
	c := costCRD(schema)
	got, err := server.NewEstimator(c, nil).Written(0)
	if err != nil {
		t.Fatal(err)
	}
	e := server.NewEstimator(costCRD(schema), nil)
	of := func(path schemapath.Path, r apiextensionsv1.ValidationRule) uint64 {
		t.Helper()
		l, err := e.Rules(0, path, []apiextensionsv1.ValidationRule{r})
		if err != nil {
			t.Fatal(err)
		}
		return server.SumCosts(l)
	}
	want := of(schemapath.New("spec"), apiextensionsv1.ValidationRule{Rule: "has(self[0].a)"}) + 2*10 + 1
	if got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// TestRequest compares the estimate with the cost of evaluating rules for large objects.
func TestRequest(t *testing.T) {
	if !unioncases.Exhaustive {
		t.Skip("it takes seconds, and only changes of the estimate concern it")
	}
	keys := map[string]any{}
	for i := range 1000 {
		keys[strings.Repeat("a", 240)+fmt.Sprint(i)] = ""
	}
	for name, tt := range map[string]struct {
		schema string
		value  any
	}{
		"long keys":  {"{type: object, maxProperties: 3000, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: 'self.all(k, k.matches(\"^[a-z0-9]+$|^[a-y0-9]+$|^[a-x0-9]+$|^[a-w0-9]+$\"))'}]}", keys},
		"null items": {"{type: array, maxItems: 50000, items: {type: object, nullable: true, required: [certificate], properties: {certificate: {type: string}}}, x-kubernetes-validations: [{rule: 'self.all(c, c == null || true)'}]}", make([]any, 50000)},
	} {
		c := costCRD(tt.schema)
		estimate, err := server.NewEstimator(c, nil).Request(0)
		if err != nil {
			t.Fatal(err)
		}
		s, err := structuralschema.NewStructural(c.Spec.Validation.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		object := map[string]any{"spec": tt.value}
		if text, _ := json.Marshal(object); len(text) > server.LargestObject {
			t.Fatalf("%s: the object has %d bytes", name, len(text))
		}
		errs, left := cel.NewValidator(s, true, celconfig.PerCallLimit).Validate(t.Context(), nil, nil, object, nil, math.MaxInt64)
		if len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
		if used := uint64(math.MaxInt64 - left); used < 10_000 || used > estimate {
			t.Errorf("%s: estimate %d, actual cost %d", name, estimate, used)
		}
	}
}

// TestSaturation asserts that unbounded costs do not wrap around.
func TestSaturation(t *testing.T) {
	dear := server.Cost{Once: math.MaxUint64 / 2, Executions: 3, MessageExpression: 1}
	if dear.Rule() != math.MaxUint64 || dear.Total() != math.MaxUint64 || dear.Fits() {
		t.Errorf("%+v: %d, %d", dear, dear.Rule(), dear.Total())
	}
	if sum := server.SumCosts([]server.Cost{dear, dear}); sum != math.MaxUint64 {
		t.Error(sum)
	}
	if !(server.Cost{Once: 1, Executions: server.RuleLimit}).Fits() || (server.Cost{MessageExpression: server.MessageLimit + 1}).Fits() {
		t.Error("the limits themselves are within the budgets")
	}
}

// TestSameAsWhole asserts that omitting parts of a schema changes neither costs nor types.
func TestSameAsWhole(t *testing.T) {
	const schema = `
type: object
required: [first, second, resource]
properties:
  first:
    type: object
    required: [name, kind]
    properties:
      name: {type: string}
      kind: {type: string, default: Plain}
      other: {type: object, required: [long], properties: {long: {type: string, minLength: 90}, short: {type: string}}}
  second: {type: integer}
  third: {type: string, maxLength: 30}
  kind-of: {type: string, enum: [A, Longer]}
  list: {type: array, items: {type: object, required: [a], properties: {a: {type: string}, b: {type: array, items: {type: string}}}}}
  map: {type: object, additionalProperties: {type: array, items: {type: object, required: [c], properties: {c: {type: integer}, d: {type: string}}}}}
  resource:
    type: object
    x-kubernetes-embedded-resource: true
    required: [metadata]
    properties:
      apiVersion: {type: string}
      kind: {type: string}
      metadata: {type: object, required: [name], properties: {name: {type: string}, generateName: {type: string}, labels: {type: object, additionalProperties: {type: string}}}}
      spec: {type: object, required: [a], properties: {a: {type: string}, b: {type: string}}}
  raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
  port: {x-kubernetes-int-or-string: true}`
	texts := []string{
		"true", "self == oldSelf", "has(self.third) && self.third == oldSelf.third", "self.kind__dash__of == self.third", "self.first.name == self.third",
		"self.first == oldSelf.first", "has(self.first.other) && self.first.other.long == self.first.kind", "self.list.all(x, x.a == 'a')",
		"self.list.exists(x, x.b.size() > 0)", "self.list == oldSelf.list", "self.map.all(k, self.map[k].size() > 1 && k == self.third)", "self.map == oldSelf.map",
		"self.resource.metadata.name == 'x'", "self.resource == oldSelf.resource", "self.resource.spec.a == self.resource.kind", "has(self.raw)", "self.port == 1",
		"self.?third.orValue('') == self.first.?other.?short.orValue('')",
	}
	for above, steps := range map[string][]schemapath.Step{
		"type: object\nadditionalProperties:\n  type: array\n  items:":             {schemapath.Values, schemapath.Items},
		"type: array\nmaxItems: 7\nitems:\n  type: array\n  maxItems: 3\n  items:": {schemapath.Items, schemapath.Items},
	} {
		c := costCRD(above + strings.ReplaceAll(schema, "\n", "\n    "))
		for _, text := range texts {
			r := apiextensionsv1.ValidationRule{Rule: text, MessageExpression: "'no ' + self.first.name"}
			got, err := server.NewEstimator(c, nil).Rules(0, schemapath.New("spec").Append(steps...), []apiextensionsv1.ValidationRule{r})
			if err != nil {
				t.Fatal(err)
			}
			if want := ofWhole(t, c, steps, r); got[0] != want {
				t.Errorf("%s: %+v, want %+v", text, got[0], want)
			}
		}
	}
}

// ofWhole returns the API server's estimate for the cost of a rule below spec, with the whole
// schema.
func ofWhole(t *testing.T, c *apiextensions.CustomResourceDefinition, steps []schemapath.Step, r apiextensionsv1.ValidationRule) server.Cost {
	t.Helper()
	s := c.Spec.Validation.OpenAPIV3Schema.DeepCopy()
	context := validation.RootCELContext(s)
	spec := s.Properties["spec"]
	s, context = &spec, context.ChildPropertyContext(&spec, "spec")
	for i, step := range steps {
		parent, child := context, context.ChildItemsContext
		if step == schemapath.Items {
			s = s.Items.Schema
		} else {
			s, child = s.AdditionalProperties.Schema, parent.ChildAdditionalPropertiesContext
		}
		if i == len(steps)-1 {
			s.XValidations = apiextensions.ValidationRules{{Rule: r.Rule, MessageExpression: r.MessageExpression}}
		}
		context = child(s)
	}
	info, err := context.TypeInfo()
	if err != nil {
		t.Fatal(err)
	}
	l, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.NewExpressionsEnvLoader())
	if err != nil || l[0].Error != nil || l[0].MessageExpressionError != nil {
		t.Fatal(r.Rule, err, l[0].Error, l[0].MessageExpressionError)
	}
	executions := l[0].MaxCardinality
	if context.MaxCardinality != nil {
		executions = *context.MaxCardinality
	}
	return server.Cost{Once: l[0].MaxCost, Executions: executions, MessageExpression: l[0].MessageExpressionMaxCost}
}
