package yamltext

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// parse parses a valid stream.
func parse(t testing.TB, src string) *File {
	t.Helper()
	f, err := Parse([]byte(src))
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return f
}

func TestParseSplits(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string // text of each document; prefixed with "-" if it has no content
	}{
		{"nothing", "", []string{"-"}},
		{"comments", "# a\n\n# b", []string{"-# a\n\n# b"}},
		{"one", "a: 1\n", []string{"a: 1\n"}},
		{"no newline", "a: 1", []string{"a: 1"}},
		{"marker first", "---\na: 1\n", []string{"---\na: 1\n"}},
		{"comment before marker", "# x\n---\na: 1\n", []string{"# x\n---\na: 1\n"}},
		{"two", "a: 1\n---\nb: 2\n", []string{"a: 1\n", "---\nb: 2\n"}},
		{"comments around", "# x\na: 1\n# y\n---\n# z\nb: 2\n", []string{"# x\na: 1\n# y\n", "---\n# z\nb: 2\n"}},
		{"empty between", "a: 1\n---\n# x\n---\n---\nb: 2\n", []string{"a: 1\n", "----\n# x\n", "----\n", "---\nb: 2\n"}},
		{"marker last", "a: 1\n---\n", []string{"a: 1\n", "----\n"}},
		{"marker lines", "--- {a: b}\n--- # c\nd\n---\te\n--- |\n f\n---", []string{"--- {a: b}\n", "--- # c\nd\n", "---\te\n", "--- |\n f\n", "----"}},
		{"no markers", "---a: 1\n--- b: 1\n"[:8] + "\n", []string{"---a: 1\n\n"}},
		{"indented", "a: |\n  ---\n  b\n ---\n", nil},
		{"in a block", "a: |\n  ---\n  b\n", []string{"a: |\n  ---\n  b\n"}},
		{"end marker", "a: 1\n...\n# x\nb: 2\n... # y\n", []string{"a: 1\n...\n", "# x\nb: 2\n... # y\n"}},
		{"end then marker", "a: 1\n...\n---\nb: 2\n", []string{"a: 1\n...\n", "---\nb: 2\n"}},
		{"directives", "%YAML 1.1\n# x\n---\na: 1\n...\n%TAG !e! e:\n---\nb: !e!x 2\n", []string{"%YAML 1.1\n# x\n---\na: 1\n...\n", "%TAG !e! e:\n---\nb: !e!x 2\n"}},
		{"BOM", "\ufeffa: 1\n\ufeff---\nb: 2\n...\n\ufeff# x\nc: 3\n", []string{"\ufeffa: 1\n", "\ufeff---\nb: 2\n...\n", "\ufeff# x\nc: 3\n"}},
		{"CRLF", "a: 1\r\n---\r\nb: 2\r\n...\r\nc: 3\r\n", []string{"a: 1\r\n", "---\r\nb: 2\r\n...\r\n", "c: 3\r\n"}},
		{"old Mac", "a: 1\r---\rb: 2\r", []string{"a: 1\r", "---\rb: 2\r"}},
		{"JSON", "{\"a\": 1}\n---\n{\n\t\"b\": 2\n}\n", []string{"{\"a\": 1}\n", "---\n{\n\t\"b\": 2\n}\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse([]byte(c.src))
			if c.want == nil {
				if err == nil {
					t.Fatal("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range f.Docs {
				text := c.src[d.Start:d.End]
				if d.Root == nil {
					text = "-" + text
				}
				got = append(got, text)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkFile(t, f)
		})
	}
}

func TestPositions(t *testing.T) {
	f := parse(t, "\ufeffä: x\r\né: \u2028😀: z\n---\na: b")
	for _, c := range []struct{ line, column, offset int }{
		{1, 1, 3}, {1, 2, 5}, {1, 5, 8}, {2, 1, 10}, {2, 4, 14}, {3, 1, 17}, {3, 2, 21},
		{4, 1, 25}, {5, 1, 29}, {5, 5, 33},
	} {
		if got := f.Offset(c.line, c.column); got != c.offset {
			t.Errorf("offset of %d:%d is %d, want %d", c.line, c.column, got, c.offset)
		}
		if l, col := f.Position(c.offset); l != c.line || col != c.column {
			t.Errorf("position of %d is %d:%d, want %d:%d", c.offset, l, col, c.line, c.column)
		}
	}
	for _, c := range [][2]int{{0, 1}, {1, 0}, {1, 6}, {2, 6}, {4, 5}, {5, 6}, {6, 1}, {-1, -1}} {
		if got := f.Offset(c[0], c[1]); got != -1 {
			t.Errorf("offset of %d:%d is %d, want none", c[0], c[1], got)
		}
	}
	for _, c := range [][3]int{{-5, 1, 1}, {0, 1, 1}, {1, 1, 1}, {4, 1, 2}, {99, 5, 5}} {
		if l, col := f.Position(c[0]); l != c[1] || col != c[2] {
			t.Errorf("position of %d is %d:%d, want %d:%d", c[0], l, col, c[1], c[2])
		}
	}
}

func TestNodeLines(t *testing.T) {
	f := parse(t, "# x\na: 1\n---\n\nb:\n- ü\n- [é, c]\n")
	n := f.Docs[1].Root.Content[1].Content[1].Content[1]
	if got := fmt.Sprintf("%s %d:%d", n.Value, n.Line, n.Column); got != "c 7:7" {
		t.Errorf("got %s", got)
	}
}

// TestHostile asserts that deep nesting and exponential aliases take time proportional to the text.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("large files")
	}
	const n = 9990
	bomb, merges := "a: &a [x, x, x, x]\n", "a: &a {x: 1}\n"
	for c := 'b'; c <= 'z'; c++ {
		list := strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9)
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, list)
		merges += fmt.Sprintf("%c: &%c {<<: [%s]}\n", c, c, list)
	}
	for name, src := range map[string]string{
		"sequences":    strings.Repeat("[", n) + strings.Repeat("]", n),
		"mappings":     strings.Repeat("{a: ", n) + strings.Repeat("}", n),
		"JSON":         strings.Repeat(`{"a":[`, n/2) + strings.Repeat("]}", n/2),
		"dashes":       strings.Repeat("- ", n) + "x",
		"keys":         strings.Repeat("? ", n) + "x",
		"long line":    "[" + strings.Repeat(`"é", `, 50000) + "1]",
		"bomb":         bomb,
		"merge bomb":   merges,
		"circle":       "a: &a [*a]\n",
		"merge circle": "&a\n<<: *a\nb: 1\n",
		"open":         strings.Repeat("[", n),
		"too deep":     strings.Repeat("[", 2*n),
		"unlike":       strings.Repeat("{a: [", n/2) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse([]byte(src))
			if err != nil {
				return
			}
			d := f.Docs[0]
			if _, end, err := f.Span(d, d.Root); err != nil || end != len(strings.TrimRight(src, "\n")) {
				t.Errorf("ends at %d of %d, %v", end, len(src), err)
			}
			Aliased(d.Root)
			DuplicateKeys(d.Root)
			Lookup(d.Root, "nope")
			Entries(d.Root)
			if z := Lookup(d.Root, "z").Value; z != nil {
				Lookup(z, "nope")
				Entries(z)
			}
			v, err := f.Value(d)
			if strings.Contains(src, "*a") && err == nil {
				t.Errorf("the value is %T", v)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	src := []byte(manifest())
	b.Run("yaml.v3", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			var n yaml.Node
			if err := yaml.Unmarshal(src, &n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Parse", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			parse(b, string(src))
		}
	})
	b.Run("Span", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		f := parse(b, string(src))
		for b.Loop() {
			f.walk(f.Docs[0])
		}
	})
}

// manifest returns a large document in the style of code generators.
func manifest() string {
	var s strings.Builder
	s.WriteString("spec:\n  properties:\n")
	for i := range 2000 {
		fmt.Fprintf(&s, "    field%d:\n      description: |-\n        Some text over\n\n        a few lines: see 'this'.\n", i)
		s.WriteString("      type: object\n      enum:\n      - A\n      - \"B\"\n      properties: {}\n")
	}
	return s.String()
}
