package union

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Unnamed returns the path of an object in schema s that may have unknown fields; "" is the path of
// s itself. The API server never considers an object with such fields unchanged
// (k8s.io/apiserver/pkg/cel/common.CorrelatedObject). Unnamed skips lists without keys: the API
// server compares these as a whole.
func Unnamed(s *apiextensionsv1.JSONSchemaProps) (path string, ok bool) {
	values := s.AdditionalProperties
	switch {
	case s.XEmbeddedResource, values != nil && values.Schema == nil && values.Allows, values == nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return "", true
	case values != nil && values.Schema != nil:
		path, ok = Unnamed(values.Schema)
		return "[*]" + dotted(path), ok
	case s.Items != nil && s.Items.Schema != nil && s.XListType != nil && *s.XListType == "map":
		path, ok = Unnamed(s.Items.Schema)
		return "[*]" + dotted(path), ok
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if path, ok := Unnamed(&property); ok {
			return name + dotted(path), true
		}
	}
	return "", false
}

// dotted returns a path in the form that is appended to another path.
func dotted(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}
