package crd_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
)

func open(src string) *crd.File { return crd.Open("crd.yaml", []byte(src), crd.Options{}) }

func object(apiVersion string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": "Gateway", "metadata": map[string]any{"name": "a"}, "spec": spec,
	}}
}

// Diagnostics of a file with errors are the answer of each method.
func TestErrors(t *testing.T) {
	f := open(strings.Replace(gateway, "[service, url]", "[service, uri]", 1))
	o := object("example.com/v1", nil)
	for name, ask := range map[string]func() (any, diag.List, error){
		"Compile": func() (any, diag.List, error) { r, l := f.Compile(); return r == nil, l, nil },
		"CRDs":    func() (any, diag.List, error) { r, l := f.CRDs(); return r == nil, l, nil },
		"Plans":   func() (any, diag.List, error) { r, l := f.Plans(); return r == nil, l, nil },
		"Lint":    func() (any, diag.List, error) { return true, f.Lint(), nil },
		"Verify":  func() (any, diag.List, error) { r, l, err := f.Verify(t.Context()); return r == nil, l, err },
		"Diff": func() (any, diag.List, error) {
			r, l, err := f.Diff(t.Context(), open(gateway))
			return r == nil, l, err
		},
		"Validate":  func() (any, diag.List, error) { return true, nil, f.Validate(t.Context(), o, nil) },
		"Normalize": func() (any, diag.List, error) { r, err := f.Normalize(o, nil); return r == nil, nil, err },
	} {
		none, l, err := ask()
		if said := fmt.Sprint(l, err); none != true || !strings.Contains(said, `unknown member`) && !strings.Contains(said, `member "uri" is not a property`) {
			t.Errorf("%s: %v, %s", name, none, said)
		}
	}
}

// A compiled CRD in memory keeps its rules and unions.
func TestOf(t *testing.T) {
	l, wrong := open(gateway).CRDs()
	if len(l) != 1 || len(wrong) > 0 {
		t.Fatal(l, wrong)
	}
	f, err := crd.Of(l[0], crd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proofs, wrong, err := f.Verify(t.Context())
	if len(proofs) != 1 || !proofs[0].Proved || len(wrong) > 0 || err != nil {
		t.Error(proofs, wrong, err)
	}
	if changes, wrong, err := f.Diff(t.Context(), open(gateway)); len(changes)+len(wrong) > 0 || err != nil {
		t.Error(changes, wrong, err)
	}
}

func TestDiffOfFiles(t *testing.T) {
	other := strings.NewReplacer("gateways", "routes", "Gateway", "Route").Replace(gateway)
	changes, wrong, err := open(other).Diff(t.Context(), open(gateway))
	if len(changes) != 2 || changes[0].CRD != "routes.example.com" || !changes[0].Looser || changes[1].CRD != "gateways.example.com" || !changes[1].Tighter || len(wrong) > 0 || err != nil {
		t.Error(changes, wrong, err)
	}
}

func TestObjects(t *testing.T) {
	f := open(gateway)
	both := map[string]any{"service": "web", "url": "https://example.com"}
	if err := f.Validate(t.Context(), object("example.com/v1", both), object("example.com/v1", both)); err != nil {
		t.Errorf("not ratcheted: %v", err)
	}
	if err := f.Validate(t.Context(), object("example.com/v1", both), nil); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
	for _, version := range []string{"example.com/v2", "other.example.com/v1"} {
		if err := f.Validate(t.Context(), object(version, nil), nil); err == nil || apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", version, err)
		}
	}
	if changes, err := f.Normalize(object("example.com/v1", both), nil); len(changes) > 0 || err == nil || !strings.Contains(err.Error(), "spec: ") {
		t.Error(changes, err)
	}
}
