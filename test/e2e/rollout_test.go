package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// crdVersion returns a version of a CRD: its name, the fields alongside the schema, and the schema.
func crdVersion(name, is, schema string) string {
	return fmt.Sprintf("  - {name: %s, %s, schema: {openAPIV3Schema: {type: object, %s}}}\n", name, is, schema)
}

const (
	stored1    = "served: true, storage: true"
	served1    = "served: true, storage: false"
	withStatus = ", subresources: {status: {}}"
	webhook    = "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://nowhere.example.com/'}}}"

	strs       = "properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}%s}%s}}"
	conditions = "properties: {spec: {type: object, properties: {a: {type: string}}}, status: {type: object, properties: {conditions: {type: array, items: {type: object%s, properties: {type: {type: string}, reason: {type: string}, message: {type: string}}}}, ready: {type: boolean}}%s}}"
	list       = "properties: {spec: {type: object, properties: {l: {type: array, items: {type: string%s}%s}}}}"
	enum       = ", enum: [x]"
)

// of returns a schema with these additions.
func of(schema string, args ...any) string {
	for range strings.Count(schema, "%s") - len(args) {
		args = append(args, "")
	}
	return fmt.Sprintf(schema, args...)
}

// A request is a write of the stored object with its effect.
type request struct {
	version, subresource string
	kind                 types.PatchType // empty for an update with the unchanged object
	body                 string
	// want is "rejected", or "loses" and the path of a lost field.
	want string
}

const label = "{metadata: {labels: {k: v}}}"

