package policy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

const spec = `type: object
properties:
  backends:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      required: [name]
      properties:
        name: {type: string}
        filters:
          type: array
          nullable: true
          items:
            type: object
            properties:
              type: {type: string, enum: [A, B], default: A}
              a: {type: string}
              b: {type: string}
`

var (
	filter = &union.Union{Discriminator: "type", Cardinality: union.AtMostOne, Members: []union.Member{
		{Name: "a", Values: []string{"A"}}, {Name: "b", Values: []string{"B"}},
	}}
	backend = &union.Union{Members: []union.Member{{Name: "x", Item: []union.ItemKey{{Name: "name", Value: "x"}}}}}
)

// route returns the kinds of a CRD with these unions.
func route(t *testing.T, origin string) []union.Kind {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(testcrd.Versions("Route", testcrd.Version{Name: "v1", Spec: spec})), &crd); err != nil {
		t.Fatal(err)
	}
	return compile.Kinds(&crd, []union.Object{
		{Place: schemapath.Place{Path: schemapath.New("spec", "backends")}, Unions: []*union.Union{backend}},
		{Place: schemapath.Place{Path: schemapath.New("spec", "backends").Append(schemapath.Items, schemapath.Property("filters"), schemapath.Items)}, Unions: []*union.Union{filter}},
		{Place: schemapath.Place{Version: 1, Path: schemapath.New("spec", "backends")}, Unions: []*union.Union{filter}},
	}, origin)
}

// An Object describes the enclosing schemas of its unions.
func TestOfCRD(t *testing.T) {
	l := route(t, "crd.yaml")
	if len(l) != 1 || len(l[0].Objects) != 1 || l[0].Resource != "routes" || l[0].String() != "example.com/v1, Kind=Route" {
		t.Fatal(l)
	}
	o := l[0].Objects[0]
	if d := cmp.Diff([][]string{{"name"}, nil}, o.Keys); d != "" || !o.Nullable || o.Path.String() != "spec.backends[*].filters[*]" {
		t.Errorf("%+v", o)
	}
	// A discriminator that is absent or null has its default; an empty one does not.
	for _, test := range []struct {
		object map[string]any
		value  string
		legal  bool
	}{
		{map[string]any{"a": "x"}, "A", true},
		{map[string]any{"type": nil, "a": "x"}, "A", true},
		{map[string]any{"b": "x"}, "A", false},
		{map[string]any{"type": "B", "b": "x"}, "B", true},
		{map[string]any{"type": "", "a": "x"}, "", false},
	} {
		l[0].Default(map[string]any{"spec": map[string]any{"backends": []any{map[string]any{"name": "x", "filters": []any{test.object}}}}})
		s := o.Unions[0].StateOf(test.object)
		if legal := len(o.Unions[0].Violations(s)) == 0; s.Value != test.value || legal != test.legal {
			t.Errorf("%v: %v", test.object, s)
		}
	}
}

// Integers keep their precision.
func TestDefaultedInteger(t *testing.T) {
	const spec = "type: object\nproperties:\n  port: {type: integer, default: 9007199254740993}\n  a: {type: string}\n"
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(testcrd.Versions("Route", testcrd.Version{Name: "v1", Spec: spec})), &crd); err != nil {
		t.Fatal(err)
	}
	u := &union.Union{Discriminator: "port", Type: union.IntegerValue, Members: []union.Member{{Name: "a", Values: []string{"9007199254740993"}}}}
	l := compile.Kinds(&crd, []union.Object{{Place: schemapath.Place{Path: schemapath.New("spec")}, Unions: []*union.Union{u}}}, "crd.yaml")
	object := map[string]any{}
	l[0].Default(map[string]any{"spec": object})
	if s := u.StateOf(object); s.Value != "9007199254740993" {
		t.Error(s)
	}
}

// A kind can be added only once.
func TestSet(t *testing.T) {
	var set union.KindSet
	if err := set.Add(route(t, "crd.yaml")...); err != nil {
		t.Error(err)
	}
	if err := set.Add(route(t, "other.yaml")...); err == nil || err.Error() != "both crd.yaml and other.yaml have Route of example.com/v1" {
		t.Error(err)
	}
	if got := set.Names(); !slices.Equal(got, []string{"Route of example.com/v1"}) {
		t.Error(got)
	}
}
