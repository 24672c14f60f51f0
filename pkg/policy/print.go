package policy

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// YAML prints objects as a stream of YAML documents, without the fields that only a server sets.
func YAML(objects ...any) ([]byte, error) {
	var b bytes.Buffer
	for i, o := range objects {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return nil, fmt.Errorf("print a policy: %w", err)
		}
		delete(m, "status")
		if metadata, ok := m["metadata"].(map[string]any); ok {
			delete(metadata, "creationTimestamp")
		}
		text, err := yaml.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("print a policy: %w", err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}