// unsafe are changes of a CRD that break a request. Objects are the ones that the API server lists
// in the printed version.
var unsafe = []struct {
	name     string
	from, to string // versions, preceded by other fields of the spec
	object   string // fields of the object, in version created
	created  string
	printed  string
	request  request
	plan     string // the steps that are not done
}{
	{
		name:   "another version than the printed one is tightened",
		from:   crdVersion("v1beta1", served1, of(strs)) + crdVersion("v1", stored1, of(strs)),
		to:     crdVersion("v1beta1", served1, of(strs)+", required: [data]") + crdVersion("v1", stored1, of(strs)),
		object: "spec: {a: x}", request: request{version: "v1beta1", want: "rejected"}, plan: "objects=wait",
	},
	{
		name:   "a field that the printed version does not have is tightened",
		from:   crdVersion("v1beta1", stored1, of(strs)) + crdVersion("v1", served1, "properties: {spec: {type: object, properties: {b: {type: string}}}}"),
		to:     crdVersion("v1beta1", stored1, of(strs, "", ", x-kubernetes-validations: [{rule: '!has(self.a)'}]")) + crdVersion("v1", served1, "properties: {spec: {type: object, properties: {b: {type: string}}}}"),
		object: "spec: {a: x}", created: "v1beta1", request: request{"v1beta1", "", types.MergePatchType, "{spec: {b: z}}", "rejected"}, plan: "objects=unknown",
	},
	{
		name:   "a version with other fields is added",
		from:   crdVersion("v1", stored1, of(strs)),
		to:     crdVersion("v1", stored1, of(strs)) + crdVersion("v2", served1, "properties: {spec: {type: object, properties: {b: {type: string}}}}"),
		object: "spec: {a: x, b: z}", request: request{"v2", "", types.MergePatchType, label, "loses spec.a"}, plan: "objects=wait",
	},
	{
		name:   "a webhook converts no more",
		from:   webhook + crdVersion("v1", stored1, of(strs)) + crdVersion("v2", served1, "properties: {spec: {type: object, properties: {b: {type: string}}}}"),
		to:     crdVersion("v1", stored1, of(strs)) + crdVersion("v2", served1, "properties: {spec: {type: object, properties: {b: {type: string}}}}"),
		object: "spec: {a: x, b: z}", request: request{"v2", "", types.MergePatchType, label, "loses spec.a"}, plan: "objects=wait",
	},
	{
		name:   "an item of the conditions is invalid",
		from:   crdVersion("v1", stored1+withStatus, of(conditions)),
		to:     crdVersion("v1", stored1+withStatus, of(conditions, ", required: [reason]")),
		object: "status: {conditions: [{type: Ready, message: m}]}", request: request{"v1", "status", types.MergePatchType, "{status: {conditions: [{type: Ready, message: n}]}}", "rejected"}, plan: "objects=wait",
	},
	{
		name:   "a rule on the status",
		from:   crdVersion("v1", stored1+withStatus, of(conditions)),
		to:     crdVersion("v1", stored1+withStatus, of(conditions, "", ", x-kubernetes-validations: [{rule: 'has(self.ready)'}]")),
		object: "status: {conditions: [{type: Ready}]}", request: request{"v1", "status", types.MergePatchType, "{status: {conditions: [{type: Other}]}}", "rejected"}, plan: "objects=wait",
	},
	{
		name:   "another type",
		from:   crdVersion("v1", stored1, of(strs)),
		to:     crdVersion("v1", stored1, strings.Replace(of(strs), "a: {type: string}", "a: {type: integer}", 1)),
		object: "spec: {a: x}", request: request{"v1", "", types.ApplyPatchType, label, "rejected"}, plan: "objects=wait",
	},
	{
		name:   "an item of an atomic list is invalid",
		from:   crdVersion("v1", stored1, of(list)),
		to:     crdVersion("v1", stored1, of(list, enum)),
		object: "spec: {l: [old]}", request: request{"v1", "", types.MergePatchType, "{spec: {l: [old, x]}}", "rejected"}, plan: "objects=wait",
	},
	{
		name:   "an item of a set is invalid",
		from:   crdVersion("v1", stored1, of(list, "", ", x-kubernetes-list-type: set")),
		to:     crdVersion("v1", stored1, of(list, enum, ", x-kubernetes-list-type: set")),
		object: "spec: {l: [old]}", request: request{"v1", "", types.MergePatchType, "{spec: {l: [old, x]}}", "rejected"}, plan: "objects=wait",
	},
	{
		name:   "the subresource status is removed",
		from:   crdVersion("v1", stored1+withStatus, of(conditions)),
		to:     crdVersion("v1", stored1, of(conditions)),
		object: "spec: {a: x}, status: {ready: true}", request: request{"v1", "status", types.MergePatchType, "{status: {ready: false}}", "rejected"}, plan: "clients=wait",
	},
	{
		name:   "the subresource status is added",
		from:   crdVersion("v1", stored1, of(conditions)),
		to:     crdVersion("v1", stored1+withStatus, of(conditions)),
		object: "status: {}", request: request{"v1", "", types.MergePatchType, "{status: {ready: true}}", "loses status.ready"}, plan: "clients=wait",
	},
	{
		name:   "a version is served no more",
		from:   crdVersion("v1", served1, of(strs)) + crdVersion("v2", stored1, of(strs)),
		to:     crdVersion("v1", "served: false, storage: false", of(strs)) + crdVersion("v2", stored1, of(strs)),
		object: "spec: {a: x}", created: "v1", printed: "v2", request: request{"v1", "", types.MergePatchType, label, "rejected"}, plan: "clients=wait",
	},
	{
		name:   "an object that ratcheting spares breaks a rule that follows from the schema",
		from:   crdVersion("v1", stored1, of(strs, ", e: {type: string, enum: [x]}")),
		to:     crdVersion("v1", stored1, of(strs, ", e: {type: string, enum: [x]}", ", x-kubernetes-validations: [{rule: \"!has(self.e) || self.e == 'x'\"}]")),
		object: "spec: {e: old}", request: request{"v1", "", types.MergePatchType, "{spec: {a: z}}", "rejected"}, plan: "objects=wait",
	},
}

