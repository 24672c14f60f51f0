package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

const gadget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.server.test}
spec:
  group: server.test
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 10}}}
          status: {type: object, properties: {phase: {type: string}}}
  - name: v2
    served: true
    storage: false
    deprecated: true
    deprecationWarning: so old
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func gadgetOf(size int) []byte {
	return fmt.Appendf(nil, "{apiVersion: server.test/v1, kind: Gadget, metadata: {name: g}, spec: {size: %d}}", size)
}

func TestServer(t *testing.T) {
	s := servertest.Shared(t)
	ctx := t.Context()

	if _, err := s.Create(ctx, gadgetOf(1)); err == nil || err.Error() != "no CRD is installed for Gadget.server.test" {
		t.Errorf("create before the CRD: %v", err)
	}
	gadgets(t, s)
	if err := s.Install(ctx, []byte(gadget)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("install twice: %v, want that it exists", err)
	}

	obj, err := s.Create(ctx, gadgetOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if obj.GetNamespace() != metav1.NamespaceDefault || obj.GetUID() == "" {
		t.Errorf("created %v, want it as stored", obj)
	}

	size := func() any {
		t.Helper()
		obj, err := clientOf(t, s).Resource(schema.GroupVersionResource{Group: "server.test", Version: "v1", Resource: "gadgets"}).
			Namespace(metav1.NamespaceDefault).Get(ctx, "g", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return obj.Object["spec"].(map[string]any)["size"]
	}
	if _, err := s.Update(ctx, gadgetOf(2)); err != nil || size() != int64(2) {
		t.Errorf("update: size %v, %v", size(), err)
	}
	if _, err := s.Update(ctx, gadgetOf(11)); !apierrors.IsInvalid(err) {
		t.Errorf("update: %v, want a validation error", err)
	}
	status := []byte("{apiVersion: server.test/v1, kind: Gadget, metadata: {name: g}, spec: {size: 3}, status: {phase: Done}}")
	obj, err = s.UpdateStatus(ctx, status)
	if err != nil || obj.Object["status"].(map[string]any)["phase"] != "Done" || size() != int64(2) {
		t.Errorf("update of the status: %v, %v", obj, err)
	}
	if err := s.Apply(ctx, gadgetOf(4)); err != nil || size() != int64(4) {
		t.Errorf("apply: size %v, %v", size(), err)
	}
	if err := s.Delete(ctx, gadgetOf(0)); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, gadgetOf(0)); !apierrors.IsNotFound(err) {
		t.Errorf("delete twice: %v, want that it is not found", err)
	}

	if err := s.Remove(ctx, "gadgets.server.test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(ctx, "gadgets.server.test"); !apierrors.IsNotFound(err) {
		t.Errorf("remove twice: %v, want that it is not found", err)
	}
	if err := s.Replace(ctx, []byte(gadget)); !apierrors.IsNotFound(err) {
		t.Errorf("replace after removal: %v, want that it is not found", err)
	}
	if err := s.Apply(ctx, []byte(gadget)); err != nil {
		t.Errorf("apply after removal: %v", err)
	}
	create(t, s, gadgetOf(1))
}

// No object is validated against an outdated schema, and CRDs are stored as they were written.
func TestChange(t *testing.T) {
	s := servertest.Shared(t)
	gadgets(t, s)
	create(t, s, gadgetOf(0))
	change := map[string]func(context.Context, []byte) error{"Replace": s.Replace, "Apply": s.Apply}
	for i := range 10 {
		for name, change := range change {
			limit := 10 + i*10 + len(name)
			if err := change(t.Context(), []byte(strings.Replace(gadget, "maximum: 10", fmt.Sprintf("maximum: %d", limit), 1))); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := s.Update(t.Context(), gadgetOf(limit)); err != nil {
				t.Errorf("%s: at the limit: %v", name, err)
			}
			if _, err := s.Update(t.Context(), gadgetOf(limit+1)); !apierrors.IsInvalid(err) {
				t.Errorf("%s: beyond the limit: %v", name, err)
			}
		}
	}
	live, err := clientOf(t, s).Resource(crdResource).Get(t.Context(), "gadgets.server.test", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(live.Object, "spec", "versions")
	if err != nil || len(versions) != 2 {
		t.Fatal(err, versions)
	}
	v1, v2 := versions[0].(map[string]any), versions[1].(map[string]any)
	if v1["deprecated"] != nil || v1["deprecationWarning"] != nil || v2["deprecated"] != true || v2["deprecationWarning"] != "so old" {
		t.Errorf("versions are %v and %v", v1, v2)
	}
}

// Unknown and duplicate fields are rejected in every kind of write.
func TestStrict(t *testing.T) {
	s := servertest.Shared(t)
	gadgets(t, s)
	create(t, s, gadgetOf(1))
	const head = "{apiVersion: server.test/v1, kind: Gadget, metadata: {name: g}, "
	const headJSON = `{"apiVersion": "server.test/v1", "kind": "Gadget", "metadata": {"name": "g"}, `
	writes := map[string]func([]byte) error{
		"Create":       func(obj []byte) error { return only(s.Create(t.Context(), obj)) },
		"Update":       func(obj []byte) error { return only(s.Update(t.Context(), obj)) },
		"UpdateStatus": func(obj []byte) error { return only(s.UpdateStatus(t.Context(), obj)) },
		"Apply":        func(obj []byte) error { return s.Apply(t.Context(), obj) },
		"Install":      func([]byte) error { return s.Install(t.Context(), repeating("Other")) },
		"Replace":      func([]byte) error { return s.Replace(t.Context(), repeating("Gadget")) },
		"Apply a CRD":  func([]byte) error { return s.Apply(t.Context(), repeating("Gadget")) },
	}
	for name, write := range writes {
		for _, obj := range []string{
			head + "spec: {sise: 1}}", head + "spec: {size: 1, size: 1}}",
			headJSON + `"spec": {"sise": 1}}`, headJSON + `"spec": {"size": 1, "size": 1}}`,
		} {
			err := write([]byte(obj))
			text := fmt.Sprint(err)
			if err == nil || !strings.Contains(text, "sise") && !strings.Contains(text, "already") && !strings.Contains(text, "duplicate field") {
				t.Errorf("%s of %s: %v", name, obj, err)
			}
		}
	}
}

// repeating returns the CRD gadget, with its kind renamed and a duplicate field.
func repeating(kind string) []byte {
	text := strings.NewReplacer("Gadget", kind, "gadget", strings.ToLower(kind)).Replace(gadget)
	return []byte(strings.Replace(text, "type: integer,", "type: integer, type: integer,", 1))
}

func TestNamesTaken(t *testing.T) {
	s := servertest.Shared(t)
	gadgets(t, s)
	err := s.Install(t.Context(), []byte(strings.ReplaceAll(gadget, "gadgets", "gizmos")))
	if err == nil || !strings.Contains(err.Error(), `"GadgetList" is already in use`) {
		t.Errorf("install of a second CRD for a kind: %v", err)
	}
}

// gadgets installs the CRD gadget for a test.
func gadgets(t *testing.T, s *servertest.Server) {
	t.Helper()
	installed(t, s, []byte(gadget))
	t.Cleanup(func() {
		if err := s.Remove(context.Background(), "gadgets.server.test"); err != nil {
			t.Error(err)
		}
	})
}

// The servers of one process do not share any state.
func TestSeveral(t *testing.T) {
	for i := range 2 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t)
			installed(t, s, []byte(gadget))
			create(t, s, gadgetOf(i))
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	s := servertest.Start(b)
	if err := s.Install(b.Context(), []byte(gadget)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Create(b.Context(), gadgetOf(1)); err != nil {
			b.Fatal(err)
		}
		if err := s.Delete(b.Context(), gadgetOf(1)); err != nil {
			b.Fatal(err)
		}
	}
}
