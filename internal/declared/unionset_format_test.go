package declared_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// contents returns the content of declarations as sorted lines. It reads the nodes only with
// yaml.v3.
func contents(t *testing.T, externals []union.External) []string {
	t.Helper()
	var l []string
	for _, e := range externals {
		var v any
		if err := e.Value.Decode(&v); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, fmt.Sprint(e.Name, " ", e.Version, " ", e.Path, " ", e.Extend, " ", string(data)))
	}
	slices.Sort(l)
	return l
}

func parse(t *testing.T, text string) *union.Externals {
	t.Helper()
	set, diags := declared.ParseUnionSet("f.yaml", []byte(text))
	if set == nil {
		t.Fatalf("%v\n%s", diags, text)
	}
	return set
}

func format(t *testing.T, externals []union.External) string {
	t.Helper()
	out, err := declared.FormatUnionSet(externals)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// written returns the declarations of CRDs as infer makes them: for a version, and without aliases.
func written(t *testing.T, externals []union.External) (l []union.External) {
	t.Helper()
	for _, e := range externals {
		if e.Name == "" || e.Extend {
			continue
		}
		var v any
		var value yaml.Node
		if err := e.Value.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if err := value.Encode(v); err != nil {
			t.Fatal(err)
		}
		e.Version, e.Value = cmp.Or(e.Version, "v3"), &value
		l = append(l, e)
	}
	return l
}

// TestFormatParses asserts that formatted declarations are parsed and formatted without a change, in
// any order.
func TestFormatParses(t *testing.T) {
	for _, test := range good {
		t.Run(test.name, func(t *testing.T) {
			l := written(t, parse(t, test.text).Declarations)
			out := format(t, l)
			again := parse(t, out)
			if d := gocmp.Diff(contents(t, l), contents(t, again.Declarations)); d != "" {
				t.Errorf("%s\n%s", d, out)
			}
			slices.Reverse(l)
			if reverse := format(t, l); reverse != out {
				t.Error(gocmp.Diff(out, reverse))
			}
		})
	}
}

// TestFormat formats several declarations of a schema, and equal ones of several versions.
func TestFormat(t *testing.T) {
	value := func(members ...string) *yaml.Node {
		u := &union.Union{}
		for _, m := range members {
			u.Members = append(u.Members, union.Member{Name: m})
		}
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{u.Node()}}
	}
	target := union.Target{Name: "a.example.com", Group: "example.com", Kind: "A"}
	steps := schemapath.New("spec").Append(schemapath.Items, schemapath.Values)
	l := []union.External{
		{Target: target, Version: "v1", Path: steps, Value: value("a", "no")},
		{Target: target, Version: "v1", Path: steps, Value: value("c", "d")},
		{Target: target, Version: "v2", Path: schemapath.New("spec", "a.b"), Value: value("x", "w")},
		{Target: target, Version: "v1beta1", Path: schemapath.New("spec", "a.b"), Value: value("x", "w")},
		{Target: target, Version: "v1", Path: schemapath.New("spec", "a.b"), Value: value("x", "w", "v")},
		{Target: target, Version: "v1", Value: value(strings.Repeat("a", 40), strings.Repeat("b", 40))},
	}
	want := header + `schemas:
- crd: a.example.com
  versions: [v1]
  x-kubernetes-unions:
  - members:
    - ` + strings.Repeat("a", 40) + `
    - ` + strings.Repeat("b", 40) + `
- crd: a.example.com
  versions: [v1]
  path: spec['a.b']
  x-kubernetes-unions:
  - members: [x, w, v]
- crd: a.example.com
  versions: [v1beta1, v2]
  path: spec['a.b']
  x-kubernetes-unions:
  - members: [x, w]
- crd: a.example.com
  versions: [v1]
  path: spec[*][*]
  x-kubernetes-unions:
  - members: [a, "no"]
  - members: [c, d]
`
	if got := format(t, l); got != want {
		t.Error(gocmp.Diff(want, got))
	}
	if got := format(t, nil); got != header+"schemas: []\n" {
		t.Error(got)
	}
}

func TestFormatErrors(t *testing.T) {
	set := parse(t, good[0].text)
	change := func(by func(*union.External)) []union.External {
		e := set.Declarations[0]
		by(&e)
		return []union.External{set.Declarations[0], e}
	}
	for _, test := range []struct {
		name      string
		externals []union.External
		want      string
	}{
		{"no name", change(func(e *union.External) { e.Target = union.Target{} }), `crd: want a string, not ""`},
		{"no schema", change(func(e *union.External) { e.Path = schemapath.New("") }), "a property without a name has no path"},
		{"not a version", change(func(e *union.External) { e.Version = "V 1" }), `"V 1" is not the name of a version`},
		{"not a CRD", change(func(e *union.External) { e.Name = "x" }), `"x" is not the name of a CRD`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if out, err := declared.FormatUnionSet(test.externals); err == nil || !strings.HasPrefix(err.Error(), test.want) || out != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