// The plan of each change does not say go, and going ahead would break a request.
func TestUnsafe(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	client := clientOf(t, server)
	for i, test := range unsafe {
		t.Run(test.name, func(t *testing.T) {
			kind := fmt.Sprintf("Unsafe%d", i)
			text := func(versions string) []byte {
				more, versions, _ := strings.Cut(versions, "  - ")
				head := testcrd.Head(kind)
				if more != "" {
					head = strings.Replace(head, "  versions:", "  "+more+"\n  versions:", 1)
				}
				return []byte(head + "  - " + versions)
			}
			resources := func(version string) dynamic.ResourceInterface {
				return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: strings.ToLower(kind) + "s"}).Namespace("default")
			}
			created := test.created
			if created == "" {
				created = "v1"
			}
			// The object was valid once.
			lax := strings.NewReplacer(", enum: [x]", "").Replace(test.from)
			if err := server.Install(t.Context(), text(lax)); err != nil {
				t.Fatal(err)
			}
			object := fmt.Appendf(nil, "{apiVersion: example.com/%s, kind: %s, metadata: {name: it}, %s}", created, kind, test.object)
			if _, err := server.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(test.from, withStatus) {
				if _, err := server.UpdateStatus(t.Context(), object); err != nil {
					t.Fatal(err)
				}
			}
			printed := test.printed
			if printed == "" {
				printed = "v1"
			}
			objects, err := resources(printed).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p := planOf(t, text(test.from), text(test.to), objects.Items)
			if got := undone(p); got != test.plan {
				t.Errorf("%s: %s, want %s", p.Verdict, got, test.plan)
			}
			if err := server.Replace(t.Context(), text(test.to)); err != nil {
				t.Fatal(err)
			}
			if got := test.request.send(t, resources(test.request.version), resources(storageOf(t, text(test.to)))); got != test.request.want {
				t.Errorf("the request: %s, want %s", got, test.request.want)
			}
		})
	}
}

// send writes the object and returns the effect.
func (r request) send(t *testing.T, through, storage dynamic.ResourceInterface) string {
	t.Helper()
	var subresources []string
	if r.subresource != "" {
		subresources = []string{r.subresource}
	}
	var err error
	if r.kind == "" {
		var live *unstructured.Unstructured
		if live, err = through.Get(t.Context(), "it", metav1.GetOptions{}); err == nil {
			_, err = through.Update(t.Context(), live, metav1.UpdateOptions{}, subresources...)
		}
	} else {
		var body []byte
		if body, err = yaml.YAMLToJSON([]byte(r.body)); err != nil {
			t.Fatal(err)
		}
		_, err = through.Patch(t.Context(), "it", r.kind, body, metav1.PatchOptions{FieldManager: "test"}, subresources...)
	}
	if err != nil {
		return "rejected"
	}
	path, loses := strings.CutPrefix(r.want, "loses ")
	if live, err := storage.Get(t.Context(), "it", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	} else if _, found, _ := unstructured.NestedFieldNoCopy(live.Object, strings.Split(path, ".")...); loses && !found {
		return r.want
	}
	return "accepted"
}

func parsed(t *testing.T, text []byte) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func storageOf(t *testing.T, text []byte) string {
	for _, v := range parsed(t, text).Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// planOf returns the plan of a change with stored objects and current servers.
func planOf(t *testing.T, from, to []byte, objects []unstructured.Unstructured) change.Plan {
	t.Helper()
	f := change.Facts{From: parsed(t, from), To: parsed(t, to), Servers: []change.Server{{Version: version.MajorMinor(1, 37)}}}
	changes, err := change.Compare(t.Context(), change.InputOf(f.From), change.InputOf(f.To))
	if err != nil {
		t.Fatal(err)
	}
	f.Changes = &changes
	found := &change.Objects{}
	judge, err := f.Judge()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		v, err := judge.Object(t.Context(), o.Object)
		if err != nil {
			t.Fatal(err)
		}
		found.Add(v, o.Object)
	}
	f.Objects = found
	return change.NewPlan(f)
}

// undone returns the steps that block the change.
func undone(p change.Plan) string {
	var l []string
	for _, s := range p.Steps {
		if slices.Contains([]change.StepState{change.Waiting, change.Stopped, change.Unknown}, s.State) {
			l = append(l, s.ID+"="+string(s.State))
		}
	}
	return strings.Join(l, " ")
}
