package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// randomly generates CRDs and objects.
type randomly struct{ *rand.Rand }

// one returns one of the texts.
func (r randomly) one(l ...string) string { return l[r.IntN(len(l))] }

// sometimes returns a text with a probability of one fifth, and otherwise "".
func (r randomly) sometimes(text string) string {
	if r.IntN(5) > 0 {
		return ""
	}
	return text
}

// schema returns the schema of a version. A tight schema has additional constraints, other types
// and missing fields.
func (r randomly) schema(tight bool) string {
	if !tight {
		r = randomly{rand.New(never{})}
	}
	kind := func(is string) string {
		if other := r.sometimes(r.one("string", "integer", "boolean")); other != "" {
			return other
		}
		return is
	}
	property := func(text string) string {
		if r.sometimes("x") != "" {
			return ""
		}
		return text + ", "
	}
	rule := func(l ...string) string {
		return r.sometimes(", x-kubernetes-validations: [{rule: '" + r.one(l...) + "'}]")
	}
	return "properties: {spec: {type: object, properties: {" +
		property("a: {type: "+kind("string")+r.sometimes(", nullable: true")+"}") +
		property("n: {type: "+kind("integer")+"}") +
		property("l: {type: array, items: {type: string"+r.sometimes(", maxLength: 1")+"}"+r.sometimes(", maxItems: 1")+r.sometimes(", x-kubernetes-list-type: set")+"}") +
		property("m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k"+r.sometimes(", v")+
			"], properties: {k: {type: string}, v: {type: string"+r.sometimes(", minLength: 2")+"}}"+rule("has(self.v)")+"}}") +
		property("o: {type: object, properties: {x: {type: string}, z: {type: "+kind("string")+r.sometimes(", default: d")+"}}"+rule("has(self.x)", "!(has(self.x) && has(self.z))", "self == oldSelf")+r.sometimes(", required: [x]")+"}") +
		"p: {type: object, additionalProperties: {type: " + kind("string") + "}}}" + rule("!has(self.n) || self.n > 3", "size(self.l) > 0") +
		"}, status: {type: object, properties: {ready: {type: boolean}, c: {type: array, items: {type: object, properties: {t: {type: string}, r: {type: string" + r.sometimes(", minLength: 3") + "}}" +
		r.sometimes(", required: [r]") + "}}}" + rule("has(self.ready)") + "}}" + rule("has(self.spec.a)")
}

// never is a source for which sometimes always returns "".
type never struct{}

func (never) Uint64() uint64 { return 1<<64 - 1 }

// object returns the fields of an object that is valid under every schema that is not tight.
func (r randomly) object() string {
	maybe := func(text string) string { return r.one(text, "") }
	return "spec: {" + maybe("a: "+r.one("x", "xx")+", ") + maybe("n: "+r.one("1", "7")+", ") + maybe("l: ["+r.one("a", "ab, a", "a, a")+"], ") +
		maybe("m: [{k: a"+maybe(", v: v")+"}, {k: b, v: vv}], ") + maybe("o: {x: x"+maybe(", z: z")+"}, ") + maybe("p: {k: v}") +
		"}, status: {" + maybe("ready: true, ") + maybe("c: [{t: t"+maybe(", r: "+r.one("r", "rrr"))+"}]") + "}"
}

