package product_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestEveryState compares the schema with pkg/union for unions of all shapes in every state, and
// for schemas that exclude some stored values. A plain run covers one declaration in 23 and, for
// larger unions, one representation of each state.
func TestEveryState(t *testing.T) {
	for i, s := range append(unioncases.Shapes(), unioncases.Further()...) {
		if testing.Short() && i%8 > 0 {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			some := s.Members > 2 && !unioncases.Exhaustive
			var objects []map[string]any
			for _, state := range s.States() {
				if some {
					state.Objects = state.Objects[:1]
				}
				objects = append(objects, state.Objects...)
			}
			relations := slices.DeleteFunc(s.Declarations(), func(d string) bool { return !strings.Contains(d, "dependent") })
			compare(t, s.Schema(), append(unioncases.Some(s.Declarations(), 23, i), relations...), objects)
		})
	}
	for _, s := range unioncases.Stored {
		t.Run(s.Name, func(t *testing.T) {
			compare(t, s.Schema, unioncases.StoredDeclarations(), unioncases.StoredObjects())
		})
	}
}

// TestItems compares the schemas of unions of items of a list with pkg/union.
func TestItems(t *testing.T) {
	const schema = "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, name], " +
		"items: {type: object, required: [port, name], properties: {port: {type: integer}, name: {type: string}}}}"
	var declarations []string
	for _, cardinality := range []string{"", ", cardinality: ExactlyOne", ", cardinality: AtLeastOne"} {
		declarations = append(declarations, "{members: [{port: 80, name: a}, {port: 80, name: b}, {port: 443, name: a}]"+cardinality+"}")
	}
	var lists [][]any
	for bits := range 16 {
		list := []any{}
		for i, item := range []map[string]any{{"port": int64(80), "name": "a"}, {"port": int64(80), "name": "b"}, {"port": int64(443), "name": "a"}, {"port": int64(443), "name": "b"}} {
			if bits&(1<<i) > 0 {
				list = append(list, item)
			}
		}
		lists = append(lists, list)
	}
	compare(t, schema, declarations, lists)
}

// TestItemDefaults compares the schemas of unions of list items with the API server, for lists whose
// items omit a key that has a default.
func TestItemDefaults(t *testing.T) {
	for _, defaulted := range []string{"port: {type: integer, default: 80}, name: {type: string}", "port: {type: integer}, name: {type: string, default: a}", "port: {type: integer, default: 80}, name: {type: string, default: a}"} {
		for _, item := range []string{"", ", default: {port: 80, name: a}", ", default: {}"} {
			for _, cardinality := range []string{"AtMostOne", "ExactlyOne", "AtLeastOne"} {
				schema := "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, name], items: {type: object" + item + ", properties: {" + defaulted + "}}}"
				if item == ", default: {}" && strings.Count(defaulted, "default") < 2 {
					continue // the API server rejects the CRD
				}
				crd, o := version(t, schema, "{members: [{port: 80, name: a}, {port: 80, name: b}, {port: 443, name: a}], cardinality: "+cardinality+"}")
				server, plain, s := decoderOf(t, crd), compiledCRD(t, crd), compiledCRD(t, crd, o)
				items := []string{"{}", "{port: 80}", "{port: 443}", "{name: a}", "{name: b}", "{port: null, name: a}", "{port: 443, name: null}", "{port: 443, name: b}", "null"}
				for _, a := range items {
					for _, b := range append(items, "") {
						var u any
						if err := sigs.Unmarshal([]byte("["+a+", "+b+"]"), &u); err != nil {
							t.Fatal(err)
						}
						object := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{}, "u": u}
						if server.stored(object) == nil && plain.Validate(object) == nil {
							continue // JSON Schema cannot express that keys are unique
						}
						holds(t, server, s, object, []union.Object{o})
					}
				}
				if t.Failed() {
					t.Fatal(schema, cardinality)
				}
			}
		}
	}
}

