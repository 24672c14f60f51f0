package yamltext_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestReplace edits the mapping at spec, or the first item of the list there.
func TestReplace(t *testing.T) {
	tests := []struct {
		src     string
		indices []int
		want    string
	}{
		{"spec:\n  a: 1 # of a\n  # of b\n  b: {x: y}\n", []int{0}, "spec:\n  # of b\n  b: {x: y}\n"},
		{"spec:\n  a: 1\n  b:\n    x: y\n  c: 3", []int{1, 2}, "spec:\n  a: 1\n"},
		{"spec:\n  a: 1\n  b: 2\n  c: 3\n", []int{0, 2}, "spec:\n  b: 2\n"},
		{"spec:\n  a: 1\nmore: true\n", []int{0}, "spec: {}\nmore: true\n"},
		{"spec: # why\n  a: 1\n", []int{0}, "spec: # why\n  {}\n"},
		{"spec:\r\n  a: 1\r\n  b: 2\r\n", []int{0}, "spec:\r\n  b: 2\r\n"},
		{"spec: {a: 1, b: 2, c: 3}\n", []int{0, 2}, "spec: {b: 2}\n"},
		{"spec: {a: 1}\n", []int{0}, "spec: {}\n"},
		{`{"spec":{"a":1,"b":2}}`, []int{1}, `{"spec":{"a":1}}`},
		{"spec:\n- a: 1\n  b: 2\n", []int{0}, "spec:\n- b: 2\n"},
		{"spec:\n- a:\n    x: y\n  # of b\n  b: 2\n  c: 3\n- a: 4\n", []int{0, 2}, "spec:\n- # of b\n  b: 2\n- a: 4\n"},
		{"spec:\n- a: 1\n  b: 2\n- c\n", []int{0, 1}, "spec:\n- {}\n- c\n"},
		{"spec:\n- a: 1\n  b: 2\n", []int{1}, "spec:\n- a: 1\n"},
	}
	for _, tt := range tests {
		f, err := yamltext.Parse([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		n := yamltext.Value(f.Docs[0].Root, "spec")
		if len(n.Content) > 0 && n.Tag == "!!seq" {
			n = n.Content[0]
		}
		edits, err := yamltext.EditedText{File: f, Document: f.Docs[0]}.Replace(n, tt.indices)
		if err != nil {
			t.Errorf("%q: %v", tt.src, err)
			continue
		}
		if got, err := yamltext.Apply([]byte(tt.src), edits); err != nil || string(got) != tt.want {
			t.Errorf("%q without %v is %q, %v; want %q", tt.src, tt.indices, got, err, tt.want)
		}
	}
}

func TestDashOf(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		dash      int
		ok        bool
	}{
		{"below the key", "k:\n  - 1\n", 2, true},
		{"flush with the key", "k:\n- &anchor\n  a: 1\n", 0, true},
		{"flow style", "k: [1]\n", 0, false},
		{"left of an explicit key", "?     k\n:\n- 1\n", 0, false},
	} {
		f, err := yamltext.Parse([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		root := f.Docs[0].Root
		dash, ok := yamltext.EditedText{File: f, Document: f.Docs[0]}.DashOf(root.Content[0], root.Content[1])
		if ok != tt.ok || ok && dash != tt.dash {
			t.Errorf("%s: %d, %t", tt.name, dash, ok)
		}
	}
}
