package handwritten

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Paths select the schemas at the paths and below. No paths select all schemas.
type Paths []schemapath.Path

// ParsePaths reads paths as [schemapath.Path.String] writes them.
func ParsePaths(l []string) (Paths, error) {
	var paths Paths
	for _, text := range l {
		p, err := schemapath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// In reports, by path, whether a version of the CRD has a schema at the path.
func (l Paths) In(crd *apiextensionsv1.CustomResourceDefinition) []bool {
	found := make([]bool, len(l))
	for i, p := range l {
		found[i] = slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Schema != nil && p.Schema(v.Schema.OpenAPIV3Schema) != nil
		})
	}
	return found
}

// Selects reports whether the paths select the schema at a path, or else any schema below it.
func (l Paths) Selects(path schemapath.Path) (selected, below bool) {
	if len(l) == 0 {
		return true, true
	}
	for _, p := range l {
		n := min(len(p), len(path))
		if p[:n].Matches(path[:n]) {
			selected, below = selected || n == len(p), true
		}
	}
	return selected, below
}
