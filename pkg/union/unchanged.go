package union

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Unnamed returns where an object may have fields that its schema s does not name; the
// path is empty for the object itself. With such fields the API server never takes the
// object for unchanged (k8s.io/apiserver/pkg/cel/common.CorrelatedObject). Lists without
// keys are not looked into: it compares them as a whole.
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

// dotted is a path appended to another.
func dotted(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}
