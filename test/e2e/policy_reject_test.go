package e2e

import (
	"bytes"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// frozen checks that a policy rejects the updates that removal guards in a schema reject, so that a
// union cannot be removed and then added again in another state.
func (s *policyServer) frozen(t *testing.T) policyTest {
	const forbid = "type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b], discriminatorChange: Forbid}]"
	k := s.install(t, testcrd.Versions("Frozen", testcrd.Version{Name: "v1", Spec: "{type: object, nullable: true, properties: {u: {" + forbid + "}}}"}))
	s.validate(t, k["v1"])
	return policyTest{"removed and added again", func(t *testing.T) {
		if _, _, err := s.do(t.Context(), applied("v1", "Frozen", "it", `{"u": {"a": "x"}}`)); err != nil {
			t.Fatal(err)
		}
		for patch, want := range map[string]string{
			`{"spec": {"u": {"a": "y"}}}`:            "",
			`{"spec": {"u": {"a": null, "b": "x"}}}`: "spec.u: the member set may not be switched or unset",
			`{"spec": {"u": null}}`:                  "spec: u may not be removed while u.a or u.b is set",
			`{"spec": null}`:                         "object: spec may not be removed while spec.u.a or spec.u.b is set",
		} {
			w := write{version: "v1", resource: "frozens", name: "it", patch: types.MergePatchType, body: []byte(patch), dryRun: true}
			_, _, err := s.do(t.Context(), w)
			if want == "" && err == nil {
				continue
			}
			if err == nil || want == "" || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %q", patch, err, want)
			}
		}
	}}
}

// conditions checks that a union of items in the status is validated on writes of the status.
func (s *policyServer) conditions(t *testing.T) policyTest {
	crd := testcrd.New("Job", `status:
  type: object
  properties:
    conditions:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [type]
      items: {type: object, required: [type], properties: {type: {type: string}}}
      x-kubernetes-unions: [{members: [{type: Complete}, {type: Failed}]}]`)
	k := s.install(t, strings.Replace(crd, "    storage: true\n", "    storage: true\n    subresources: {status: {}}\n", 1))
	s.validate(t, k["v1"])
	return policyTest{"conditions", func(t *testing.T) {
		w := applied("v1", "Job", "it", `{}`)
		w.body = bytes.Replace(w.body, []byte("spec"), []byte("status"), 1)
		if _, _, err := s.do(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		w.subresource, w.patch = "status", types.MergePatchType
		for conditions, legal := range map[string]bool{`[{"type": "Complete"}, {"type": "Ready"}]`: true, `[{"type": "Complete"}, {"type": "Failed"}]`: false} {
			w.body = []byte(`{"status": {"conditions": ` + conditions + `}}`)
			if _, _, err := s.do(t.Context(), w); (err == nil) != legal || err != nil && !strings.HasSuffix(err.Error(), "status.conditions: at most one of Complete, Failed may be set") {
				t.Errorf("%s: %v", conditions, err)
			}
		}
	}}
}

// scaled checks that writes through the scale subresource bypass policies but not rules.
func (s *policyServer) scaled(t *testing.T) policyTest {
	crd := strings.Replace(testcrd.Versions("Scaled", testcrd.Version{Name: "v1", Spec: "type: object\nproperties: {replicas: {type: integer}, auto: {type: object}}\nx-kubernetes-unions: [{members: [replicas, auto]}]"}),
		"    storage: true\n", "    storage: true\n    subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}\n", 1)
	s.validate(t, s.install(t, crd)["v1"])
	s.compile(t, strings.NewReplacer("Scaled", "Ruled", "scaled", "ruled").Replace(crd))
	return policyTest{"scale", func(t *testing.T) {
		for kind, seen := range map[string]bool{"Scaled": false, "Ruled": true} {
			w := applied("v1", kind, "it", `{"auto": {}}`)
			if _, _, err := s.do(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			w.subresource, w.patch, w.body = "scale", types.MergePatchType, []byte(`{"spec": {"replicas": 3}}`)
			if _, _, err := s.do(t.Context(), w); apierrors.IsInvalid(err) != seen || err != nil && !seen {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}}
}
