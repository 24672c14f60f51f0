package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/policytest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/policy"
)

// TestValidatingAsCompiled tests that a policy rejects exactly the requests that a compiled CRD
// rejects. Stored objects may violate the unions, and may be absent.
func TestValidatingAsCompiled(t *testing.T) {
	const (
		members = "properties: {type: {type: string, enum: [A, B, None]}, a: {type: string, nullable: true}, b: {type: object, properties: {x: {type: string}}}, other: {type: string}}"
		union   = "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"
		forbid  = "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid}"
		table   = "{members: [a, b], allowedChanges: {a: [b, '']}}"
		pinned  = "{members: [a, b], allowedChanges: {a: b, b: ''}}"
		lax     = "{members: [a, b], cardinality: ExactlyOne, ratchet: true}"
		keyed   = "type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], "
		one     = "members: [{name: x}, {name: 'y'}]"
		item    = "items: {type: object, required: [name], properties: {name: {type: string, maxLength: 3, enum: [x, 'y', z]}, v: {type: string}}}"
	)
	with := func(unions string) string {
		return "type: object, " + members + ", x-kubernetes-unions: [" + unions + "]"
	}
	in := func(schema string) string { return "type: object, properties: {u: {" + schema + "}}" }
	for _, tt := range []struct{ name, spec string }{
		{"property", with(union)},
		{"nullable property", in("nullable: true, " + with(union))},
		{"ratchet", in(with(lax))},
		{"ratchet in a map", "type: object, maxProperties: 9, additionalProperties: {" + with(lax) + "}"},
		{"forbid", in(with(forbid))},
		{"forbid in a nullable property", in("nullable: true, " + with(forbid))},
		{"forbid in a required property", "type: object, required: [u], properties: {u: {" + with(forbid) + "}}"},
		{"forbid two levels down", in(in(with(forbid)))},
		{"table", in(with(table))},
		{"pinned member", in(with(pinned))},
		{"forbid in a map", "type: object, maxProperties: 9, additionalProperties: {" + in(with(forbid)) + "}"},
		{"forbid in a keyed list", keyed + "items: {required: [name], properties: {name: {type: string, enum: [x, 'y']}, type: {type: string, enum: [A, B]}, a: {type: string}}, type: object, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Forbid}]}"},
		{"forbid below a keyed list", keyed + "items: {type: object, required: [name], properties: {name: {type: string, enum: [x, 'y']}, u: {" + with(pinned) + "}}}"},
		{"list", "type: array, maxItems: 9, items: {" + with(union) + "}"},
		{"below a list", "type: array, maxItems: 9, items: {" + in(with(union)) + "}"},
		{"list of lists", "type: array, maxItems: 9, items: {type: array, maxItems: 9, items: {" + with(union) + "}}"},
		{"map in a list", "type: array, maxItems: 9, items: {type: object, maxProperties: 9, additionalProperties: {" + with(union) + "}}"},
		{"keyed list in a list", "type: array, maxItems: 9, items: {" + keyed + "items: {type: object, required: [name], properties: {name: {type: string, enum: [x, 'y']}, a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b]}]}}"},
		{"names that CEL escapes", in("type: object, properties: {if: {type: object, properties: {in-it: {type: string}}}, a/b: {type: string}, x__y: {type: string, enum: [A, '']}}, x-kubernetes-unions: [{discriminator: x__y, fields-to-discriminateBy: {a/b: A}, discriminatorChange: Forbid}]")},
		{"in an object below", in("type: object, properties: {sub: {type: object, nullable: true, properties: {type: {type: string, enum: [A, B]}, a: {type: string}}}, b: {type: string}}, x-kubernetes-unions: [{discriminator: sub.type, fields-to-discriminateBy: {sub.a: A, b: B}, discriminatorChange: Forbid}]")},
		{"items", in(keyed + item + ", x-kubernetes-unions: [{" + one + "}]")},
		{"items, forbid", in(keyed + item + ", x-kubernetes-unions: [{" + one + ", discriminatorChange: Forbid}]")},
		{"items, ratchet", in(keyed + item + ", x-kubernetes-unions: [{" + one + ", cardinality: ExactlyOne, ratchet: true}]")},
		{"items of a nullable list in a map", "type: object, maxProperties: 9, additionalProperties: {" + in("nullable: true, "+keyed+item+", x-kubernetes-unions: [{"+one+", allowedChanges: {x: 'y'}}]") + "}"},
		{"items of a list in a list", "type: array, maxItems: 9, items: {" + keyed + item + ", x-kubernetes-unions: [{" + one + "}]}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := []byte(testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: "{" + tt.spec + "}"}))
			compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
			if diags.HasErrors() {
				t.Fatalf("%v\n%s", diags, src)
			}
			var crd apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal(compiled, &crd); err != nil {
				t.Fatal(err)
			}
			declared, _ := crdpatch.Ask(crdpatch.Open("crd.yaml", src), crdpatch.Options{}, (*crdpatch.CRD).Declared)
			policies, _ := policy.Validating(declared[0].Kinds("crd.yaml"), policy.Options{})
			s, kind := policytest.NewValidating(t, policies[0]), server.NewKind(&crd)
			schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			// The policy cannot ignore a list with keys in a new order.
			r := filler{rand.New(rand.NewPCG(1, 2)), strings.HasPrefix(tt.name, "items")}
			accepted, n := 0, unioncases.Choose(100, 100, 4000)
			for range n {
				old := r.thing(r.value(&schema))
				new := r.thing(r.changed(&schema, old["spec"]))
				if r.IntN(9) == 0 {
					old = nil
				}
				answer, err := write(t, kind, old, new)
				if err != nil {
					t.Fatal(err)
				}
				accepts, err := s.Accepts(old, new)
				if err != nil {
					t.Fatalf("%v > %v: %v", old, new, err)
				}
				if accepts != (answer.Refused == nil) {
					t.Fatalf("%v > %v: accepted %t, the CRD says %v\n%v", old, new, accepts, answer.Refused, policies[0].Spec)
				}
				if accepts {
					accepted++
				}
			}
			if accepted < n/50 || accepted > n*49/50 {
				t.Errorf("%d of %d are accepted", accepted, n)
			}
		})
	}
}

