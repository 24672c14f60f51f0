package union_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Members and discriminators in nested objects can be read and edited.
func TestWithin(t *testing.T) {
	u := &union.Union{Discriminator: "p.type", Members: []union.Member{{Name: "a"}, {Name: "p.b"}, {Name: "q.r.c"}, {Name: "x.y"}},
		Paths: map[string]schemapath.Path{"p.type": schemapath.New("p", "type"), "p.b": schemapath.New("p", "b"), "q.r.c": schemapath.New("q", "r", "c")}}
	of := func(text string) (o map[string]any) {
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	if got := fmt.Sprint(u.Names(), u.Holders()); got != "[p.type a p.b q.r.c x.y] [[p] [q] [q r]]" {
		t.Error(got)
	}
	for _, tt := range []struct{ object, without, put string }{
		{"{}", "{}", "{p: {type: v, b: v}, a: v, q: {r: {c: v}}, x.y: v}"},
		{"{p: null, q: {r: text, d: 1}}", "{p: null, q: {r: text, d: 1}}", "{p: {type: v, b: v}, a: v, q: {r: {c: v}, d: 1}, x.y: v}"},
		{"{a: 1, x.y: 2, x: {y: 3}, p: {type: T, b: 4, d: 5}, q: {r: {c: 6}}}", "{x: {y: 3}, p: {d: 5}, q: {r: {}}}",
			"{a: v, x.y: v, x: {y: 3}, p: {type: v, b: v, d: 5}, q: {r: {c: v}}}"},
	} {
		object := of(tt.object)
		if d := cmp.Diff(of(tt.without), u.Omit(object)); d != "" {
			t.Errorf("%s: without: %s", tt.object, d)
		}
		if d := cmp.Diff(of(tt.object), object); d != "" {
			t.Errorf("%s has changed: %s", tt.object, d)
		}
		for _, name := range u.Names() {
			u.Put(object, name, "v")
		}
		if d := cmp.Diff(of(tt.put), object); d != "" {
			t.Errorf("%s: put: %s", tt.object, d)
		}
	}
	for name, want := range map[string]string{"p.type": "<nil> true", "p.b": "<nil> false", "x.y": "1 true", "q.r.c": "<nil> false"} {
		v, there := u.Lookup(of("{p: {type: null}, x.y: 1, x: {y: 2}}"), name)
		if got := fmt.Sprint(v, there); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
