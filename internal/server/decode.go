package server

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// origin is the source of an object.
type origin int

const (
	request origin = iota + 1
	storage
)

// decode decodes an object like the server: it prunes unknown fields and sets defaults. For a
// request it returns the unknown fields.
func (v *kindVersion) decode(object map[string]any, from origin) (unknown []string, err error) {
	if unknown, err = v.coerce(object, from); err != nil {
		return nil, err
	}
	defaulting.Default(object, v.structural)
	return unknown, nil
}

// coerce corresponds to unstructuredSchemaCoercer in pkg/apiserver.
func (v *kindVersion) coerce(object map[string]any, from origin) (unknown []string, err error) {
	kind, hasKind, err := unstructured.NestedString(object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasVersion, err := unstructured.NestedString(object, "apiVersion")
	if err != nil {
		return nil, err
	}
	strict, lenient := from == request, from == storage
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{DropMalformedFields: lenient, ReturnUnknownFieldPaths: strict})
	if err != nil {
		return nil, err
	}
	if !v.crd.Spec.PreserveUnknownFields {
		unknown = append(unknown, pruning.PruneWithOptions(object, v.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: strict})...)
		defaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	}
	wrong, paths := objectmeta.CoerceWithOptions(nil, object, v.structural, false, objectmeta.CoerceOptions{DropInvalidFields: lenient, ReturnUnknownFieldPaths: strict})
	if wrong != nil {
		return nil, wrong
	}
	unknown = append(unknown, paths...)
	if from == storage && hasMeta && meta.Generation == 0 {
		meta.Generation = 1
	}
	u := unstructured.Unstructured{Object: object}
	if hasKind {
		u.SetKind(kind)
	}
	if hasVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		err = objectmeta.SetObjectMeta(object, meta)
	}
	return unknown, err
}

// Read returns a persisted object as the server returns it to a client that reads it in a version.
// It does not modify the object.
//
// Read returns an error if the object is of another kind, or of a version that the CRD does not
// have.
func (k *Kind) Read(object map[string]any, version string) (map[string]any, error) {
	v, err := k.version(version)
	if err != nil {
		return nil, err
	}
	object = runtime.DeepCopyJSON(object)
	return object, k.stored(object, v)
}

// Lost returns the paths of the fields that a persisted object loses by a write through a version. The
// server drops unknown fields when it decodes the object, and after each conversion unless a webhook
// converts.
func (k *Kind) Lost(object map[string]any, version string) []string {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	through := []string{u.GroupVersionKind().Version}
	if k.crd.Spec.Conversion.Strategy == apiextensionsv1.NoneConverter {
		through = append(through, version, k.Storage())
	}
	var l []string
	for _, name := range through {
		if v, err := k.known(name); err == nil && !k.crd.Spec.PreserveUnknownFields {
			l = append(l, pruning.PruneWithOptions(u.Object, v.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
		}
	}
	return l
}

// Legal returns the answer to the creation of a persisted object as it is, including its status.
// Unknown fields are no error, because reading prunes them. Unlike the errors of a write, its
// errors are complete: rules are evaluated despite other errors, unless a value has the wrong type.
func (k *Kind) Legal(ctx context.Context, object map[string]any) (Answer, error) {
	w, err := k.decoded(object, storage)
	if err != nil || w.Refused != nil {
		return w.Answer, err
	}
	w.place(metav1.NamespaceDefault)
	w.finish(w.validateAll(ctx, w.object), nil)
	return w.Answer, nil
}

// stored converts a persisted object of any version to version v in place, like the server before
// it replaces the object.
func (k *Kind) stored(object map[string]any, v *kindVersion) error {
	u := unstructured.Unstructured{Object: object}
	gvk := u.GroupVersionKind()
	if gvk.GroupKind() != k.GroupKind() {
		return fmt.Errorf("the old object is of another kind: %s", gvk)
	}
	from, err := k.known(gvk.Version)
	if err != nil {
		return fmt.Errorf("the old object: %w", err)
	}
	if _, err := from.decode(object, storage); err != nil {
		return fmt.Errorf("the old object: %w", err)
	}
	if from == v {
		return nil
	}
	if k.crd.Spec.Conversion.Strategy != "None" {
		return &ConversionError{From: from.Name, To: v.Name}
	}
	u.SetAPIVersion(k.crd.Spec.Group + "/" + v.Name)
	_, err = v.coerce(object, request)
	return err
}

// ConversionError reports that only a webhook can convert an object.
type ConversionError struct{ From, To string }

func (e *ConversionError) Error() string {
	return fmt.Sprintf("the old object is of version %s, and only the CRD's webhook can convert it to %s", e.From, e.To)
}
