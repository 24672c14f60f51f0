package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// The server confirms the expectations that internal/product writes.
func TestSuite(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	manifest := []byte(testcrd.Read("pipeline"))
	crd := newTrial(t, server, manifest, crdpatch.Options{})
	crd.install(t, nil)
	plans, l := crdpatch.Explain(crdpatch.Open("crd.yaml", manifest), crdpatch.Options{})
	if l.HasErrors() {
		t.Fatal(l)
	}
	tests, err := product.SuiteTests(t.Context(), plans[0].Plan, crd.data)
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		name := fmt.Sprintf("test-%d", i)
		as := func(object map[string]any) []byte {
			object["metadata"] = map[string]any{"name": name, "namespace": "default"}
			data, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		object := as(test.Object)
		stored := test.Old
		if test.Status {
			stored = map[string]any{"apiVersion": test.Object["apiVersion"], "kind": test.Object["kind"], "spec": test.Object["spec"]}
		}
		var err error
		if stored == nil {
			_, err = server.Create(t.Context(), object)
		} else {
			if _, err := server.Create(t.Context(), as(stored)); err != nil {
				t.Fatalf("%s: %v", test.Name, err)
			}
			switch {
			case !test.Status:
				_, err = server.Update(t.Context(), object)
			case test.Old != nil:
				if _, err := server.UpdateStatus(t.Context(), as(test.Old)); err != nil {
					t.Fatalf("%s: %v", test.Name, err)
				}
				fallthrough
			default:
				_, err = server.UpdateStatus(t.Context(), object)
			}
		}
		if (err == nil) != (len(test.Errors) == 0) {
			t.Errorf("%s: the server says %v, want %q", test.Name, err, test.Errors)
		}
		for _, want := range test.Errors {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the server says %v, want %q", test.Name, err, want)
			}
		}
	}
}
