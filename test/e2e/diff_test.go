package e2e

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/crdchanges"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// crdOf returns a CRD with a version v1, v2, ... for each change, and the stored version v0 that
// accepts any object.
func crdOf(t *testing.T, kind string, changes []crdchanges.Change, spec func(crdchanges.Change) string) []byte {
	t.Helper()
	var versions []testcrd.Version
	for i, c := range changes {
		versions = append(versions, testcrd.Version{Name: fmt.Sprint("v", i+1), Spec: spec(c)})
	}
	versions = append(versions, testcrd.Version{Name: "v0", Spec: "x-kubernetes-preserve-unknown-fields: true"})
	out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(testcrd.Versions(kind, versions...))), crdpatch.Options{})
	if out == nil {
		t.Fatal(diags)
	}
	return out
}

// The counterexamples of a change are confirmed by a server with both CRDs: it accepts the object
// under one CRD and rejects it under the other. With [unioncases.Exhaustive] the test covers all
// changes, otherwise one in four. (internal/change confirms all with internal/server.)
func TestDiff(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an API server")
	}
	t.Parallel()
	s := servertest.Shared(t)
	changes := unioncases.Some(crdchanges.All, 4, 0)
	const most = 90 // versions of one CRD
	kind := func(when string, i int) string { return fmt.Sprint(when, i/most) }
	for i := 0; i < len(changes); i += most {
		part := changes[i:min(i+most, len(changes))]
		for when, spec := range map[string]func(crdchanges.Change) string{
			"Before": func(c crdchanges.Change) string { return c.Old }, "After": func(c crdchanges.Change) string { return c.New },
		} {
			if err := s.Install(t.Context(), crdOf(t, kind(when, i), part, spec)); err != nil {
				t.Fatal(err)
			}
		}
	}
	read := func(t *testing.T, spec string) *change.Input {
		l, diags := change.ReadInputs(crdpatch.Open("crd.yaml", []byte(testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec}))), crdpatch.Options{})
		if len(l) != 1 {
			t.Fatal(diags)
		}
		return l[0]
	}
	shown, classes := 0, map[change.Class]int{}
	for i, c := range changes {
		old, new := kind("Before", i), kind("After", i)
		t.Run(c.Name, func(t *testing.T) {
			r, err := change.Compare(t.Context(), read(t, c.Old), read(t, c.New))
			if err != nil {
				t.Fatal(err)
			}
			for j, d := range r.Changes {
				classes[d.Class]++
				for _, e := range []struct {
					*change.Counterexample
					accepts, refuses string
				}{{d.Refused, old, new}, {d.Accepted, new, old}} {
					if e.Counterexample == nil {
						continue
					}
					shown++
					for _, kind := range []string{e.accepts, e.refuses} {
						err := answered(t, s, kind, i%most+1, strings.ToLower(fmt.Sprint(e.accepts, i, "-", j)), e.Old, e.Object)
						if (err == nil) != (kind == e.accepts) {
							t.Errorf("%s: %s says of %v, before %v: %v", d.What, kind, e.Object, e.Old, err)
						}
					}
				}
			}
		})
	}
	t.Log(len(changes), "changes,", shown, "counterexamples:", classes)
}

// answered returns the server's answer when an object is created in a version of a kind or, unless
// old is nil, replaces old.
func answered(t *testing.T, s *servertest.Server, kind string, version int, name string, old, object map[string]any) error {
	t.Helper()
	manifest := func(object map[string]any, version int) []byte {
		o := runtime.DeepCopyJSON(object)
		o["apiVersion"], o["kind"], o["metadata"] = fmt.Sprint("example.com/v", version), kind, map[string]any{"name": name}
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if old == nil {
		_, err := s.Create(t.Context(), manifest(object, version))
		return err
	}
	if _, err := s.Create(t.Context(), manifest(old, 0)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Update(t.Context(), manifest(object, version))
	return err
}
