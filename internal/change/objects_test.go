package change

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestObjects asserts that the counts agree with the API server's validators.
func TestObjects(t *testing.T) {
	from := crd(t, v("v1", strings.Replace(plain, "http: {type: string}", "http: {type: string}\n  old: {type: object, x-kubernetes-preserve-unknown-fields: true}", 1)))
	for _, tt := range []struct{ name, spec, want string }{
		{"valid", "{type: HTTP, http: a}", "1 0 0 0 0 [] []"},
		{"ratcheted", "{type: UDP}", `1 1 0 0 0 [a/b (ratcheted): spec.type: Unsupported value: "UDP": supported values: "HTTP", "TCP"] []`},
		{"restricted", "{http: a}", "1 1 1 0 0 [a/b (restricted): spec: Invalid value: http without type] []"},
		{"losing", "{type: HTTP, old: {x: 1}}", "1 0 0 0 1 [] [a/b: spec.old]"},
	} {
		f := Facts{From: from, To: crd(t, v("v1", ruled)), Servers: servers("1.36")}
		o := &Objects{}
		judge, err := f.Judge()
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := yaml.Unmarshal([]byte("apiVersion: example.com/v1\nkind: Route\nmetadata: {name: b, namespace: a, managedFields: [{manager: m, apiVersion: example.com/v1}, {manager: n, apiVersion: a/b/c}]}\nspec: "+tt.spec), &object); err != nil {
			t.Fatal(err)
		}
		verdict, err := judge.Object(context.Background(), object)
		if err != nil {
			t.Fatal(err)
		}
		o.Add(verdict, object)
		if got := fmt.Sprint(o.Total, o.Invalid, o.Blocked, o.Rewrites, o.Losing, o.Examples, o.Lost); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if got := fmt.Sprint(o.Managed); got != "map[v1:[{a b m 0  false}]]" {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	// A migration writes the objects in the new storage version.
	f := Facts{From: crd(t, v("v2", plain), v("v1", plain)), To: crd(t, v("v1", plain), v("v2", ruled))}
	o := &Objects{}
	judge, err := f.Judge()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		object := map[string]any{"apiVersion": "example.com/v1", "kind": "Route", "metadata": map[string]any{"name": fmt.Sprint("r", i)}, "spec": map[string]any{"http": "a"}}
		verdict, err := judge.Object(context.Background(), object)
		if err != nil {
			t.Fatal(err)
		}
		o.Add(verdict, object)
	}
	// A new version that lacks a field: only a write through it loses the field.
	added := Facts{From: crd(t, v("v1", plain)), To: crd(t, v("v2", strings.Replace(plain, "http: {type: string}", "web: {type: string}", 1)), v("v1", plain))}
	added.Objects = &Objects{}
	if judge, err = added.Judge(); err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Route", "metadata": map[string]any{"name": "r"}, "spec": map[string]any{"http": "a"}}
	verdict, err := judge.Object(context.Background(), object)
	if err != nil {
		t.Fatal(err)
	}
	added.Objects.Add(verdict, object)
	if s := validity.steps(&added)[0]; s.Title != "Add the fields that a version lacks" || !strings.HasSuffix(s.Reason, "Only a write through a version without them loses them: add them there.") ||
		fmt.Sprint(s.Details) != "[r: spec.http through v2]" {
		t.Errorf("%+v", s)
	}
	if o.Total != 12 || o.Invalid != 12 || len(o.Examples) != 11 || o.Examples[10] != "and more" {
		t.Errorf("%+v", o)
	}
}

// TestObjectsAfterTheChange asserts that the reason holds before and after the CRD is applied.
func TestObjectsAfterTheChange(t *testing.T) {
	from, to := crd(t, v("v1", plain)), crd(t, v("v1", ruled))
	for _, live := range []*apiextensionsv1.CustomResourceDefinition{from, to} {
		f := Facts{From: from, To: to, Live: live, Objects: &Objects{Total: 3, Invalid: 2, Blocked: 1}}
		const want = "Invalid after the change: 2 of 3 objects. For 1 of them, the API server then rejects writes that leave the invalid values unchanged."
		if s := validity.steps(&f)[0]; s.Reason != want || s.State != Waiting {
			t.Errorf("%v: %s", s.State, s.Reason)
		}
	}
}
