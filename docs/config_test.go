package docs_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/declared"
)

// The configuration in config.md is valid, and its table has the keys of the JSON Schema. The table
// of check.md has the keys below lint.
func TestConfig(t *testing.T) {
	d := open(t, "config.md")
	shown := 0
	for _, b := range d.blocks(t, 0, len(d.lines)) {
		if b.info == "yaml" {
			shown++
			if _, diags := declared.ParseConfig(".unioncel.yaml", []byte(b.text)); diags != nil {
				t.Error(diags)
			}
		}
	}
	if shown == 0 {
		t.Error("config.md shows no configuration")
	}
	data, err := os.ReadFile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	sameKeys(t, d, slices.Sorted(maps.Keys(schema.Properties)))
	sameKeys(t, open(t, "check.md"), slices.Sorted(maps.Keys(schema.Properties["lint"].Properties)))
}

// In the JSON Schemas, each key has a description, and each object sets additionalProperties.
func TestSchemas(t *testing.T) {
	names, err := filepath.Glob("*.schema.json")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(data, &root); err != nil {
			t.Fatal(err)
		}
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
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				visit(path+"."+key, properties[key])
			}
		}
		visit(name, root)
		defs, _ := root["$defs"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(defs)) {
			visit(name+": "+key, defs[key])
		}
	}
}

// sameKeys compares the table of keys of a page with the keys of the JSON Schema.
func sameKeys(t *testing.T, d *document, want []string) {
	t.Helper()
	text := lines(d.lines)
	header := regexp.MustCompile(`(?i)\| key \| (meaning )?\|`).FindStringIndex(text)
	if header == nil {
		t.Fatalf("%s has no table of keys", d.name)
	}
	keys, _, _ := strings.Cut(text[header[1]:], "\n\n")
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|").FindAllStringSubmatch(keys, -1) {
		got = append(got, row[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the table has %q, the JSON Schema %q", d.name, got, want)
	}
}
