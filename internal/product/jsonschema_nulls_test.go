package product_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// decoder prunes, defaults and validates objects of a CRD as the API server does, without rules.
type decoder struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

func decoderOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) decoder {
	t.Helper()
	in := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, in, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(in)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(in)
	if err != nil {
		t.Fatal(err)
	}
	return decoder{structural, validator}
}

// stored returns the object in the form that the server stores, or nil if the server rejects it.
func (s decoder) stored(object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if unknown := pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}); len(unknown) > 0 {
		return nil
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	if err := objectmeta.Coerce(nil, object, s.structural, false, false); err != nil {
		return nil
	}
	defaulting.Default(object, s.structural)
	if len(validation.ValidateCustomResource(nil, object, s.validator)) > 0 || len(listtype.ValidateListSetsAndMaps(nil, s.structural, object)) > 0 || len(objectmeta.Validate(context.Background(), nil, object, s.structural, false)) > 0 {
		return nil
	}
	return object
}

// nulls yields copies of a value. In each copy, null replaces one value.
func nulls(v any, yield func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			with := func(inner any) {
				c := maps.Clone(v)
				c[key] = inner
				yield(c)
			}
			with(nil)
			nulls(v[key], with)
		}
	case []any:
		for i := range v {
			with := func(inner any) {
				c := slices.Clone(v)
				c[i] = inner
				yield(c)
			}
			with(nil)
			nulls(v[i], with)
		}
	}
}

// TestNulls compares the JSON Schema with the API server, which prunes a null, replaces it with a
// default, stores it, or rejects it.
func TestNulls(t *testing.T) {
	const schema = `
type: object
required: [must, mustDefault, mustNullable]
properties:
  must: {type: string}
  mustDefault: {type: string, default: x}
  mustNullable: {type: string, nullable: true}
  plain: {type: string, minLength: 1}
  default: {type: string, default: x}
  nullable: {type: string, nullable: true}
  nullableDefault: {type: string, nullable: true, default: x}
  enum: {type: string, enum: [A, B]}
  enumDefault: {type: string, enum: [A, B], default: A}
  port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
  open: {x-kubernetes-preserve-unknown-fields: true}
  kept: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}}
  nested: {type: object, required: [b], properties: {a: {type: boolean}, b: {type: object, properties: {c: {type: number}}}}}
  defaulted: {type: object, default: {}, properties: {a: {type: string, default: z}}}
  list: {type: array, items: {type: string}}
  objects: {type: array, minItems: 1, items: {type: object, properties: {a: {type: string}}}}
  nullItems: {type: array, items: {type: string, nullable: true}}
  defaultItems: {type: array, items: {type: string, default: z}}
  map: {type: object, additionalProperties: {type: string}}
  mapOfObjects: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}
  choice: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}
  least: {type: object, minProperties: 1, properties: {a: {type: string}, b: {type: string}}}
  two: {type: object, minProperties: 2, maxProperties: 2, properties: {a: {type: string}, b: {type: string}}}
  orNull: {type: object, minProperties: 1, properties: {a: {type: string, nullable: true}, b: {type: string}}}
  some: {type: object, minProperties: 1, additionalProperties: {type: string}}
  nestedChoice: {type: object, properties: {c: {type: object, properties: {a: {type: string}, b: {type: string}}}}, not: {properties: {c: {required: [a, b]}}}}
  not: {type: string, not: {enum: [x]}}
  all: {type: object, nullable: true, properties: {a: {type: string}}}
  embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, spec: {type: object}}}
`
	const full = `{must: a, mustDefault: a, mustNullable: a, plain: a, default: a, nullable: a, nullableDefault: a, enum: A, enumDefault: B, port: 80, open: {x: 1}, kept: {a: 1, b: 2},
 nested: {a: true, b: {c: 1.5}}, defaulted: {a: b}, list: [a, b], objects: [{a: b}], nullItems: [a], defaultItems: [a, b], map: {a: b}, mapOfObjects: {x: {a: b}},
 choice: {a: x}, least: {a: x}, two: {a: x, b: x}, orNull: {a: x}, some: {a: x, b: x}, nestedChoice: {c: {a: x}}, not: z, all: {a: x}, embedded: {apiVersion: v1, kind: A, metadata: {name: a}, spec: {}}}`
	crd, _ := version(t, schema, "")
	server, s := decoderOf(t, crd), compiledCRD(t, crd)
	var object map[string]any
	if err := sigs.Unmarshal([]byte("{apiVersion: example.com/v1, kind: Thing, metadata: {}, u: "+full+"}"), &object); err != nil {
		t.Fatal(err)
	}
	if !holds(t, server, s, object, nil) {
		t.Fatal("the server rejects the object without null")
	}
	seen := map[bool]int{}
	nulls(object, func(v any) {
		object := v.(map[string]any)
		for _, key := range []string{"apiVersion", "kind", "metadata"} {
			if object[key] == nil {
				return
			}
		}
		seen[holds(t, server, s, object, nil)]++
	})
	for text, want := range map[string]bool{
		"{mustDefault: null}":                  true,
		"{least: {a: null}}":                   false,
		"{least: {}}":                          false,
		"{least: {a: x, b: null}}":             true,
		"{orNull: {a: null}}":                  true,
		"{some: {a: null}}":                    false,
		"{choice: {a: null, b: x}}":            true,
		"{choice: {a: null, b: null}}":         false,
		"{nestedChoice: {c: {a: x, b: x}}}":    false,
		"{nestedChoice: {c: {a: x, b: null}}}": true,
	} {
		var u map[string]any
		if err := sigs.Unmarshal([]byte(text), &u); err != nil {
			t.Fatal(err)
		}
		u["must"], u["mustNullable"] = "a", "a"
		object["u"] = u
		if holds(t, server, s, object, nil) != want {
			t.Errorf("%s: want %t", text, want)
		}
	}
	if seen[true] < 30 || seen[false] < 5 {
		t.Error(seen)
	}
}