func write(t *testing.T, kind *server.Kind, old, new map[string]any) (server.Answer, error) {
	if old == nil {
		return kind.Create(t.Context(), new)
	}
	return kind.Update(t.Context(), new, old)
}

// filler generates values for schemas.
type filler struct {
	*rand.Rand
	ordered bool // lists keep their order
}

// thing returns an object with the given spec, or without a spec.
func (r filler) thing(spec any) map[string]any {
	o := object(spec)
	o["metadata"] = map[string]any{"name": "t", "namespace": "n"}
	if r.IntN(20) == 0 {
		delete(o, "spec")
	}
	return o
}

func (r filler) value(s *apiextensionsv1.JSONSchemaProps) any {
	if s.Nullable && r.IntN(6) == 0 {
		return nil
	}
	switch {
	case len(s.Enum) > 0:
		var v any
		if err := json.Unmarshal(s.Enum[r.IntN(len(s.Enum))].Raw, &v); err != nil {
			panic(err) // the enums are literals in this test
		}
		if f, ok := v.(float64); ok && f == float64(int64(f)) {
			return int64(f) // as the API server decodes it
		}
		return v
	case s.Type == "string":
		return []string{"", "v"}[r.IntN(2)]
	case s.Type == "array":
		l := []any{}
		for range r.IntN(4) {
			l = append(l, r.value(s.Items.Schema))
		}
		return r.unique(s, l)
	case s.AdditionalProperties != nil:
		m := map[string]any{}
		for _, key := range []string{"k", "l"} {
			if r.IntN(3) > 0 {
				m[key] = r.value(s.AdditionalProperties.Schema)
			}
		}
		return m
	}
	m := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if p := s.Properties[name]; slices.Contains(s.Required, name) || r.IntN(2) == 0 {
			m[name] = r.value(&p)
		}
	}
	return m
}

// unique removes items with the keys of an earlier item.
func (r filler) unique(s *apiextensionsv1.JSONSchemaProps, l []any) []any {
	seen := map[string]bool{}
	return slices.DeleteFunc(l, func(item any) bool {
		text := ""
		for _, key := range s.XListMapKeys {
			text += fmt.Sprint(item.(map[string]any)[key], " ")
		}
		again := seen[text]
		seen[text] = s.XListMapKeys != nil
		return again
	})
}

// changed returns v with some changes that the schema allows, or another value.
func (r filler) changed(s *apiextensionsv1.JSONSchemaProps, v any) any {
	switch r.IntN(6) {
	case 0:
		return r.value(s)
	case 1, 2:
		return runtime.DeepCopyJSONValue(v)
	}
	switch v := runtime.DeepCopyJSONValue(v).(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p := s.Properties[name]
			if s.AdditionalProperties != nil {
				p = *s.AdditionalProperties.Schema
			}
			if v[name] = r.changed(&p, v[name]); r.IntN(8) == 0 && !slices.Contains(s.Required, name) {
				delete(v, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if p := s.Properties[name]; v[name] == nil && r.IntN(4) == 0 {
				v[name] = r.value(&p)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = r.changed(s.Items.Schema, v[i])
		}
		if r.IntN(4) == 0 && !r.ordered {
			r.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		}
		return r.unique(s, v)
	}
	return v
}
