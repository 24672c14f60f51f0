package yamltext

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestJSONAsYAML compares the JSON reader with the YAML reader on texts that both can read.
func TestJSONAsYAML(t *testing.T) {
	files, err := filepath.Glob("../../internal/crdpatch/testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	texts := []string{"\ufeff{\"ä\": [1, -0, 1.50, 1e3, 18446744073709551615, 1e400, null, true, false, \"\", {}, []]}\r\n", "[\n\t{\"a\"\n:\t1 ,\"b\" : \"x\"} ]"}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	compared := 0
	for _, text := range texts {
		file, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode([]byte(strings.TrimPrefix(text, "\ufeff")))
		if err != nil || len(file.Docs) != 1 || !isJSON([]byte(text)) {
			continue // it has JSON escapes, or lacks a declaration and a comma
		}
		compared++
		if d := cmp.Diff(nodes(want), nodes(file.Docs[0].Root)); d != "" {
			t.Errorf("(-YAML +JSON):\n%s", d)
		}
	}
	if compared < 10 {
		t.Errorf("%d files compared", compared)
	}
}

// nodes prints a node and its descendants.
func nodes(n *yaml.Node) []string {
	l := []string{fmt.Sprintf("%d:%d kind %d style %d %s %q", n.Line, n.Column, n.Kind, n.Style, n.ShortTag(), n.Value)}
	for _, c := range n.Content {
		l = append(l, nodes(c)...)
	}
	return l
}

// TestJSONStream has streams without separators and long keys, which JSON allows.
func TestJSONStream(t *testing.T) {
	long := strings.Repeat("k", 3000)
	for _, tt := range []struct {
		src  string
		docs []string // nil if an error is expected
	}{
		{`{"a":1}{"a":2}`, []string{`{"a":1}`, `{"a":2}`}},
		{"\ufeff{\"a\":1} [2]\n", []string{"\ufeff{\"a\":1} ", "[2]\n"}},
		{"\n{\n \"a\": 1\n}\n\n{\"a\": 2}\n \n", []string{"\n{\n \"a\": 1\n}\n", "\n{\"a\": 2}\n \n"}},
		{`{"` + long + `": {"a\/b": "\ud83d\ude00"}}` + "\r\n" + `{"` + long + `":2}`, []string{`{"` + long + `": {"a\/b": "\ud83d\ude00"}}` + "\r\n", `{"` + long + `":2}`}},
		{"{\"a\":1}\n{\"a\":2}\n---\na: 3\n---\n{\"a\":4}\n", []string{"{\"a\":1}\n", "{\"a\":2}\n", "---\na: 3\n", "---\n{\"a\":4}\n"}},
		{`{"a":1}{"a":2`, nil},
		{`{"a":1} 2`, nil},
		{`{"a":1},{"a":2}`, nil},
		{`{"` + long + `": 1, }`, nil},
	} {
		file, err := Parse([]byte(tt.src))
		if tt.docs == nil {
			if err == nil {
				t.Errorf("%q is read", tt.src)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.src, err)
			continue
		}
		var docs []string
		for _, d := range file.Docs {
			docs = append(docs, string(file.Src[d.Start:d.End]))
			if _, err := file.Value(d); err != nil {
				t.Error(err)
			}
			var walk func(n *yaml.Node)
			walk = func(n *yaml.Node) {
				start, end, err := file.Span(d, n)
				if err != nil {
					t.Error(err)
				} else if line, col := file.Position(start); line != n.Line || col != n.Column || strings.TrimSpace(tt.src[start:end]) == "" {
					t.Errorf("%q is at %d:%d, not %d:%d", tt.src[start:end], line, col, n.Line, n.Column)
				}
				for _, c := range n.Content {
					walk(c)
				}
			}
			walk(d.Root)
		}
		if d := cmp.Diff(tt.docs, docs); d != "" {
			t.Error(d)
		}
	}
	for _, twice := range []string{`{"a": 1, "a": 2}`, `{"b": [{"\u0061": 1, "a": 2}]}`} {
		file, err := Parse([]byte(twice))
		if err != nil {
			t.Fatal(err)
		}
		if got := DuplicateKeys(file.Docs[0].Root); len(got) != 1 {
			t.Errorf("%s has %d duplicate keys", twice, len(got))
		}
	}
}
