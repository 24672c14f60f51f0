package declared_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/testing/schematest"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestSchema asserts that the JSON Schema accepts every file that Parse accepts, and rejects the
// errors that JSON Schema can detect.
func TestSchema(t *testing.T) {
	schema := schematest.Read(t, "unionset")
	for _, test := range good {
		if err := schema.Validate(t, test.text); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, test := range bad {
		if !test.schema && schema.Validate(t, test.text) == nil {
			t.Errorf("%s: the schema has nothing against\n%s", test.name, test.text)
		}
	}
	withPath := func(path string) string {
		data, err := json.Marshal(map[string]any{"apiVersion": declared.APIVersion, "kind": declared.UnionSetKind, "schemas": []any{
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
		if wrong := schema.Validate(t, withPath(path)); (wrong == nil) != (err == nil) {
			t.Errorf("%q: the schema says %v, Parse %v", path, wrong, err)
		}
	}
}

// TestSchemaKeys asserts that the JSON Schema has the keys and enumerated values of Parse.
func TestSchemaKeys(t *testing.T) {
	schema := schematest.Read(t, "unionset")
	properties := schema.Properties("union")
	if d := cmp.Diff(union.Keys(), slices.Sorted(maps.Keys(properties))); d != "" {
		t.Error(d)
	}
	extension := schema.Properties("extension")
	delete(extension, "union")
	if d := cmp.Diff(union.Keys(), slices.Sorted(maps.Keys(extension))); d != "" {
		t.Errorf("extension: %s", d)
	}
	answer := regexp.MustCompile(`must be one of (.*)$`)
	for _, key := range union.Keys() {
		// The diagnostic for an unknown word lists the known words.
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
