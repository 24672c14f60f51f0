package change

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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

// stored returns a printed object in the form that the API server stores.
func (j *Judge) stored(object map[string]any, v Prediction) (map[string]any, error) {
	now := j
	if j.before != nil {
		now = j.before
	}
	storage := now.kind.Storage()
	_, known := j.rules[storage]
	switch {
	case v.Version == storage || !known:
		return object, nil
	case !Converts(now.crd):
		u := unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
		u.SetAPIVersion(j.crd.Spec.Group + "/" + storage)
		return u.Object, nil
	case !Converts(j.crd):
		return nil, fmt.Errorf("%s is of version %s, which a webhook has made of the stored version %s", v, v.Version, storage)
	}
	return object, nil
}

func versionOf(object map[string]any) string {
	u := unstructured.Unstructured{Object: object}
	return u.GroupVersionKind().Version
}

// losses records the fields that writes of an object lose now but did not lose before the change.
func (j *Judge) losses(object, stored map[string]any, versions []InVersion) {
	was := j.before
	if was == nil {
		// Until a migration, the object may still be stored in the version in which it was printed.
		was, stored = j, object
	}
	// The API server reads neither unknown fields nor nulls, so the change does not drop them.
	had, err := was.kind.Read(stored, versionOf(stored))
	if err != nil {
		had = stored
	}
	all := make([][]string, len(versions))
	for i, in := range versions {
		all[i] = j.kind.Lost(had, in.Version)
	}
	for i, in := range versions {
		lost := slices.Clone(all[i])
		for k, other := range versions {
			switch {
			case j.before == nil: // a migration writes the object through some version
				every := all[k]
				lost = slices.DeleteFunc(lost, func(path string) bool { return !slices.Contains(every, path) })
			case other.Version == in.Version && slices.Contains(j.before.kind.Served(), in.Version):
				before := j.before.kind.Lost(had, in.Version)
				lost = slices.DeleteFunc(lost, func(path string) bool { return slices.Contains(before, path) })
			}
		}
		versions[i].Lost = lost
	}
}

// Dropped returns the paths of fields that objects of one root schema may have and that the API
// server drops from objects of the other schema.
func Dropped(from, to *apiextensionsv1.JSONSchemaProps) []string {
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
