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

	"github.com/unioncel/unioncel/pkg/validate"
)

// fieldManager is the name under which all writes are made.
const fieldManager = "unioncel-test"

// Create creates a custom object and returns it as the server stored it.
//
// Errors are those of the server, as they came, unless obj is not an object
// or there is no CRD for it.
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
	s.compare(head, stored, err, func(k *validate.Kind) (validate.Answer, error) { return k.Create(ctx, head.Object) })
	return stored, err
}

// Update replaces a custom object, all of it but its status if that is a
// subresource, and returns it as stored. The resourceVersion is the live one
// unless obj has one. Errors are those of [Server.Create]; a repeated field is
// rejected before the server is called.
func (s *Server) Update(ctx context.Context, obj []byte) (*unstructured.Unstructured, error) {
	return s.update(ctx, obj, "")
}

// UpdateStatus is [Server.Update] through the subresource status: nothing but
// the status is replaced.
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
	at := path.Join(collection, next.GetName())
	live, err := object(send(ctx, s.client.Get().AbsPath(at)))
	if err != nil {
		return nil, err
	}
	if next.GetResourceVersion() == "" {
		next.SetResourceVersion(live.GetResourceVersion())
	}
	stored, err := object(s.put(ctx, at, subresource, next))
	update := (*validate.Kind).Update
	if subresource != "" {
		update = (*validate.Kind).UpdateStatus
	}
	s.compare(next, stored, err, func(k *validate.Kind) (validate.Answer, error) { return update(k, ctx, next.Object, live.Object) })
	return stored, err
}

// Delete deletes a custom object; of obj it reads apiVersion, kind, name and
// namespace. Errors are those of [Server.Create].
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

// Apply creates or changes a CRD or a custom object by server-side apply, and
// takes over fields of other managers. For a CRD it returns when the served
// versions answer by the new schema, as [Server.Replace] does.
//
// Errors are those of [Server.Install] for a CRD and of [Server.Create] for
// any other object.
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

// applying is a server-side apply of manifest that lacks nothing but its path.
func (s *Server) applying(manifest []byte) *rest.Request {
	return writing(s.client.Patch(""), manifest).
		SetHeader("Content-Type", "application/apply-patch+yaml").
		Param("force", "true")
}

// put replaces what is at a path, which has to exist, giving it the live
// resourceVersion when it has none.
func (s *Server) put(ctx context.Context, at, subresource string, obj *unstructured.Unstructured) ([]byte, error) {
	if obj.GetResourceVersion() == "" {
		live, err := object(send(ctx, s.client.Get().AbsPath(at)))
		if err != nil {
			return nil, err
		}
		obj.SetResourceVersion(live.GetResourceVersion())
	}
	body, err := json.Marshal(obj.Object)
	if err != nil {
		return nil, err
	}
	return send(ctx, writing(s.client.Put(), body).AbsPath(at, subresource))
}

// writing gives a request the body and the parameters of a write. The body
// goes out byte for byte, for only so does the server see repeated fields; it
// reads YAML by the same library as kubectl.
func writing(request *rest.Request, body []byte) *rest.Request {
	contentType := "application/yaml"
	if json.Valid(body) {
		contentType = "application/json"
	}
	return request.Body(body).SetHeader("Content-Type", contentType).
		Param("fieldManager", fieldManager).
		Param("fieldValidation", metav1.FieldValidationStrict)
}

// send returns the server's answer. Its error is the server's.
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

// header reads of a manifest what says where it belongs. It lets repeated
// fields pass: they are for the server to reject.
func header(manifest []byte) (*unstructured.Unstructured, error) {
	return decode(manifest, yaml.YAMLToJSON)
}

// decode reads a manifest of one object, YAML or JSON. In JSON 1.0 is a float, as for the
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

// resource says where the objects of a CRD are.
type resource struct {
	group      string
	plural     string
	namespaced bool
	storage    string // the stored version
}

func resourceOf(crd *apiextensionsv1.CustomResourceDefinition) resource {
	r := resource{
		group:      crd.Spec.Group,
		plural:     crd.Spec.Names.Plural,
		namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			r.storage = v.Name
		}
	}
	return r
}

// path is that of the collection; namespace is used only if there are any.
func (r resource) path(version, namespace string) string {
	if r.namespaced {
		return path.Join("/apis", r.group, version, "namespaces", namespace, r.plural)
	}
	return path.Join("/apis", r.group, version, r.plural)
}

// collection returns the path of the collection that obj belongs to. As with
// kubectl, the namespace of an object that names none is "default".
func (s *Server) collection(obj *unstructured.Unstructured) (string, error) {
	gvk := obj.GroupVersionKind()
	s.mu.Lock()
	kind, ok := s.resources[gvk.GroupKind()]
	s.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("no CRD is installed for %s", gvk.GroupKind())
	}
	namespace := obj.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return kind.path(gvk.Version, namespace), nil
}
