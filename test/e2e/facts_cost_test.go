package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// estimate returns the server's own cost estimate of one rule on a schema (YAML).
func estimate(t *testing.T, schema string, rule apiextensions.ValidationRule) cel.CompilationResult {
	t.Helper()
	v1 := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(schema), v1); err != nil {
		t.Fatal(err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, props, nil); err != nil {
		t.Fatal(err)
	}
	props.XValidations = apiextensions.ValidationRules{rule}
	info, err := validation.RootCELContext(props).TypeInfo()
	if err != nil {
		t.Fatal(err)
	}
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	results, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, base, cel.NewExpressionsEnvLoader())
	if err != nil {
		t.Fatal(err)
	}
	if e := results[0].Error; e != nil {
		t.Fatal(e)
	}
	if e := results[0].MessageExpressionError; e != nil {
		t.Fatal(e)
	}
	return results[0]
}

func TestCosts(t *testing.T) {
	const schema = `
type: object
properties:
  type: {type: string, enum: [HTTP, TCP, Recreate]} # the longest has 8 bytes
  longer: {type: string, enum: [HTTP, RequestHeaderModifier]} # 21 bytes
  bounded: {type: string, maxLength: 8}
  free: {type: string}
  a: {type: object}
  b: {type: object}
`
	const guarded = "has(self.%[1]s) && has(oldSelf.%[1]s) && self.%[1]s == oldSelf.%[1]s"
	for _, test := range []struct {
		rule string
		cost uint64
	}{
		{"true", 0},
		{"has(self.a)", 1},
		{"!has(self.a)", 2},
		{"has(self.a) == has(self.b)", 3},
		{"has(self.a) && has(self.b)", 2},
		{"has(self.a) || has(self.b)", 2},
		{"has(self.a) ? has(self.b) : true", 2},
		{"(has(self.a) ? 1 : 0) <= 1", 2},
		{"(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1", 4},

		{"self.type == 'HTTP'", 3},
		{"self.free == 'HTTP'", 3},
		{"self.free != 'HTTP'", 3},
		{"self.free == '" + strings.Repeat("x", 10) + "'", 3},
		{"self.free == '" + strings.Repeat("x", 11) + "'", 4},
		{"self.free == '" + strings.Repeat("x", 40) + "'", 6},

		{"self.type == oldSelf.type", 5},
		{"self.longer == oldSelf.longer", 7},
		{"self.bounded == oldSelf.bounded", 8}, // a character may take 4 bytes
		{"self.free == oldSelf.free", 314577},
		{fmt.Sprintf(guarded, "type"), 7},
		{fmt.Sprintf(guarded, "free"), 314579},
		{"!(" + fmt.Sprintf(guarded, "type") + ")", 8},
		{"!(" + fmt.Sprintf(guarded, "free") + ")", 314580},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if got := estimate(t, schema, apiextensions.ValidationRule{Rule: test.rule}).MaxCost; got != test.cost {
				t.Errorf("cost %d, want %d", got, test.cost)
			}
		})
	}
}

// The server estimates how many objects an unbounded list or map can hold.
func TestCardinality(t *testing.T) {
	const properties = ", properties: {type: {type: string}, mode: {type: string, enum: [A]}, size: {type: integer}, a: {type: object, properties: {x: {type: string}}}}}"
	for _, test := range []struct {
		schema string
		want   uint64
	}{
		{"{type: object", 1048576},
		{"{type: object, required: [type]", 241979},
		{"{type: object, required: [mode]", 241979}, // the server ignores the enum
		{"{type: object, required: [size]", 262144},
		{"{type: object, required: [a]", 314572},
		{"{type: object, required: [type, mode]", 136770},
	} {
		t.Run(test.schema, func(t *testing.T) {
			got := estimate(t, test.schema+properties, apiextensions.ValidationRule{Rule: "true"}).MaxCardinality
			if got != test.want {
				t.Errorf("cardinality %d, want %d", got, test.want)
			}
		})
	}
}

// costing returns a rule of the given cost about the property a0, a1, ...
func costing(cost, property int) string {
	reads := make([]string, cost)
	for i := range reads {
		reads[i] = fmt.Sprintf("has(self.a%d)", property)
	}
	return strings.Join(reads, " || ")
}

