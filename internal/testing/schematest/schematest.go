// Package schematest validates documents against the published JSON Schemas, for tests that compare
// the schemas with the code that reads such documents.
package schematest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// Schema is one of docs/*.schema.json.
type Schema struct {
	root     map[string]any
	compiled *jsonschema.Schema
}

// Read reads docs/NAME.schema.json.
func Read(t *testing.T, name string) Schema {
	t.Helper()
	c := jsonschema.NewCompiler() // also validates the schemas against their metaschema
	var s Schema
	root := "."
	for _, err := os.Stat("go.mod"); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
		root = filepath.Join("..", root)
	}
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.schema.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	var id string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		schema := v.(map[string]any)
		if err := c.AddResource(schema["$id"].(string), schema); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if filepath.Base(path) == name+".schema.json" {
			s.root, id = schema, schema["$id"].(string)
		}
	}
	if s.compiled, err = c.Compile(id); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// Properties returns the properties of a definition or, for "", of the document.
func (s Schema) Properties(definition string) map[string]any {
	of := s.root
	if definition != "" {
		of = s.root["$defs"].(map[string]any)[definition].(map[string]any)
	}
	return of["properties"].(map[string]any)
}

// Validate returns the schema's error for the documents in text, or nil if they are valid.
func (s Schema) Validate(t *testing.T, text string) error {
	t.Helper()
	f, err := yamltext.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Docs {
		if d.Root == nil {
			continue
		}
		data, err := sigs.YAMLToJSON([]byte(text)[d.Start:d.End])
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.compiled.Validate(v); err != nil {
			return err
		}
	}
	return nil
}