// holds compares the result of a schema with the result of the server and the unions of the
// property u. It returns the latter.
func holds(t *testing.T, server decoder, s *jsonschema.Schema, object map[string]any, unions []union.Object) bool {
	t.Helper()
	stored := server.stored(object)
	legal := stored != nil
	for _, o := range unions {
		for _, u := range o.Unions {
			legal = legal && (stored["u"] == nil || len(u.Violations(u.StateOf(stored["u"]))) == 0)
		}
	}
	if err := s.Validate(object); (err == nil) != legal {
		text, _ := json.Marshal(object["u"])
		t.Errorf("%s is accepted by the server: %t, and the schema: %v", text, legal, err)
	}
	return legal
}

// TestNullMembers compares the JSON Schema with the API server for objects with a null
// discriminator or member.
func TestNullMembers(t *testing.T) {
	for i, s := range append(unioncases.Shapes(), unioncases.Further()...) {
		if s.Members > 3 || testing.Short() && i%8 > 0 {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			for j, declaration := range unioncases.Some(s.Declarations(), 41, i) {
				text := s.Schema()
				if j%2 == 0 {
					text = strings.ReplaceAll(text, "nullable: true, ", "")
					text = strings.ReplaceAll(text, ", nullable: true", "")
				}
				if j%4 == 0 && s.Enum && s.Type == union.StringValue && s.Unset == "" && !strings.Contains(declaration, "deduce") {
					text = strings.Replace(text, "enum:", "default: A, enum:", 1)
				}
				crd, o := version(t, text, declaration)
				server, schema := decoderOf(t, crd), compiledCRD(t, crd, o)
				for _, state := range s.States() {
					object := state.Objects[0]
					try := func(v any) {
						holds(t, server, schema, map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{}, "u": v}, []union.Object{o})
						if t.Failed() {
							t.Fatal(text, declaration)
						}
					}
					nulls(object, try)
					u := o.Unions[0]
					for _, name := range u.Names() {
						if _, there := u.Lookup(object, name); !there {
							with := runtime.DeepCopyJSON(object)
							u.Put(with, name, nil)
							try(with)
						}
					}
				}
				holds(t, server, schema, map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{}, "u": nil}, []union.Object{o})
			}
		})
	}
}