// compare compares the schema of a CRD, which has a union object in a property, with the meaning of
// its unions, except changes. It skips objects that the API server rejects regardless of the unions,
// and null in places where the server does not store it.
func compare[T any](t *testing.T, schema string, declarations []string, objects []T) {
	t.Helper()
	crd, _ := version(t, schema, "")
	server := decoderOf(t, crd)
	var whole []any
	var kept []T
	for _, object := range objects {
		v := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{}, "u": object}
		if len(validation.ValidateCustomResource(nil, v, server.validator)) == 0 {
			whole, kept = append(whole, v), append(kept, object)
		}
	}
	seen := map[string]bool{}
	for _, declaration := range declarations {
		crd, o := version(t, schema, declaration)
		u := o.Unions[0]
		static := *u
		static.Change, static.Allowed, static.Ratchet = 0, nil, false
		if key := fmt.Sprintf("%+v", static); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		s := compiledCRD(t, crd, o)
		for i, object := range kept {
			violations := u.Violations(u.StateOf(object))
			if err := s.Validate(whole[i]); (err == nil) != (len(violations) == 0) {
				text, _ := json.Marshal(object)
				t.Fatalf("%s\n%s\n%v, but the union says %v", declaration, text, err, violations)
			}
		}
	}
}

// TestDefaults compares the schema with the API server for objects that omit their discriminator.
// The discriminator is in a nested object, which objects may omit as well.
func TestDefaults(t *testing.T) {
	judged := map[bool]int{}
	for _, holder := range []string{"", ", default: {}", ", default: {t: B}", ", nullable: true", ", nullable: true, default: {t: B}"} {
		for _, typ := range []string{"", ", default: A", ", nullable: true", ", nullable: true, default: A"} {
			for _, required := range []string{"", ", required: [t]"} {
				if required != "" && strings.Contains(holder, "default: {}") && !strings.Contains(typ, "default") {
					continue // the API server rejects the CRD
				}
				schema := "{type: object, properties: {p: {type: object, properties: {t: {type: string, enum: [A, B, null]" + typ + "}}" + required + holder + "}, a: {type: string}, b: {type: string}}}"
				declaration := "{discriminator: p.t, fields-to-discriminateBy: {a: A, b: B}}"
				crd, o := version(t, schema, declaration)
				plain, s := compiledCRD(t, crd), compiledCRD(t, crd, o)
				var props apiextensionsv1.JSONSchemaProps
				if err := sigs.Unmarshal([]byte(schema), &props); err != nil {
					t.Fatal(err)
				}
				in := apiextensions.JSONSchemaProps{}
				if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &in, nil); err != nil {
					t.Fatal(err)
				}
				structural, err := structuralschema.NewStructural(&in)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []string{"", "p: {}, ", "p: null, ", "p: {t: null}, ", "p: {t: A}, ", "p: {t: B}, "} {
					for _, members := range []string{"", "a: x", "b: x", "a: x, b: x"} {
						var object map[string]any
						if err := sigs.Unmarshal([]byte("{"+p+members+"}"), &object); err != nil {
							t.Fatal(err)
						}
						whole := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{}, "u": object}
						stored := runtime.DeepCopyJSON(object)
						defaulting.PruneNonNullableNullsWithoutDefaults(stored, structural)
						defaulting.Default(stored, structural)
						u := o.Unions[0]
						legal := len(u.Violations(u.StateOf(stored))) == 0
						judged[legal]++
						if plain.Validate(whole) != nil {
							continue
						}
						if err := s.Validate(whole); (err == nil) != legal {
							t.Errorf("%s\n{%s%s} becomes %v\n%v", schema, p, members, stored, err)
						}
					}
				}
			}
		}
	}
	if judged[true] < 100 || judged[false] < 100 {
		t.Error(judged)
	}
}

// version returns a CRD with a schema in the property u, and its union if there is a declaration.
func version(t *testing.T, schema, declaration string) (*apiextensionsv1.CustomResourceDefinition, union.Object) {
	t.Helper()
	s := apiextensionsv1.JSONSchemaProps{}
	if err := sigs.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group, crd.Spec.Names.Kind = "example.com", "Thing"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"u": s}}}}}
	if declaration == "" {
		return crd, union.Object{}
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte("- "+declaration), &n); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("crd.yaml", "u", n.Content[0], nil)
	unions, more := union.Resolve(declarations, &s, false)
	if diags.HasErrors() || more.HasErrors() {
		t.Fatalf("%s\n%v %v", declaration, diags, more)
	}
	return crd, union.Object{Place: schemapath.Place{Path: schemapath.Path{schemapath.Property("u")}}, Unions: unions}
}

