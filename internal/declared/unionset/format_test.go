package unionset_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared/unionset"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// declared returns the content of declarations as sorted lines. It reads the nodes only with
// yaml.v3.
func declared(t *testing.T, externals []union.External) []string {
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
	set, diags := unionset.Parse("f.yaml", []byte(text))
	if set == nil {
		t.Fatalf("%v\n%s", diags, text)
	}
	return set
}

func format(t *testing.T, externals []union.External) string {
	t.Helper()
	out, err := unionset.Format(externals)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestFormatParses asserts that formatted declarations are parsed and formatted without a change.
func TestFormatParses(t *testing.T) {
	for _, test := range good {
		t.Run(test.name, func(t *testing.T) {
			set := parse(t, test.text)
			out := format(t, set.Declarations)
			again := parse(t, out)
			if d := cmp.Diff(declared(t, set.Declarations), declared(t, again.Declarations)); d != "" {
				t.Errorf("%s\n%s", d, out)
			}
			if twice := format(t, again.Declarations); twice != out {
				t.Error(cmp.Diff(out, twice))
			}
		})
	}
}

// styled has comments, quotes, aliases and merges.
const styled = header + `
schemas:
- crd: b.example.com
  path: spec
  x-kubernetes-unions:
  # Where backups go.
  - discriminator: type # the kind of storage
    fields-to-discriminateBy: {"s3": "S3", nfs: [NFS, 'On'], "off": "1"}
    allowedChanges: {"S3": ["NFS", ""]}
  - members: [aaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccccccccccccc, dddddddd]
  - {members: [
      e, # the first
      f], name: "two\nlines"}
- crd: a.example.com
  versions: [v2, v1beta1]
  path: spec['a.b']
  x-kubernetes-unions: [&u {members: [x, w]}, {<<: *u, members: [p, q], ratchet: true}]
- crd: a.example.com
  path: spec['a.b']
  versions: [v1]
  x-kubernetes-unions:
  - members:
    - x
    - w
  - members: [p, q]
    ratchet: true
- crd: a.example.com
  path: spec['a.b']
  versions: [v3]
  x-kubernetes-unions: [*u]
- crd: a.example.com
  x-kubernetes-unions: [*u]
`

func TestFormat(t *testing.T) {
	const want = header + `schemas:
- crd: a.example.com
  x-kubernetes-unions:
  - members: [x, w]
- crd: a.example.com
  versions: [v1, v1beta1, v2]
  path: spec['a.b']
  x-kubernetes-unions:
  - members:
    - x
    - w
  - members: [p, q]
    ratchet: true
- crd: a.example.com
  versions: [v3]
  path: spec['a.b']
  x-kubernetes-unions:
  - members: [x, w]
- crd: b.example.com
  path: spec
  x-kubernetes-unions:
  # Where backups go.
  - discriminator: type # the kind of storage
    fields-to-discriminateBy: {s3: S3, nfs: [NFS, "On"], "off": "1"}
    allowedChanges: {S3: [NFS, ""]}
  - members:
    - aaaaaaaaaaaaaaaaaaaa
    - bbbbbbbbbbbbbbbbbbbbbbbbb
    - ccccccccccccccccccccc
    - dddddddd
  - members:
    - e # the first
    - f
    name: "two\nlines"
`
	if got := format(t, parse(t, styled).Declarations); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// TestFormatOrder asserts that the order of declarations does not matter.
func TestFormatOrder(t *testing.T) {
	l := parse(t, good[2].text).Declarations
	want := format(t, l)
	slices.Reverse(l)
	if got := format(t, l); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// TestFormatNodes formats declarations from Go code. Their nodes have no positions or known items,
// and a schema may have several declarations.
func TestFormatNodes(t *testing.T) {
	value := func(members ...string) *yaml.Node {
		u := &union.Union{}
		for _, m := range members {
			u.Members = append(u.Members, union.Member{Name: m})
		}
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{u.Node()}}
	}
	target := union.Target{Name: "a.example.com", Group: "example.com", Kind: "A"}
	steps := schemapath.New("spec").Append(schemapath.Items, schemapath.Values)
	plain := value("e", "f")
	plain.Content[0].Content[1].Style = 0
	at := &diag.Pos{File: "a.go", Line: 3, Col: 1}
	l := []union.External{
		{Target: target, Version: "v1", Path: steps, Value: value("a", "no"), At: at},
		{Target: target, Version: "v1", Path: steps, Value: value("c", "d"), At: at},
		{Target: target, Version: "v1", Path: steps, Value: plain, At: at},
	}
	const want = header + `schemas:
- crd: a.example.com
  versions: [v1]
  path: spec[*][*]
  x-kubernetes-unions:
  - members: [a, "no"]
  - members: [c, d]
  - members: [e, f]
`
	if got := format(t, l); got != want {
		t.Error(cmp.Diff(want, got))
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
		{"no name", change(func(e *union.External) { e.Target = union.Target{} }), "this item of schemas has no crd"},
		{"no schema", change(func(e *union.External) { e.Path = schemapath.New("") }), "f.yaml:10:3: a property without a name has no path"},
		{"malformed", change(func(e *union.External) { e.Value = e.Value.Content[0] }), "f.yaml:10:5: x-kubernetes-unions must be a list of unions, not a mapping"},
		{"all versions and one", change(func(e *union.External) { e.Version = "" }), "spec.storage of backups.example.com has unions twice in version v1"},
		{"not a version", change(func(e *union.External) { e.Version = "V 1" }), `"V 1" is not the name of a version`},
		{"not a CRD", change(func(e *union.External) { e.Name = "x" }), `"x" is not the name of a CRD`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if out, err := unionset.Format(test.externals); err == nil || !strings.HasPrefix(err.Error(), test.want) || out != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
