package change

import (
	"cmp"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Converts reports whether a webhook converts the objects of a CRD. Without a webhook, the API
// server sets apiVersion and drops fields that the version lacks.
func Converts(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// SchemaOf returns the schema of a version of a CRD, or nil if there is none.
func SchemaOf(crd *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.JSONSchemaProps {
	if v := versionNamed(crd, version); v != nil && v.Schema != nil {
		return v.Schema.OpenAPIV3Schema
	}
	return nil
}

// versionNamed returns the version of a CRD that has the given name, or nil if there is none.
func versionNamed(crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	if i := versionIndex(crd, name); i >= 0 {
		return &crd.Spec.Versions[i]
	}
	return nil
}

// versionIndex returns the index of a version, or -1.
func versionIndex(crd *apiextensionsv1.CustomResourceDefinition, name string) int {
	return slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
}

// versionNames returns the names of the versions of a CRD for which a condition holds.
func versionNames(crd *apiextensionsv1.CustomResourceDefinition, is func(v apiextensionsv1.CustomResourceDefinitionVersion) bool) (l []string) {
	for _, v := range crd.Spec.Versions {
		if is(v) {
			l = append(l, v.Name)
		}
	}
	return l
}

func has(crd *apiextensionsv1.CustomResourceDefinition, name string) bool {
	return versionIndex(crd, name) >= 0
}

func served(crd *apiextensionsv1.CustomResourceDefinition, name string) bool {
	v := versionNamed(crd, name)
	return v != nil && v.Served
}

// dropped returns the paths of fields that objects of one version may have and that another version drops. The
// versions may belong to different CRDs.
func dropped(crd *apiextensionsv1.CustomResourceDefinition, name string, other *apiextensionsv1.CustomResourceDefinition, otherName string) []string {
	from, to := SchemaOf(crd, name), SchemaOf(other, otherName)
	if from == nil || to == nil || other.Spec.PreserveUnknownFields {
		return nil
	}
	var l []string
	var walk func(p schemapath.Path, from, to *apiextensionsv1.JSONSchemaProps)
	walk = func(p schemapath.Path, from, to *apiextensionsv1.JSONSchemaProps) {
		keeps := preserves(to)
		if preserves(from) && !keeps {
			l = append(l, p.Append(schemapath.Values).String())
		}
		for _, step := range schemapath.Children(from) {
			name, property := step.Property()
			in := step.Schema(to)
			if in == nil && property {
				in = schemapath.Values.Schema(to)
			}
			switch {
			case len(p) == 0 && slices.Contains(ownFields[:3], name):
			case in != nil:
				walk(p.Append(step), step.Schema(from), in)
			case !keeps:
				l = append(l, p.Append(step).String())
			}
		}
	}
	walk(nil, from, to)
	return l
}

func preserves(s *apiextensionsv1.JSONSchemaProps) bool {
	return formula.KeepsUnknown(s) || s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Allows
}

// drops lists the fields that a write through a version drops from storage after the change but not
// before. Only conversion counts: fields that the storage version itself loses are a change of its
// schema.
func (f *Facts) drops() []string {
	if Converts(f.To) {
		return nil
	}
	var l []string
	from := storage(f.From)
	for _, v := range f.To.Spec.Versions {
		if !v.Served && !v.Storage || v.Name == from {
			continue
		}
		var before []string
		if served(f.From, v.Name) && !Converts(f.From) {
			before = dropped(f.From, from, f.From, v.Name)
		}
		for _, path := range dropped(f.From, from, f.To, v.Name) {
			if !slices.Contains(before, path) {
				l = append(l, fmt.Sprintf("%s does not have %s", v.Name, path))
			}
		}
	}
	return l
}

// added returns the versions that are served only after the change.
func (f *Facts) added() []string {
	return versionNames(f.To, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Served && !served(f.From, v.Name)
	})
}

// narrows lists the constraints of added versions that may reject objects of the storage version.
func (f *Facts) narrows() []string {
	from := storage(f.From)
	schema := SchemaOf(f.To, from)
	if Converts(f.To) || schema == nil {
		return nil
	}
	var l []string
	for _, name := range f.added() {
		schemapath.Walk(SchemaOf(f.To, name), func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			was := p.Schema(schema)
			if was != nil && !equality.Semantic.DeepEqual(constraints(was), constraints(s)) {
				l = append(l, fmt.Sprintf("%s does not have the constraints of %s on %s", name, from, cmp.Or(p.String(), "the object")))
			}
			return was != nil
		})
	}
	return l
}

// constraints returns a schema without child schemas and documentation.
func constraints(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	own := *s
	own.Properties, own.Items, own.AdditionalProperties = nil, nil, nil
	own.Description, own.Title, own.Example, own.ExternalDocs = "", "", nil, nil
	return &own
}

// unprinted returns further versions in which the stored objects must be printed, because
// conversion hides fields, or because only a webhook can convert the objects.
func (f *Facts) unprinted() []string {
	var l []string
	now, missing := f.current(), func(v string) bool { return f.Objects.Printed[v] < f.Objects.Total }
	if from := storage(now); !Converts(now) && served(now, from) && missing(from) {
		for v := range f.Objects.Printed {
			if len(dropped(now, from, now, v)) > 0 && !slices.Contains(l, from) {
				l = append(l, from)
			}
		}
	}
	return append(l, versionNames(f.To, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return Converts(f.To) && v.Served && served(now, v.Name) && missing(v.Name) && f.touches(v.Name)
	})...)
}

// touches reports whether the change may reject objects accepted in a version.
func (f *Facts) touches(version string) bool {
	if f.Changes == nil || version == storage(f.To) && version != storage(f.From) {
		return true
	}
	return slices.ContainsFunc(f.Changes.Changes, func(c Change) bool { return c.NewVersion == version && c.MattersToStored() })
}