// TestRoot checks the schema of a union in the root of a CRD that does not list the fields of every
// resource.
func TestRoot(t *testing.T) {
	crd, o := version(t, "{type: object, properties: {a: {type: string}, b: {type: string}, type: {type: string, enum: [A, B]}}}", "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}")
	inner := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["u"]
	for _, unions := range [][]*union.Union{o.Unions, {{Members: o.Unions[0].Members, Cardinality: union.ExactlyOne}}} {
		crd := crd.DeepCopy()
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &inner
		s := compiledCRD(t, crd, union.Object{Unions: unions})
		for text, want := range map[string]bool{
			"metadata: {name: x, labels: {a: b}}, type: A, a: x": true,
			"type: A, a: x":       true,
			"type: A, a: x, b: x": false,
			"type: A, a: x, c: x": false,
		} {
			var object any
			if err := sigs.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Thing, "+text+"}"), &object); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(object); (err == nil) != want {
				t.Errorf("%s: %v, want %t", text, err, want)
			}
		}
	}
}

// TestSeveralUnions checks the schema of nested unions, of two unions in one object, and of a
// union in an open object with a oneOf.
func TestSeveralUnions(t *testing.T) {
	crd, o := version(t, `
type: object
required: [note]
properties:
  note: {type: string}
  type: {type: string, enum: [A, B], default: A}
  a:
    type: object
    properties: {x: {type: string, nullable: true}, z: {x-kubernetes-int-or-string: true}}
  b: {type: object}
  c: {type: integer, minimum: 0, exclusiveMinimum: true}
  d: {type: array, items: {type: string}, x-kubernetes-list-type: set}
  open:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    properties: {p: {type: string}, q: {type: string}}
    oneOf: [{required: [p]}, {required: [q]}]
`, "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [a]}")
	add := func(o union.Object, declaration string) union.Object {
		s := o.Path.Schema(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
		var n yaml.Node
		if err := yaml.Unmarshal([]byte("- "+declaration), &n); err != nil {
			t.Fatal(err)
		}
		declarations, _ := union.Parse("crd.yaml", "u", n.Content[0], nil)
		unions, diags := union.Resolve(declarations, s, false)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		o.Unions = append(o.Unions, unions...)
		return o
	}
	u := add(o, "{members: [c, d]}")
	below := func(name string) union.Object {
		return union.Object{Place: schemapath.Place{Path: append(slices.Clone(u.Path), schemapath.Property(name))}}
	}
	objects := []union.Object{u, add(below("a"), "{members: [x, z], cardinality: ExactlyOne}"), add(below("open"), "{members: [p, q]}")}
	s := compiledCRD(t, crd, objects...)
	for text, want := range map[string]bool{
		"{note: x}":                               true,
		"{type: A}":                               false, // no note
		"{note: x, a: {x: x}, c: 1}":              true,
		"{note: x, type: A, a: {x: null, z: 1}}":  true,
		"{note: x, type: A, a: {x: null}}":        false,
		"{note: x, type: A, a: {x: x, z: '50%'}}": false,
		"{note: x, type: B, b: {}, d: [a]}":       true,
		"{note: x, b: {}}":                        false, // the type defaults to A
		"{note: x, type: B}":                      false,
		"{note: x, c: 1, d: []}":                  false,
		"{note: x, c: 0}":                         false,
		"{note: x, open: {p: x, other: 1}}":       true,
		"{note: x, open: {p: x, q: x}}":           false,
		"{note: x, open: {}}":                     false,
		"{note: x, other: 1}":                     false,
	} {
		var object any
		if err := sigs.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Thing, u: "+text+"}"), &object); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(object); (err == nil) != want {
			t.Errorf("%s: %v, want %t", text, err, want)
		}
	}
}

// TestMessages checks that the errors of a validator are about the members of one branch.
func TestMessages(t *testing.T) {
	const schema = "{type: object, properties: {type: {type: string, enum: [A, B, C, D]%s}, a: {type: object, properties: {x: {type: integer}}}, b: {type: object}, in: {type: object, properties: {type: {type: string, enum: [A, B]}}, required: [type]}}%s}"
	for _, test := range []struct{ name, typ, object, declaration string }{
		{"required", "", ", required: [type]", "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"},
		{"default", ", default: A", "", "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"},
		{"optional", "", "", "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"},
		{"unmapped", "", "", "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unmappedValues: Forbid, cardinality: ExactlyOne}"},
		{"nested", "", ", required: [in]", "{discriminator: in.type, fields-to-discriminateBy: {a: A, b: B}}"},
	} {
		crd, o := version(t, fmt.Sprintf(schema, test.typ, test.object), test.declaration)
		s := compiledCRD(t, crd, o)
		for text, want := range messages[test.name] {
			var object any
			if err := sigs.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Thing, u: "+text+"}"), &object); err != nil {
				t.Fatal(err)
			}
			var got string
			if err := s.Validate(object); err != nil {
				_, got, _ = strings.Cut(err.Error(), "\n")
			}
			if got != want {
				t.Errorf("%s: %s\n%s\nwant\n%s", test.name, text, got, want)
			}
		}
	}
}

