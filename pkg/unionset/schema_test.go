package unionset_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/unionset"
)

const schemaFile = "../../docs/unionset.schema.json"

func readSchema(t *testing.T) any {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler() // it checks the schema against its metaschema, too
	if err := c.AddResource("unionset.schema.json", readSchema(t)); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("unionset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.DraftVersion != 2020 {
		t.Errorf("draft %d", schema.DraftVersion)
	}
	return schema
}

// validate returns the errors of the documents of a file.
func validate(t *testing.T, schema *jsonschema.Schema, text string) []error {
	t.Helper()
	f, err := yamltext.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	for _, d := range f.Docs {
		if d.Root == nil {
			continue
		}
		data, err := sigs.YAMLToJSON([]byte(text)[d.Start:d.End])
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// The JSON Schema accepts what Parse does, and refuses what Parse refuses and it
// can see.
func TestSchema(t *testing.T) {
	schema := compileSchema(t)
	for _, test := range good {
		if errs := validate(t, schema, test.text); len(errs) > 0 {
			t.Errorf("%s: %v", test.name, errs)
		}
	}
	for _, test := range bad {
		if !test.schema && len(validate(t, schema, test.text)) == 0 {
			t.Errorf("%s: the schema has nothing against\n%s", test.name, test.text)
		}
	}
	withPath := func(path string) string {
		data, err := json.Marshal(map[string]any{"apiVersion": unionset.APIVersion, "kind": unionset.Kind, "schemas": []any{
			map[string]any{"crd": "a.example.com", "path": path, union.Key: []any{map[string]any{"members": []string{"a", "b"}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, path := range []string{
		"", "spec", "spec.rules[*].filter", "spec.matrix[*][*]", "spec['a.b'].c", "['a b'][*]['c[d]']", `spec['it\'s \\']`, "0._-Z", "['größe']", "[*]",
		".spec", "spec.", "spec..a", "spec.*", "*", "spec.[*]", "spec[0]", "spec[a]", "spec['a", "spec['']", `spec['a\b']`, "spec['a']b", "spec rules", "spec.größe", "$.spec",
	} {
		_, err := schemapath.Parse(path)
		if errs := validate(t, schema, withPath(path)); (len(errs) == 0) != (err == nil) {
			t.Errorf("%q: the schema says %v, Parse %v", path, errs, err)
		}
	}
}

// declarationSchema returns the properties of a union in the schema.
func declarationSchema(t *testing.T) map[string]any {
	t.Helper()
	root, _ := readSchema(t).(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	declaration, _ := defs["union"].(map[string]any)
	properties, _ := declaration["properties"].(map[string]any)
	if len(properties) == 0 {
		t.Fatal("the schema has no properties in $defs/union")
	}
	return properties
}

// The schema has the keys that are read, and where one takes a few words only, the
// words.
func TestSchemaKeys(t *testing.T) {
	properties := declarationSchema(t)
	if d := cmp.Diff(union.Keys(), slices.Sorted(maps.Keys(properties))); d != "" {
		t.Error(d)
	}
	answer := regexp.MustCompile(`must be one of (.*)$`)
	for _, key := range union.Keys() {
		// The answer to another word lists those that are read.
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte("[{"+key+": nosuchword}]"), &doc); err != nil {
			t.Fatal(err)
		}
		_, diags := union.Parse("", "", doc.Content[0], nil)
		var words []string
		for _, d := range diags {
			if m := answer.FindStringSubmatch(d.Message); m != nil {
				words = strings.Split(m[1], ", ")
			}
		}
		property, _ := properties[key].(map[string]any)
		var got []string
		list, _ := property["enum"].([]any)
		for _, word := range list {
			s, _ := word.(string)
			got = append(got, s)
		}
		slices.Sort(got)
		if !slices.Equal(got, words) {
			t.Errorf("%s: %v in the schema, %v are read", key, got, words)
		}
	}
}

// Every key has a description, and every object but the metadata refuses others.
func TestSchemaDescribes(t *testing.T) {
	var visit func(path string, v any)
	visit = func(path string, v any) {
		schema, _ := v.(map[string]any)
		if schema["description"] == nil && schema["$ref"] == nil {
			t.Errorf("%s has no description", path)
		}
		properties, _ := schema["properties"].(map[string]any)
		if properties != nil && schema["additionalProperties"] == nil {
			t.Errorf("%s does not say what is with other keys", path)
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			visit(path+"."+name, properties[name])
		}
	}
	root, _ := readSchema(t).(map[string]any)
	visit("", root)
	defs, _ := root["$defs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		visit(name, defs[name])
	}
}