// budgetFacts assert the cost budgets for the rules of a CRD.
func budgetFacts(t *testing.T, s *servertest.Server) {
	const (
		perRule    = "estimated rule cost exceeds budget by factor of "
		perMessage = "estimated messageExpression cost exceeds budget by factor of "
		inTotal    = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of "

		optional = "{type: object, properties: {%s}, x-kubernetes-validations: [%s]}"
		required = "{type: object, required: [type], properties: {%s}, x-kubernetes-validations: [%s]}"

		unboundedList = "{type: array, items: %s}"
		unboundedMap  = "{type: object, additionalProperties: %s}"
	)
	boundedList := func(n int) string { return fmt.Sprintf("{type: array, maxItems: %d, items: %%s}", n) }
	boundedMap := func(n int) string {
		return fmt.Sprintf("{type: object, maxProperties: %d, additionalProperties: %%s}", n)
	}
	// schema adds rules to a union object inside of containers, outermost first.
	schema := func(union string, containers []string, rules ...string) string {
		properties := []string{"type: {type: string}"}
		for i := range 11 {
			properties = append(properties, fmt.Sprintf("a%d: {type: string}", i))
		}
		var list []string
		for _, rule := range rules {
			if !strings.HasPrefix(rule, "{") {
				rule = fmt.Sprintf("{rule: %q}", rule)
			}
			list = append(list, rule)
		}
		result := fmt.Sprintf(union, strings.Join(properties, ", "), strings.Join(list, ", "))
		for i := len(containers) - 1; i >= 0; i-- {
			result = fmt.Sprintf(containers[i], result)
		}
		return "{type: object, properties: {in: " + result + "}}"
	}
	// rules returns n rules of the same cost.
	rules := func(n, cost int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = costing(cost, i)
		}
		return list
	}
	withMessage := func(rule, expression string) string {
		return fmt.Sprintf("{rule: %q, message: msg, messageExpression: %q}", rule, expression)
	}
	withMessages := func(rules []string, expression string) []string {
		for i, rule := range rules {
			rules[i] = withMessage(rule, expression)
		}
		return rules
	}
	const cheap = "self.a0 == 'x' ? 'x' : 'y'"
	dear := strings.Join(slices.Repeat([]string{"self.a0"}, 6), " + ")    // 6,291,466
	tooDear := strings.Join(slices.Repeat([]string{"self.a0"}, 9), " + ") // 13,841,216

	type unit struct {
		union      string
		containers []string
		rules      []string
	}
	for i, test := range []struct {
		name     string
		versions []unit
		want     string
	}{
		{"9 in a list", []unit{{optional, []string{unboundedList}, rules(1, 9)}}, ""},
		{"10 in a list", []unit{{optional, []string{unboundedList}, rules(1, 10)}}, perRule + "1.048576x"},
		{"9 in a map", []unit{{optional, []string{unboundedMap}, rules(1, 9)}}, ""},
		{"10 in a map", []unit{{optional, []string{unboundedMap}, rules(1, 10)}}, perRule + "1.048576x"},
		{"41 in a list, type required", []unit{{required, []string{unboundedList}, rules(1, 41)}}, ""},
		{"42 in a list, type required", []unit{{required, []string{unboundedList}, rules(1, 42)}}, perRule + "1.016312x"},

		{"9 in lists and maps, four deep", []unit{{optional, []string{unboundedList, unboundedMap, unboundedList, unboundedList}, rules(1, 9)}}, ""},
		{"10 in lists and maps, four deep", []unit{{optional, []string{unboundedList, unboundedMap, unboundedList, unboundedList}, rules(1, 10)}}, perRule + "1.048576x"},

		{"10 in a bounded list", []unit{{optional, []string{boundedList(1000)}, rules(1, 10)}}, ""},
		{"10 in a bounded list in a list", []unit{{optional, []string{unboundedList, boundedList(1)}, rules(1, 10)}}, perRule + "1.048576x"},
		{"10 in a list in a bounded list", []unit{{optional, []string{boundedList(1), unboundedList}, rules(1, 10)}}, perRule + "1.048576x"},
		{"10 in a bounded list in a bounded map", []unit{{optional, []string{boundedMap(1000), boundedList(1000)}, rules(1, 10)}}, ""},
		{"11 in a bounded list in a bounded map", []unit{{optional, []string{boundedMap(1000), boundedList(1000)}, rules(1, 11)}}, perRule + "1.1"},
		{"9 in bounded lists whose product is worse than no bound", []unit{{optional, []string{boundedList(2000), boundedList(2000)}, rules(1, 9)}}, perRule + "3.6x"},

		// 10 x 9 x 1,048,576 is just below 100 million.
		{"10 rules of 9", []unit{{optional, []string{unboundedList}, rules(10, 9)}}, ""},
		{"11 rules of 9", []unit{{optional, []string{unboundedList}, rules(11, 9)}}, inTotal + "1.038090x"},
		{"10 rules of 9 in each of two versions", []unit{{optional, []string{unboundedList}, rules(10, 9)}, {optional, []string{unboundedList}, rules(10, 9)}}, ""},

		{"10 rules of 9 with a cheap message each", []unit{{optional, []string{unboundedList}, withMessages(rules(10, 9), cheap)}}, ""},
		{"10 rules of 9, one with a dear message",
			[]unit{{optional, []string{unboundedList}, append(rules(9, 9), withMessage(costing(9, 9), dear))}}, inTotal + "1.006633x"},
		{"9 rules of 9, one with a dear message",
			[]unit{{optional, []string{unboundedList}, append(rules(8, 9), withMessage(costing(9, 9), dear))}}, ""},
		{"a message that is too dear",
			[]unit{{optional, []string{unboundedList}, []string{withMessage(costing(1, 0), tooDear)}}}, perMessage},
	} {
		t.Run(test.name, func(t *testing.T) {
			var schemas []string
			for _, version := range test.versions {
				schemas = append(schemas, root(t, schema(version.union, version.containers, version.rules...)))
			}
			kind := fmt.Sprintf("Budget%d", i)
			wantComplaint(t, s.Install(t.Context(), crd(t, kind, schemas...)), test.want)
		})
	}
}
