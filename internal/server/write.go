package server

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Answer is the server's response to a write.
type Answer struct {
	// Object is the object that the server persists, before conversion to the storage version. It
	// lacks identifying and time-dependent fields: uid, resourceVersion, managedFields and the
	// like. It is nil if the write is rejected.
	Object map[string]any
	// Warnings are the warnings of the response.
	Warnings []string
	// Refused is the error that the client gets if the write is rejected, or nil.
	Refused *apierrors.StatusError
	// Errors are the validation errors, if validation rejects the write.
	Errors field.ErrorList
	// Unknown are the unknown fields, if they are the reason for the rejection.
	Unknown []string

	at string // the field that cannot be decoded, if known
}

// Answer returns the answer to the creation of an object or, unless old is nil, to its update: see
// [Kind.Create] and [Kind.Update].
func (k *Kind) Answer(ctx context.Context, object, old map[string]any) (Answer, error) {
	if old == nil {
		return k.Create(ctx, object)
	}
	return k.Update(ctx, object, old)
}

// Create returns the answer to the creation of an object, and does not modify it. An object without
// a namespace is created in the namespace default. A server rejects a creation with a
// resourceVersion; Create ignores it, as the object may have been read from a server.
//
// Create returns an error if it cannot validate the object: the CRD does not serve the version, or
// no server would serve it.
func (k *Kind) Create(ctx context.Context, object map[string]any) (Answer, error) {
	w, err := k.write(object)
	if err != nil || w.Refused != nil {
		return w.Answer, err
	}
	u := w.object
	for _, name := range []string{"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields", "resourceVersion"} {
		unstructured.RemoveNestedField(u.Object, "metadata", name)
	}
	if w.place(metav1.NamespaceDefault); u.GetName() == "" && u.GetGenerateName() != "" {
		// The server does the same with a random suffix.
		prefix := u.GetGenerateName()
		u.SetName(prefix[:min(len(prefix), 63-5)] + "xxxxx")
	}
	if w.withStatus {
		delete(u.Object, "status")
	}
	u.SetGeneration(1)
	l := w.validate(ctx, u)
	if len(l) == 0 {
		l = apivalidation.ValidateObjectMetaAccessor(u, w.namespaced(), pathSegment, field.NewPath("metadata"))
	}
	w.finish(l, finalizerWarnings(u, nil))
	return w.Answer, nil
}

// Update returns the answer to the replacement of an object by another, as by kubectl replace.
// Fields that the new object does not have are removed, except for the status if it is a
// subresource. The old object may be of another version, unless only a webhook can convert it.
// Update modifies neither object. An identifying field that one of them lacks is taken from the
// other.
//
// It returns an error like [Kind.Create], or about the old object.
func (k *Kind) Update(ctx context.Context, object, old map[string]any) (Answer, error) {
	return k.update(ctx, object, old, false)
}

// UpdateStatus is [Kind.Update] through the status subresource: only the status of the new object
// counts.
//
// It returns an error if the version does not have the subresource.
func (k *Kind) UpdateStatus(ctx context.Context, object, old map[string]any) (Answer, error) {
	return k.update(ctx, object, old, true)
}