// messages are the errors for the object in u, by the test and the object.
var messages = map[string]map[string]string{
	"required": {
		"{type: A, a: {}}":        "",
		"{type: C}":               "",
		"{type: A}":               "- at '/u': missing property 'a'",
		"{type: A, a: {x: x}}":    "- at '/u/a/x': got string, want null or integer",
		"{type: A, a: {}, b: {}}": "- at '/u/b': got object, want null",
		"{type: B, a: {}}":        "- at '/u': missing property 'b'\n- at '/u/a': got object, want null",
		"{type: C, a: {}}":        "- at '/u/a': got object, want null",
		"{type: A, a: {}, c: {}}": "- at '/u': additional properties 'c' not allowed",
		"{type: E, a: {}}":        "- at '/u/type': value must be one of 'A', 'B', 'C', 'D'",
		"{a: {}}":                 "- at '/u': missing property 'type'",
	},
	"default": {
		"{a: {}}":          "",
		"{b: {}}":          "- at '/u': missing property 'a'\n- at '/u/b': got object, want null",
		"{type: B, a: {}}": "- at '/u': missing property 'b'\n- at '/u/a': got object, want null",
	},
	"optional": {
		"{}":      "",
		"{b: {}}": "- at '/u/b': got object, want null",
	},
	"unmapped": {
		"{type: C}": "- at '/u/type': value must be one of 'A', 'B'",
		"{}":        "- at '/u': missing property 'type'",
	},
	"nested": {
		"{in: {type: A}}":        "- at '/u': missing property 'a'",
		"{in: {type: C}, a: {}}": "- at '/u/in/type': value must be one of 'A', 'B'",
		"{in: {}, a: {}}":        "- at '/u/in': missing property 'type'",
		"{a: {}}":                "- at '/u': missing property 'in'",
	},
}

func jsonSchema(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, objects ...union.Object) map[string]any {
	t.Helper()
	s, err := product.JSONSchema(crd, 0, objects)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compiledCRD compiles the schema of a CRD. The metaschema has to accept it.
func compiledCRD(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, objects ...union.Object) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(jsonSchema(t, crd, objects...))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///schema.json", v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("file:///schema.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return s
}

// TestPatterns checks that patterns without a meaning in ECMAScript are left out.
func TestPatterns(t *testing.T) {
	for text, want := range map[string]bool{
		`^[a-z]([-a-z0-9]*[a-z0-9])?$`: true, `^(?:a|b)\.c$`: true, `\d+\/\w+`: true, `\p{L}`: true, `a\[b\]`: true,
		`^(?i)(abort|warn)?$`: false, `(?P<name>a)`: false, `\Aa\z`: false, `[[:alpha:]]+`: false, `[^%[:cntrl:]]`: false, `[^][]`: false, `\pL`: false, `a\"b`: false,
	} {
		crd, _ := version(t, "{type: string}", "")
		u := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["u"]
		u.Pattern = text
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["u"] = u
		s := jsonSchema(t, crd)["properties"].(map[string]any)["u"].(map[string]any)
		if _, kept := s["pattern"]; kept != want {
			t.Errorf("%s is kept: %t", text, kept)
		}
	}
}

// TestNoAddresses adds addresses to a schema at every possible path. The output must contain none.
func TestNoAddresses(t *testing.T) {
	crd, _ := version(t, `
type: object
$ref: https://example.com/1
id: https://example.com/2
$schema: https://example.com/3
externalDocs: {url: https://example.com/4}
definitions: {x: {$ref: https://example.com/5}}
patternProperties: {x: {$ref: https://example.com/6}}
dependencies: {x: {$ref: https://example.com/7}}
properties:
  a: {type: array, items: {type: string, $ref: https://example.com/8}, additionalItems: {$ref: https://example.com/9}}
  b: {type: string, not: {$ref: https://example.com/10}, anyOf: [{id: https://example.com/11}]}
`, "")
	data, err := json.Marshal(jsonSchema(t, crd))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("https://example.com/")) {
		t.Errorf("%s", data)
	}
}
