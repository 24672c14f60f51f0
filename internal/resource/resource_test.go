package resource_test

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/limit"
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
	f, l := resource.Parse("in.yaml", []byte(src), limit.Limits{})
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
		path   resource.Path
		at     string
		value  any
		shared bool
	}{
		{nil, "2:1", nil, false},
		{resource.Path{"spec", "template", "volumes", 1, "name"}, "7:27", "b", false},
		{resource.Path{"spec", "template", "volumes", 1}, "7:26", nil, false},
		{resource.Path{"spec", "again", "volumes", 0, "name"}, "7:16", "a", true},
		{resource.Path{"spec", "template", "volumes", 2}, "7:5", nil, false},
		{resource.Path{"spec", "none", "x"}, "5:1", nil, false},
	} {
		n, shared := web.At(tt.path)
		v, ok := tt.path.In(web.Value)
		if pos := web.Pos(tt.path); fmt.Sprintf("%d:%d", pos.Line, pos.Col) != tt.at || (n != nil) != ok || shared != tt.shared || tt.value != nil && v != tt.value {
			t.Errorf("%s is at %v, node %v, shared %v, value %v", tt.path, pos, n, shared, v)
		}
	}
	if p := (resource.Path{"spec", "volumes"}).To(0).To("a.b"); p.String() != "spec.volumes[0].a.b" || resource.Path(nil).String() != "" {
		t.Error(p)
	}
	for src, want := range map[string]string{
		"a: 1\na: 2\n": `in.yaml:2:1: error: UC104: key "a" occurs twice in this mapping`,
		"":             "in.yaml: error: UC103: the file is empty",
		"a: [":         "in.yaml:1:4: error: UC101: did not find expected node content",
	} {
		if f, l := resource.Parse("in.yaml", []byte(src), limit.Limits{}); f != nil || len(l) != 1 || l[0].String() != want {
			t.Errorf("%q: %v", src, l)
		}
	}
}
