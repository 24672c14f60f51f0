package yamltext

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	const src = `
base: &base {x: 1, y: 2}
more: &more
  <<: *base
  y: 3
  z: 4
own: {<<: *base, x: 9}
late: {x: 9, <<: *base}
list: {<<: [*more, *base, {w: 5}]}
inline: {<<: {x: 7}}
alias: *base
literal: {"<<": *base}
quoted: {"x": 6, 'y': 7, 12: z}
empty: {}
scalar: a
circle: &circle {<<: *circle, q: 1}
null:
`
	f := parse(t, src)
	for _, c := range []struct{ at, key, want string }{
		{"base", "x", "1 false"}, {"base", "w", ""},
		{"more", "x", "1 true"}, {"more", "y", "3 false"},
		{"own", "x", "9 false"}, {"own", "y", "2 true"},
		{"late", "x", "9 false"}, {"late", "y", "2 true"},
		{"list", "y", "3 true"}, {"list", "x", "1 true"}, {"list", "w", "5 true"},
		{"inline", "x", "7 true"},
		{"alias", "x", "1 true"},
		{"literal", "x", ""},
		{"quoted", "x", "6 false"}, {"quoted", "y", "7 false"}, {"quoted", "12", "z false"},
		{"empty", "x", ""}, {"scalar", "x", ""}, {"null", "x", ""},
		{"circle", "q", "1 false"}, {"circle", "x", ""},
	} {
		m := Lookup(f.Docs[0].Root, c.at).Value
		if m == nil {
			t.Fatalf("no %s", c.at)
		}
		got := ""
		if e := Lookup(m, c.key); e.Key != nil {
			if e.Key.Value != c.key {
				t.Errorf("key is %s", e.Key.Value)
			}
			got = fmt.Sprint(e.Value.Value, " ", e.Index < 0)
		}
		if got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.key, c.at, got, c.want)
		}
		got = ""
		for _, e := range Entries(m) {
			if e.Key.Value == c.key {
				got += fmt.Sprint(e.Value.Value, " ", e.Index < 0)
			}
		}
		if got != c.want {
			t.Errorf("entry %s in %s: got %q, want %q", c.key, c.at, got, c.want)
		}
	}
	if Lookup(nil, "x").Key != nil {
		t.Error("found in nothing")
	}
}

func TestAliased(t *testing.T) {
	f := parse(t, "a: &a\n  b: [c, &d e]\nf: &unused g\nh: {i: *a}\nj: k\n")
	var got []string
	found := Aliased(f.Docs[0].Root)
	for n := range found {
		got = append(got, n.Value)
	}
	if len(got) != 5 { // the mapping, b, the list, c, e
		t.Errorf("got %q", got)
	}
	root := f.Docs[0].Root
	if !found[root.Content[1]] || found[root.Content[0]] || found[root.Content[3]] || found[root] {
		t.Error("wrong nodes")
	}
	if len(Aliased(nil)) != 0 {
		t.Error("something in nothing")
	}
}

func TestDuplicateKeys(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"a: 1\nb: 2\n", ""},
		{"a: 1\nb: 2\na: 3\n'a': 4\n", "3:1 4:1"},
		{"a: {b: 1, \"b\": 2}\nc: [{d: 1, d: 2}]\n", "1:11 2:12"},
		{"1: a\n'1': b\n0x1: c\n", "2:1 3:1"},
		{"yes: a\ntrue: b\n'true': c\n'yes': d\n", "2:1 3:1"},
		{"1000000: a\n'1000000': b\n1e6: c\n", "2:1"},
		{"b: &x {a: 1}\nc: {<<: *x, a: 2}\nd: {<<: *x, <<: *x}\n", "3:13"},
		{"&x a: 1\n*x : 2\n", "2:1"},
		{"[a]: 1\n[a]: 2\n", ""},
		{"'': 1\n: 2\n"[:6], ""},
	} {
		f := parse(t, c.src)
		var got []string
		for _, keys := range DuplicateKeys(f.Docs[0].Root) {
			n := keys[1]
			got = append(got, fmt.Sprintf("%d:%d", n.Line, n.Column))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.src, got, c.want)
		}
	}
	if DuplicateKeys(nil) != nil {
		t.Error("something in nothing")
	}
}

func TestValue(t *testing.T) {
	f := parse(t, "# x\n---\na: on\nb: 1\nc: 1.5\nd: [~, \"on\", 12345678901]\n1: x\n...\n---\n# y\n---\na: 1\na: 2\n")
	got, err := f.Value(f.Docs[0])
	want := map[string]any{"a": true, "b": int64(1), "c": 1.5, "d": []any{nil, "on", int64(12345678901)}, "1": "x"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
	if got, err := f.Value(f.Docs[1]); got != nil || err != nil {
		t.Errorf("got %#v, %v", got, err)
	}
	if got := DuplicateKeys(f.Docs[2].Root); len(got) != 1 {
		t.Errorf("got %d duplicate keys", len(got))
	}
}
