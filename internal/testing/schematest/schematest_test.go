package schematest

import (
	"maps"
	"slices"
	"testing"
)

// Every key has a description, and every object sets additionalProperties.
func TestDescriptions(t *testing.T) {
	for _, name := range []string{"config", "unioncompiler", "unionnormalizer", "unionset"} {
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
		root := Read(t, name).root
		visit(name, root)
		defs, _ := root["$defs"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(defs)) {
			visit(name+": "+key, defs[key])
		}
	}
}
