package yamltext

import (
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string // empty if an error is expected
	}{
		{"none", nil, "abcdef"},
		{"replace", []Edit{{1, 3, "X"}}, "aXdef"},
		{"any order", []Edit{{4, 5, "Y"}, {0, 1, "X"}}, "XbcdYf"},
		{"delete", []Edit{{0, 6, ""}, {6, 6, "z"}}, "z"},
		{"insert in order", []Edit{{2, 2, "1"}, {2, 2, "2"}, {0, 0, "0"}}, "0ab12cdef"},
		{"insert before", []Edit{{2, 2, "1"}, {2, 4, "X"}}, "ab1Xef"},
		{"insert behind the new text", []Edit{{2, 4, "X"}, {2, 2, "1"}}, "abX1ef"},
		{"insert at the end", []Edit{{2, 4, "X"}, {4, 4, "1"}}, "abX1ef"},
		{"adjacent", []Edit{{2, 4, "X"}, {4, 6, "Y"}}, "abXY"},
		{"overlap", []Edit{{2, 4, "X"}, {3, 5, "Y"}}, ""},
		{"same", []Edit{{2, 4, "X"}, {2, 4, "X"}}, ""},
		{"inside", []Edit{{1, 5, "X"}, {3, 3, "Y"}}, ""},
		{"before the start", []Edit{{-1, 2, "X"}}, ""},
		{"behind the end", []Edit{{5, 7, "X"}}, ""},
		{"backwards", []Edit{{3, 2, "X"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := []byte("abcdef")
			got, err := Apply(src, c.edits)
			if (err == nil) != (c.want != "") || string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if string(src) != "abcdef" {
				t.Errorf("src is now %q", src)
			}
		})
	}
}

func TestApplyKeepsOrder(t *testing.T) {
	var edits []Edit
	want := ""
	for c := 'A'; c <= 'Z'; c++ {
		edits = append(edits, Edit{1, 1, string(c)}, Edit{0, 0, "."})
		want += string(c)
	}
	got, err := Apply([]byte("ab"), edits)
	if err != nil || string(got) != strings.Repeat(".", 26)+"a"+want+"b" {
		t.Errorf("got %q, %v", got, err)
	}
}
