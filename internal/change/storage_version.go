package change

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
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
// After the change, the object may still be stored in the version in which it was printed, until a
// migration writes it through some version.
func (j *Judge) losses(object, stored map[string]any, versions []InVersion) {
	if j.before == nil {
		lost := j.lost(object, versions[0].Version)
		for _, in := range versions[1:] {
			all := j.lost(object, in.Version)
			lost = slices.DeleteFunc(lost, func(path string) bool { return !slices.Contains(all, path) })
		}
		for i := range versions {
			versions[i].Lost = lost
		}
		return
	}
	for i, in := range versions {
		if len(j.lost(stored, in.Version)) == 0 {
			continue
		}
		// The API server reads neither unknown fields nor nulls, so the change does not drop them.
		had, err := j.before.kind.Read(stored, versionOf(stored))
		if err != nil {
			had = stored
		}
		var before []string
		if slices.Contains(j.before.kind.Served(), in.Version) {
			before = j.before.lost(had, in.Version)
		}
		versions[i].Lost = slices.DeleteFunc(j.lost(had, in.Version), func(path string) bool { return slices.Contains(before, path) })
	}
}

// lost returns the paths of fields that a stored object loses by a write through a version. The API
// server drops unknown fields when it decodes the object, and after each conversion.
func (j *Judge) lost(stored map[string]any, version string) []string {
	from := versionOf(stored)
	if !j.drops(from, version) {
		return nil
	}
	object := runtime.DeepCopyJSON(stored)
	var l []string
	for _, name := range j.decoded(from, version) {
		if s := j.structural[name]; s != nil {
			l = append(l, pruning.PruneWithOptions(object, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
		}
	}
	return l
}

// decoded returns the versions whose schemas prune an object that is stored in version from and
// written through another version.
func (j *Judge) decoded(from, version string) []string {
	if Converts(j.crd) {
		return []string{from}
	}
	return slices.Compact([]string{from, version, j.kind.Storage()})
}

// drops reports whether an object stored in one version may have fields that a write through
// another version loses.
func (j *Judge) drops(from, version string) bool {
	key := [2]string{from, version}
	if known, ok := j.dropping.Load(key); ok {
		return known.(bool)
	}
	was := j
	if j.before != nil {
		if _, ok := j.before.rules[from]; ok {
			was = j.before
		}
	}
	is := slices.ContainsFunc(j.decoded(from, version), func(name string) bool {
		return j.structural[name] != nil && len(Dropped(was.rootOf(from), j.rootOf(name))) > 0
	})
	j.dropping.Store(key, is)
	return is
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

// structural returns the schema of a version, or nil if the version preserves unknown fields.
func structural(crd *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	if crd.Spec.PreserveUnknownFields || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	return formula.Structural(v.Schema.OpenAPIV3Schema)
}
