package yamltext_test

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/internal/yamltext"
)

func TestParse(t *testing.T) {
	src := `# first
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template: &t
    volumes: [{name: a}, {name: b}]
  again: *t
---
just: values
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
- apiVersion: example.com/v1
  kind: RouteList
  items: [{apiVersion: example.com/v1, kind: Route, metadata: {name: r}}]
`
	f, l := yamltext.ParseObjects("in.yaml", []byte(src), yamltext.Limits{})
	if len(l) > 0 || len(f.Objects) != 3 {
		t.Fatal(l, f)
	}
	web := f.Objects[0]
	if got := fmt.Sprint(web, " ", f.Objects[1], " ", f.Objects[2], " ", web.GroupVersionKind); got != "Deployment shop/web ConfigMap c Route r apps/v1, Kind=Deployment" {
		t.Error(got)
	}
	if !web.Is(web) || web.Is(f.Objects[1]) {
		t.Error("Is is wrong")
	}
	for _, tt := range []struct {
		path   yamltext.ObjectPath
		at     string
		value  any
		shared bool
	}{
		{nil, "2:1", nil, false},
		{yamltext.ObjectPath{"spec", "template", "volumes", 1, "name"}, "7:27", "b", false},
		{yamltext.ObjectPath{"spec", "template", "volumes", 1}, "7:26", nil, false},
		{yamltext.ObjectPath{"spec", "again", "volumes", 0, "name"}, "7:16", "a", true},
		{yamltext.ObjectPath{"spec", "template", "volumes", 2}, "7:5", nil, false},
		{yamltext.ObjectPath{"spec", "none", "x"}, "5:1", nil, false},
	} {
		n, shared := web.Lookup(tt.path)
		v, ok := tt.path.Lookup(web.Value)
		if pos := web.Pos(tt.path); fmt.Sprintf("%d:%d", pos.Line, pos.Col) != tt.at || (n != nil) != ok || shared != tt.shared || tt.value != nil && v != tt.value {
			t.Errorf("%s is at %v, node %v, shared %v, value %v", tt.path, pos, n, shared, v)
		}
	}
	if p := (yamltext.ObjectPath{"spec", "volumes"}).Child(0).Child("a.b"); p.String() != "spec.volumes[0].a.b" || yamltext.ObjectPath(nil).String() != "" {
		t.Error(p)
	}
	for src, want := range map[string]string{
		"a: 1\na: 2\n": `in.yaml:2:1: error: UC104: key "a" occurs twice in this mapping`,
		"":             "in.yaml: error: UC103: the file is empty",
		"a: [":         "in.yaml:1:4: error: UC101: did not find expected node content",
	} {
		if f, l := yamltext.ParseObjects("in.yaml", []byte(src), yamltext.Limits{}); f != nil || len(l) != 1 || l[0].String() != want {
			t.Errorf("%q: %v", src, l)
		}
	}
}

// TestFind uses all notations for fields in the API server, and keys with any character.
func TestFind(t *testing.T) {
	src := `apiVersion: v1
kind: A
spec:
  rules: [{to: x}, {to: y}]
  a: {b: {c: 1}, b.c: 2, "k[0]": {z: 3}, "it's": 4}
`
	f, l := yamltext.ParseObjects("in.yaml", []byte(src), yamltext.Limits{})
	if len(l) > 0 {
		t.Fatal(l)
	}
	o := f.Objects[0]
	for text, want := range map[string]string{
		"":                   "1:1",
		"spec":               "3:1",
		".spec.rules":        "4:3",
		"spec.rules[1].to":   "4:21",
		"spec.rules.1.to":    "4:21",
		"spec.rules[2].to":   "4:3",
		"spec.rules[1].none": "4:20",
		"spec.a.b.c":         "5:11",
		"spec.a[b.c]":        "5:18",
		"spec.a.b.c.d":       "5:11",
		"spec.a.b.x":         "5:7",
		"spec.a[k[0]].z":     "5:35",
		"spec.a.k[0].z":      "5:35",
		"spec.a['it's']":     "5:42",
		"spec.ab":            "3:1",
		"none":               "1:1",
	} {
		if pos := o.Pos(o.Find(text)); fmt.Sprintf("%d:%d", pos.Line, pos.Col) != want {
			t.Errorf("%s is at %v, want %s", text, pos, want)
		}
	}
}