func (k *Kind) update(ctx context.Context, object, old map[string]any, status bool) (Answer, error) {
	w, err := k.write(object)
	if err == nil && status && !w.withStatus {
		err = fmt.Errorf("version %s has no subresource status", w.Name)
	}
	if err != nil || w.Refused != nil {
		return w.Answer, err
	}
	u, before := w.object, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(old)}
	if err := k.stored(before.Object, w.kindVersion); err != nil {
		return w.Answer, err
	}
	if before.GetUID() == "" {
		before.SetUID(u.GetUID())
	}
	if before.GetNamespace() == "" && w.namespaced() {
		before.SetNamespace(u.GetNamespace())
	}
	if before.GetNamespace() == "" && w.namespaced() {
		before.SetNamespace(metav1.NamespaceDefault)
	}
	switch resource := (schema.GroupResource{Group: k.crd.Spec.Group, Resource: k.crd.Spec.Names.Plural}); {
	case u.GetName() != before.GetName():
		w.Refused = apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", u.GetName(), before.GetName()))
		return w.Answer, nil
	case w.namespaced() && u.GetNamespace() != "" && u.GetNamespace() != before.GetNamespace():
		w.Refused = apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
		return w.Answer, nil
	case u.GetUID() != "" && u.GetUID() != before.GetUID():
		w.Refused = apierrors.NewConflict(resource, u.GetName(), conflict(fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", u.GetUID(), before.GetUID())))
		return w.Answer, nil
	case u.GetResourceVersion() != "" && before.GetResourceVersion() != "" && u.GetResourceVersion() != before.GetResourceVersion():
		w.Refused = apierrors.NewConflict(resource, u.GetName(), conflict("the object has been modified; please apply your changes to the latest version and try again"))
		return w.Answer, nil
	}
	w.place(before.GetNamespace())
	const some = "1" // an update requires a resourceVersion
	for _, o := range []*unstructured.Unstructured{u, before} {
		o.SetManagedFields(nil)
		o.SetResourceVersion(some)
	}
	u.SetGeneration(before.GetGeneration())
	if status {
		prepareStatusUpdate(u, before)
	} else {
		w.prepareUpdate(u, before)
	}
	u.SetUID(before.GetUID())
	if t := before.GetCreationTimestamp(); !t.IsZero() {
		u.SetCreationTimestamp(t)
	} else {
		before.SetCreationTimestamp(u.GetCreationTimestamp())
	}
	if t := before.GetDeletionTimestamp(); !t.IsZero() {
		u.SetDeletionTimestamp(t)
	}
	if s := before.GetDeletionGracePeriodSeconds(); s != nil && u.GetDeletionGracePeriodSeconds() == nil {
		u.SetDeletionGracePeriodSeconds(s)
	}
	metadata := field.NewPath("metadata")
	l := apivalidation.ValidateObjectMetaAccessor(u, w.namespaced(), pathSegment, metadata)
	l = append(l, apivalidation.ValidateObjectMetaAccessorUpdate(u, before, metadata)...)
	var warnings []string
	if status {
		l = append(l, w.validateStatusUpdate(ctx, u, before)...)
	} else {
		l, warnings = append(l, w.validateUpdate(ctx, u, before)...), finalizerWarnings(u, before)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "resourceVersion")
	w.finish(l, warnings)
	return w.Answer, nil
}

// conflict is the reason why an object cannot be replaced, in the server's words.
type conflict string

func (c conflict) Error() string { return string(c) }

// write is a request to write an object.
type write struct {
	*kindVersion
	kind   *Kind
	object *unstructured.Unstructured
	Answer
}

// write decodes the object of a request.
func (k *Kind) write(object map[string]any) (*write, error) { return k.decoded(object, request) }

func (k *Kind) decoded(object map[string]any, from origin) (*write, error) {
	w := &write{kind: k, object: &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}}
	gvk := w.object.GroupVersionKind()
	if gvk.GroupKind() != k.GroupKind() || !slices.Contains(k.Served(), gvk.Version) {
		return w, fmt.Errorf("no matches for kind %q in version %q", gvk.Kind, gvk.GroupVersion())
	}
	var err error
	if w.kindVersion, err = k.version(gvk.Version); err != nil {
		return w, err
	}
	if w.deprecation != "" {
		w.Warnings = append(w.Warnings, w.deprecation)
	}
	unknown, err := w.decode(w.object.Object, from)
	if len(unknown) > 0 {
		var l []error
		for _, path := range unknown {
			l = append(l, fmt.Errorf(`unknown field "%s"`, path))
		}
		w.Unknown, err = unknown, runtime.NewStrictDecodingError(l)
	}
	if err != nil {
		if wrong := (*field.Error)(nil); errors.As(err, &wrong) {
			w.at = wrong.Field
		} else if m := inMetadata.FindStringSubmatch(err.Error()); m != nil {
			w.at = "metadata." + m[1]
		}
		w.Refused = apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, gvk.Kind, err))
	}
	return w, nil
}

// inMetadata matches the error of encoding/json about a metadata field of the wrong type.
var inMetadata = regexp.MustCompile(`into Go struct field ObjectMeta\.(\S+) of type`)

// place sets the namespace of the request if the object has none.
func (w *write) place(namespace string) {
	if !w.namespaced() {
		w.object.SetNamespace("")
	} else if w.object.GetNamespace() == "" {
		w.object.SetNamespace(namespace)
	}
}

func (v *kindVersion) namespaced() bool { return v.crd.Spec.Scope == apiextensionsv1.NamespaceScoped }

// finish completes the answer with the errors or, if there are none, with the object and the
// warnings.
func (w *write) finish(l field.ErrorList, warnings []string) {
	if len(l) > 0 {
		w.Errors, w.Refused = l, apierrors.NewInvalid(w.kind.GroupKind(), w.object.GetName(), l)
		return
	}
	w.Answer.Object = w.object.Object
	w.Warnings = append(w.Warnings, warnings...)
}

// pathSegment is validatePathSegment of k8s.io/apiserver/pkg/registry/rest.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// Causes returns the reasons of a rejection, each once, as kubectl prints them.
func (a Answer) Causes() []metav1.StatusCause {
	if a.Refused == nil {
		return nil
	}
	details := a.Refused.ErrStatus.Details
	if details == nil || len(details.Causes) == 0 {
		return []metav1.StatusCause{{Message: a.Refused.ErrStatus.Message}}
	}
	var l []metav1.StatusCause
	for _, c := range details.Causes {
		if !slices.Contains(l, c) {
			l = append(l, c)
		}
	}
	return l
}
