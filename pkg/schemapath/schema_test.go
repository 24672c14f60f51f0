package schemapath_test

import (
	"encoding/json"
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	. "github.com/unioncel/unioncel/pkg/schemapath"
)

const root = `
type: object
properties:
  spec:
    type: object
    properties:
      routes: {type: array, items: {type: object, properties: {a: {type: string}}}}
      ports: {type: object, additionalProperties: {type: integer}}
      open: {type: object, additionalProperties: true}
`

func schema(t *testing.T) (s *apiextensionsv1.JSONSchemaProps, v map[string]any) {
	t.Helper()
	for _, into := range []any{&s, &v} {
		if err := yaml.Unmarshal([]byte(root), into); err != nil {
			t.Fatal(err)
		}
	}
	return s, v
}

// Every path finds its schema, typed and as data, and edits only that schema.
func TestWalk(t *testing.T) {
	s, v := schema(t)
	var got []string
	Walk(s, func(p Path, at *apiextensionsv1.JSONSchemaProps) bool {
		got = append(got, p.String())
		if found := p.Schema(s); found == nil || found.Type != at.Type || p.Value(v)["type"] != at.Type {
			t.Errorf("%v: found %v and %v, want a %s", p, found, p.Value(v), at.Type)
		}
		if of := ChildrenOf(p.Value(v)); fmt.Sprint(of) != fmt.Sprint(Children(at)) {
			t.Errorf("%v: children %v as data", p, of)
		}
		edited := s.DeepCopy()
		p.Edit(edited, func(s *apiextensionsv1.JSONSchemaProps) { s.Title = "here" })
		Walk(edited, func(q Path, at *apiextensionsv1.JSONSchemaProps) bool {
			if (at.Title != "") != q.Equal(p) {
				t.Errorf("edited %v: %v has the title %q", p, q, at.Title)
			}
			return true
		})
		return p.String() != "spec.routes[*]"
	})
	if want := "[ spec spec.open spec.ports spec.ports[*] spec.routes spec.routes[*]]"; fmt.Sprint(got) != want {
		t.Errorf("walked %v", got)
	}
	for _, p := range []Path{New("status"), New("spec").Append(Items), New("spec", "open").Append(Values), New("spec", "routes").Append(Values)} {
		if p.Schema(s) != nil || p.Value(v) != nil {
			t.Errorf("%v: there is a schema", p)
		}
	}
	if at := New("spec", "ports").Append(Elements).Schema(s); at == nil || at.Type != "integer" {
		t.Errorf("[*] leads to %v", at)
	}
}

func TestJSON(t *testing.T) {
	p := New("spec").Append(Items, Values, Property("items"))
	data, err := json.Marshal(p)
	if want := `["properties","spec","items","additionalProperties","properties","items"]`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	var again Path
	if err := json.Unmarshal(data, &again); err != nil || !again.Equal(p) {
		t.Errorf("%v, %v", again, err)
	}
	if err := json.Unmarshal([]byte(`["allOf"]`), &again); err == nil {
		t.Error("a path through allOf")
	}
}

func ExamplePath() {
	p := New("spec", "channels").Append(Items, Property("type"))
	fmt.Println(p)
	fmt.Println(p.Structural(0))
	// Output:
	// spec.channels[*].type
	// spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[channels].items.properties[type]
}

func ExampleParse() {
	p, err := Parse("spec.rules[*]['a.b']")
	fmt.Printf("%q %v\n", p.Fields(), err)
	_, err = Parse("spec.rules[0]")
	fmt.Println(err)
	// Output:
	// ["properties" "spec" "properties" "rules" "[*]" "properties" "a.b"] <nil>
	// a path leads to a schema, which all elements have in common: write [*]
}
