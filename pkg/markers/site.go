package markers

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// address is a schema of a CRD.
type address struct {
	union.Target
	version string
	path    schemapath.Path
}

func (a address) is(b address) bool {
	return a.Is(b.Target) && a.version == b.version && a.path.Equal(b.path)
}

func (a address) String() string {
	path := a.path.String()
	if path == "" {
		path = "the root"
	}
	return fmt.Sprintf("%s in version %s of %s", path, a.version, a.Target)
}

// site is a type that a schema is generated from. A schema can come from several types, such as a
// struct and the structs that it inlines.
type site struct {
	address
	*structure
	at *apiextensionsv1.JSONSchemaProps
}

// typesAt returns the types of a schema, outermost first.
func (l *loading) typesAt(a address) []site {
	return slices.DeleteFunc(slices.Clone(l.sites), func(s site) bool { return !s.address.is(a) })
}

// schemaOf returns the schema of a version that controller-gen generates.
func (l *loading) schemaOf(a address) *apiextensionsv1.JSONSchemaProps {
	for _, s := range l.sites {
		if s.Is(a.Target) && s.version == a.version && len(s.path) == 0 {
			return a.path.Schema(s.at)
		}
	}
	return nil
}

// property returns the field of s with a property, not of an inlined struct, or nil.
func (s *structure) property(name string) *field {
	i := slices.IndexFunc(s.fields, func(f *field) bool { return f.json == name && !f.inline })
	if i < 0 {
		return nil
	}
	return s.fields[i]
}
