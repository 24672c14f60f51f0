package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestOpenAPIEveryState compares the schemas with the model in pkg/union. For unions of up to four
// members, every state goes through the API server's own validator. Members are never null, because
// required counts null as a value. With [unioncases.Exhaustive] the test covers all unions,
// otherwise one in five.
func TestOpenAPIEveryState(t *testing.T) {
	for i, s := range slices.Concat(unioncases.Shapes(), unioncases.Valued(), unioncases.Grouped()) {
		if s.EmptyIsUnset || s.Nested || testing.Short() && s.Members != 2 {
			continue
		}
		for _, strict := range []bool{false, true} {
			if strict && (!s.Discriminated || s.Unset != "") {
				continue
			}
			t.Run(fmt.Sprintf("%v, strict %t", s, strict), func(t *testing.T) {
				t.Parallel()
				object := schemaOf(t, s.Schema())
				if strict { // the schema already implies some of the conditions
					typ := object.Properties["type"]
					typ.Nullable = false
					typ.Enum = nil
					for _, v := range s.Type.Values(slices.Concat(s.Fields()...)) {
						raw, _ := json.Marshal(v)
						typ.Enum = append(typ.Enum, apiextensionsv1.JSON{Raw: raw})
					}
					object.Properties["type"] = typ
					object.Required = []string{"type"}
				}
				declarations := slices.DeleteFunc(s.Declarations(), func(d string) bool {
					return strings.Contains(d, "ratchet") || strings.Contains(d, "Changes") || strings.Contains(d, "Change:") || strict && strings.Contains(d, "deduce")
				})
				if len(declarations) > 5 {
					declarations = unioncases.Some(declarations, 5, i)
				}
				if len(declarations) == 0 {
					t.Fatal("no union is tried")
				}
				for _, declaration := range declarations {
					u := unionOf(t, declaration, object)
					got, err := rules.OpenAPI(u)
					if err != nil {
						t.Fatalf("%s: %v", declaration, err)
					}
					compareOpenAPI(t, s, declaration, u, object, got)
				}
			})
		}
	}
}

func compareOpenAPI(t *testing.T, s unioncases.Shape, declaration string, u *union.Union, object, got *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	full := object.DeepCopy()
	if got != nil {
		full.AllOf = []apiextensionsv1.JSONSchemaProps{*got}
	}
	if errs := structuralschema.ValidateStructural(nil, structural(t, full)); len(errs) > 0 {
		t.Fatalf("%s: not structural: %v", declaration, errs)
	}
	before, after := validatorOf(t, object), validatorOf(t, full)
	compared := 0
	for _, state := range s.States() {
		for _, o := range state.Objects {
			if v, ok := o["type"]; ok && v == nil && s.Type == union.IntegerValue {
				continue
			}
			if hasNullMember(s, o) || len(validation.ValidateCustomResource(nil, o, before)) > 0 {
				continue
			}
			compared++
			errs := validation.ValidateCustomResource(nil, o, after)
			if violations := u.Violations(state.State); (len(errs) > 0) != (len(violations) > 0) {
				t.Errorf("%s: %v breaks %v; the server says %v", declaration, o, violations, errs)
			}
		}
	}
	if compared < len(s.Fields()) {
		t.Errorf("%s: only %d objects were compared", declaration, compared)
	}
}

func validatorOf(t *testing.T, s *apiextensionsv1.JSONSchemaProps) validation.SchemaValidator {
	t.Helper()
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &in, nil); err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func hasNullMember(s unioncases.Shape, o map[string]any) bool {
	return slices.ContainsFunc(s.Names(), func(name string) bool { v, ok := o[name]; return ok && v == nil })
}

// A union that allows every state has no schema.
func TestOpenAPINothing(t *testing.T) {
	object := schemaOf(t, "{type: object, properties: {a: {type: object}, b: {type: object}}}")
	got, err := rules.OpenAPI(unionOf(t, "{members: [a]}", object))
	if got != nil || err != nil {
		t.Errorf("OpenAPI = %v, %v; want nothing", got, err)
	}
}

func TestOpenAPIInexpressible(t *testing.T) {
	object := schemaOf(t, "{type: object, properties: {a: {type: object, properties: {x: {type: string}}}, b: {type: string}}}")
	for declaration, want := range map[string]string{
		"{members: [a, b], ratchet: true}":     "ratchet",
		"{members: [a, b], emptyIsUnset: [b]}": "emptyIsUnset",
		"{members: [a, b], emptyIsUnset: [a]}": "an empty a as set",
	} {
		got, err := rules.OpenAPI(unionOf(t, declaration, object))
		if got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: OpenAPI = %v, %v; want an error about %s", declaration, got, err, want)
		}
	}
}

// The schema grows by the same amount with every member.
func TestOpenAPILinear(t *testing.T) {
	for _, u := range []union.Union{
		{Cardinality: union.AtMostOne},
		{Cardinality: union.ExactlyOne, Discriminator: "type"},
		{Cardinality: union.AtMostOne, Discriminator: "type", Deduce: true},
	} {
		size := func(n int) int {
			u.Members = nil
			for i := range n {
				m := union.Member{Name: fmt.Sprintf("m%03d", i)}
				if u.Discriminator != "" {
					m.Values = []string{fmt.Sprintf("V%03d", i)}
				}
				u.Members = append(u.Members, m)
			}
			s, err := rules.OpenAPI(&u)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return len(data)
		}
		if a, b := size(20)-size(10), size(200)-size(190); a != b {
			t.Errorf("ten members more take %d bytes at ten and %d at 190", a, b)
		}
	}
}

func ExampleOpenAPI() {
	s, err := rules.OpenAPI(&union.Union{
		Discriminator: "type",
		Cardinality:   union.ExactlyOne,
		Members:       []union.Member{{Name: "http", Values: []string{"HTTP"}}, {Name: "tcp", Values: []string{"TCP", "TLS"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := sigsyaml.Marshal(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// anyOf:
	// - properties:
	//     type:
	//       enum:
	//       - HTTP
	//   required:
	//   - type
	//   - http
	// - properties:
	//     type:
	//       enum:
	//       - TCP
	//       - TLS
	//   required:
	//   - type
	//   - tcp
	// - not:
	//     anyOf:
	//     - properties:
	//         type:
	//           enum:
	//           - HTTP
	//           - TCP
	//           - TLS
	//       required:
	//       - type
	//     - properties:
	//         type:
	//           maxLength: 0
	//     - required:
	//       - http
	//     - required:
	//       - tcp
	// oneOf:
	// - required:
	//   - http
	// - required:
	//   - tcp
	// - not:
	//     anyOf:
	//     - required:
	//       - http
	//     - required:
	//       - tcp
}