// TestRandomly writes random objects through two versions of random CRDs. internal/change
// predicts the answer to every write, and every lost field.
func TestRandomly(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	client := clientOf(t, server)
	states := map[change.Outcome]int{}
	seeds := uint64(8)
	if unioncases.Exhaustive {
		seeds = 200
	}
	for seed := range seeds {
		r := randomly{rand.New(rand.NewPCG(seed, 0))}
		kind := fmt.Sprintf("Random%d", seed)
		is := []string{stored1 + withStatus, served1 + withStatus}
		first := r.IntN(2)
		crd := func(v1, v2 string) []byte {
			return []byte(testcrd.Head(kind) + crdVersion("v1", is[first], v1) + crdVersion("v2", is[1-first], v2))
		}
		before, after := crd(r.schema(false), r.schema(false)), crd(r.schema(r.IntN(3) > 0), r.schema(true))
		resources := func(version string) dynamic.ResourceInterface {
			return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: strings.ToLower(kind) + "s"}).Namespace("default")
		}
		if err := server.Install(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			object := fmt.Appendf(nil, "{apiVersion: example.com/%s, kind: %s, metadata: {name: o%d}, %s}", r.one("v1", "v2"), kind, i, r.object())
			if _, err := server.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if _, err := server.UpdateStatus(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		printed, err := resources(r.one("v1", "v2")).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Replace(t.Context(), after); err != nil {
			continue // some rules do not match the types
		}
		judge := judgeOf(t, after, change.JudgeOptions{Before: parsed(t, before)})
		for _, o := range printed.Items {
			v, err := judge.Object(t.Context(), o.Object)
			if err != nil {
				t.Fatal(err)
			}
			states[v.State]++
			for _, in := range v.Versions {
				if said := differences(t, resources, storageOf(t, after), o, in); said != "" {
					t.Errorf("seed %d: %s through %s: %s\n%s", seed, o.GetName(), in.Version, said, after)
				}
			}
		}
	}
	for _, state := range []change.Outcome{change.Legal, change.Ratcheted, change.Restricted, change.Blocked} {
		if states[state] == 0 {
			t.Errorf("no object is %s", state)
		}
	}
}

// differences compares the server with the predictions for writes through a version.
func differences(t *testing.T, resources func(string) dynamic.ResourceInterface, storage string, o unstructured.Unstructured, in change.InVersion) string {
	t.Helper()
	through, dry := resources(in.Version), []string{metav1.DryRunAll}
	live, err := through.Get(t.Context(), o.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	label := fmt.Appendf(nil, `{"metadata":{"labels":{"%s":"x"}}}`, in.Version)
	config := fmt.Appendf(nil, `{"apiVersion":"example.com/%[1]s","kind":"%[2]s","metadata":{"name":"%[3]s","labels":{"%[1]s":"x"}}}`, in.Version, o.GetKind(), o.GetName())
	for w, write := range map[change.Write]func() (*unstructured.Unstructured, error){
		change.Rewrite: func() (*unstructured.Unstructured, error) {
			return through.Update(t.Context(), live, metav1.UpdateOptions{DryRun: dry})
		},
		change.Status: func() (*unstructured.Unstructured, error) {
			return through.UpdateStatus(t.Context(), live, metav1.UpdateOptions{DryRun: dry})
		},
		change.Metadata: func() (*unstructured.Unstructured, error) {
			return through.Patch(t.Context(), o.GetName(), types.MergePatchType, label, metav1.PatchOptions{DryRun: dry})
		},
		change.Apply: func() (*unstructured.Unstructured, error) {
			return through.Patch(t.Context(), o.GetName(), types.ApplyPatchType, config, metav1.PatchOptions{DryRun: dry, FieldManager: "me"})
		},
	} {
		if _, err := write(); (err != nil) != (len(in.Refused[w]) > 0) {
			return fmt.Sprintf("%s: predicted %v, and the server says %v", w, in.Refused[w], err)
		}
	}
	if in.Version != storage || len(in.Refused[change.Metadata]) > 0 {
		return "" // the stored form of another version is visible only after a write
	}
	written, err := through.Patch(t.Context(), o.GetName(), types.MergePatchType, label, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	was, is := leavesOf(o.Object), leavesOf(written.Object)
	for _, path := range slices.Sorted(maps.Keys(was)) {
		predicted := slices.ContainsFunc(in.Lost, func(lost string) bool {
			rest, ok := strings.CutPrefix(path, lost)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		})
		if predicted == is[path] {
			return fmt.Sprintf("%s: predicted that these are lost: %v, and the server has it: %t", path, in.Lost, is[path])
		}
	}
	return ""
}

// leavesOf returns the paths of the scalars in the spec and the status.
func leavesOf(object map[string]any) map[string]bool {
	l := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, v := range v {
				walk(strings.TrimPrefix(at+"."+name, "."), v)
			}
		case []any:
			for i, v := range v {
				walk(fmt.Sprintf("%s[%d]", at, i), v)
			}
		default:
			l[at] = true
		}
	}
	walk("", map[string]any{"spec": object["spec"], "status": object["status"]})
	return l
}
