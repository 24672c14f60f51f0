package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/server"
)

// fieldManager is the field manager of all writes.
const fieldManager = "unioncel-test"

// Create creates a custom object and returns the stored object.
//
// Errors of the server are returned unchanged. Other errors mean that obj is not an object, or that
// there is no CRD for it.
func (s *Server) Create(ctx context.Context, obj []byte) (*unstructured.Unstructured, error) {
	head, err := header(obj)
	if err != nil {
		return nil, err
	}
	collection, err := s.collection(head)
	if err != nil {
		return nil, err
	}
	stored, err := object(send(ctx, writing(s.client.Post(), obj).AbsPath(collection)))
	s.compare(head, stored, err, func(k *server.Kind) (server.Answer, error) { return k.Create(ctx, head.Object) })
	return stored, err
}

// Update replaces a custom object, except for its status if that is a subresource, and returns the
// stored object. Unless obj has a resourceVersion, the live one is used. Errors are the errors of
// [Server.Create]; a duplicate field is rejected before the server is called.
func (s *Server) Update(ctx context.Context, obj []byte) (*unstructured.Unstructured, error) {
	return s.update(ctx, obj, "")
}

// UpdateStatus is [Server.Update] for the status subresource: only the status is replaced.
func (s *Server) UpdateStatus(ctx context.Context, obj []byte) (*unstructured.Unstructured, error) {
	return s.update(ctx, obj, "status")
}

func (s *Server) update(ctx context.Context, obj []byte, subresource string) (*unstructured.Unstructured, error) {
	next, err := decode(obj, yaml.YAMLToJSONStrict)
	if err != nil {
		return nil, err
	}
	collection, err := s.collection(next)
	if err != nil {
		return nil, err
	}
	live, answer, err := s.put(ctx, path.Join(collection, next.GetName()), subresource, next)
	if live == nil {
		return nil, err
	}
	stored, err := object(answer, err)
	update := (*server.Kind).Update
	if subresource != "" {
		update = (*server.Kind).UpdateStatus
	}
	s.compare(next, stored, err, func(k *server.Kind) (server.Answer, error) { return update(k, ctx, next.Object, live.Object) })
	return stored, err
}

// Delete deletes the custom object with the apiVersion, kind, name and namespace of obj. Errors are
// the errors of [Server.Create].
func (s *Server) Delete(ctx context.Context, obj []byte) error {
	head, err := header(obj)
	if err != nil {
		return err
	}
	collection, err := s.collection(head)
	if err != nil {
		return err
	}
	_, err = send(ctx, s.client.Delete().AbsPath(collection, head.GetName()))
	return err
}

// Apply creates or changes a CRD or a custom object by server-side apply, and forces conflicts. For
// a CRD it returns when the served versions use the new schema, like [Server.Replace].
//
// Errors are the errors of [Server.Install] for a CRD, and of [Server.Create] for any other object.
func (s *Server) Apply(ctx context.Context, manifest []byte) error {
	head, err := header(manifest)
	if err != nil {
		return err
	}
	if head.GroupVersionKind().GroupKind() == (schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}) {
		return s.applyCRD(ctx, head.GetName(), manifest)
	}
	collection, err := s.collection(head)
	if err != nil {
		return err
	}
	_, err = send(ctx, s.applying(manifest).AbsPath(collection, head.GetName()))
	return err
}

// applying returns a server-side apply request for manifest that lacks only its path.
func (s *Server) applying(manifest []byte) *rest.Request {
	return writing(s.client.Patch(""), manifest).
		SetHeader("Content-Type", "application/apply-patch+yaml").
		Param("force", "true")
}

// put replaces the existing object at a path, and returns it and the answer. An object without a
// resourceVersion gets the live one.
func (s *Server) put(ctx context.Context, at, subresource string, obj *unstructured.Unstructured) (live *unstructured.Unstructured, answer []byte, err error) {
	if live, err = object(send(ctx, s.client.Get().AbsPath(at))); err != nil {
		return nil, nil, err
	}
	if obj.GetResourceVersion() == "" {
		obj.SetResourceVersion(live.GetResourceVersion())
	}
	body, err := json.Marshal(obj.Object)
	if err == nil {
		answer, err = send(ctx, writing(s.client.Put(), body).AbsPath(at, subresource))
	}
	return live, answer, err
}

// writing sets the body and the parameters of a write request. The body is sent byte for byte, so
// that the server sees duplicate fields. The server reads YAML with the same library as kubectl.
func writing(request *rest.Request, body []byte) *rest.Request {
	contentType := "application/yaml"
	if json.Valid(body) {
		contentType = "application/json"
	}
	return request.Body(body).SetHeader("Content-Type", contentType).
		Param("fieldManager", fieldManager).
		Param("fieldValidation", metav1.FieldValidationStrict)
}

// send returns the server's answer or its error.
func send(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}

// object decodes an answer of send.
func object(answer []byte, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(answer); err != nil {
		return nil, fmt.Errorf("the server's answer: %w", err)
	}
	return obj, nil
}

// header decodes a manifest. It accepts duplicate fields, because the server should reject them.
func header(manifest []byte) (*unstructured.Unstructured, error) {
	return decode(manifest, yaml.YAMLToJSON)
}

// decode reads a manifest of one object, YAML or JSON. In JSON, 1.0 is a float as it is for the
// server; in YAML it is the integer 1.
func decode(manifest []byte, toJSON func([]byte) ([]byte, error)) (*unstructured.Unstructured, error) {
	converted, err := toJSON(manifest)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if json.Valid(manifest) {
		converted = manifest
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(converted); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return obj, nil
}

// endpoint returns the path of the collection of objects. A cluster-scoped resource ignores namespace.
func endpoint(crd *apiextensionsv1.CustomResourceDefinition, version, namespace string) string {
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		return path.Join("/apis", crd.Spec.Group, version, "namespaces", namespace, crd.Spec.Names.Plural)
	}
	return path.Join("/apis", crd.Spec.Group, version, crd.Spec.Names.Plural)
}

// collection returns the path of the collection that obj belongs to. Like kubectl, it uses the
// namespace "default" for an object without one.
func (s *Server) collection(obj *unstructured.Unstructured) (string, error) {
	gvk := obj.GroupVersionKind()
	installed, ok := s.lookup(gvk.GroupKind())
	if !ok {
		return "", fmt.Errorf("no CRD is installed for %s", gvk.GroupKind())
	}
	namespace := obj.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return endpoint(installed.crd, gvk.Version, namespace), nil
}
