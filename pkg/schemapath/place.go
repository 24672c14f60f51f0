package schemapath

import (
	"cmp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Place is the location of a schema in a CRD.
type Place struct {
	// Version is the index in spec.versions, Name the name of that version.
	Version int
	Name    string
	// Path leads to the schema.
	Path Path
}

// String returns the path to a value of the schema in an object: spec.channels[*].
func (p Place) String() string { return cmp.Or(p.Path.String(), "(root)") }

// Structural returns the path in the CRD, as the API server's errors print it.
func (p Place) Structural() string { return p.Path.Structural(p.Version) }

// Is reports whether two places are the same schema.
func (p Place) Is(q Place) bool { return p.Version == q.Version && p.Path.Equal(q.Path) }

// Up returns the place of the enclosing schema whose path has n steps.
func (p Place) Up(n int) Place { return Place{p.Version, p.Name, p.Path[:n]} }

// Schema returns the schema in a CRD, or nil. The schema of a property is a copy.
func (p Place) Schema(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	if p.Version >= len(crd.Spec.Versions) || crd.Spec.Versions[p.Version].Schema == nil {
		return nil
	}
	return p.Path.Schema(crd.Spec.Versions[p.Version].Schema.OpenAPIV3Schema)
}

// Unmatched returns the first list on the path whose old and new items the API server cannot
// correlate, since it has no keys; ok is false if there is none.
func (p Place) Unmatched(crd *apiextensionsv1.CustomResourceDefinition) (list Place, ok bool) {
	for i, step := range p.Path {
		if step != Items {
			continue
		}
		// Lists default to atomic; sets are not correlated for rules either.
		list = p.Up(i)
		if s := list.Schema(crd); s == nil || s.XListType == nil || *s.XListType != "map" {
			return list, true
		}
	}
	return Place{}, false
}
