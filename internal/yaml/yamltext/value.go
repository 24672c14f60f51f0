package yamltext

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"
	sigs "sigs.k8s.io/yaml"
)

// Value returns the value that sigs.k8s.io/yaml reads from a document, like kubectl and the API
// server's strict decoding: maps with string keys, slices, strings, booleans, int64, float64 or
// nil. Duplicate keys are an error, and so is a key that a merge key repeats.
func (f *File) Value(d *Document) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("invalid YAML: %v", r)
		}
	}()
	if keys := DuplicateKeys(d.Root); d.json && len(keys) > 0 {
		return nil, fmt.Errorf("line %d: key %q already set in map", keys[0].Line, keys[0].Value)
	}
	data, err := toJSON(f.Src[d.Start:d.End], sigs.YAMLToJSONStrict)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return v, nil
}
