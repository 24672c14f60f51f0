package resource

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/limit"
)

// list resembles the output of kubectl get -A -o yaml, with content that makes splitting hard:
// comments, a flow mapping, an item that begins below its dash, and scalars that contain lines with
// a dash.
const list = `apiVersion: v1
items:
- apiVersion: example.com/v1
  kind: Route
  metadata:
    name: a
  spec:
    text: |
      - not an item
      kind: List

    folded: "a long \
      - text"
    plain: more than
      - one line
- apiVersion: example.com/v1
  kind: Route
  metadata: {name: b}
# a comment

-
  apiVersion: example.com/v1
  kind: Route
  metadata: {name: c}
kind: List
metadata:
  resourceVersion: ""
`

// streamed reads a text in parts.
func streamed(text string, limits limit.Limits) (values []any, where []string, wrong *partError, err error) {
	wrong, err = inParts("in", strings.NewReader(text), limits, func(i Item) error {
		values, where = append(values, i.Value), append(where, fmt.Sprintf("%d:%d", i.Pos.Line, i.Pos.Col))
		return nil
	})
	return values, where, wrong, err
}

func TestInParts(t *testing.T) {
	head, tail := strings.Index(list, "- api"), strings.Index(list, "kind: List\nmeta")
	indented := list[:head] + "  " + strings.ReplaceAll(strings.TrimSuffix(list[head:tail], "\n"), "\n", "\n  ") + "\n" + list[tail:]
	for _, test := range []struct{ name, text, where, wrong string }{
		{"a list", list, "3:3 16:3 21:1", ""},
		{"indented", indented, "3:5 16:5 21:3", ""},
		{"CRLF", strings.ReplaceAll(list, "\n", "\r\n"), "3:3 16:3 21:1", ""},
		{"documents", "\ufeff# first\n---\napiVersion: v1\nkind: A\n---\n...\n" + list + "--- {apiVersion: v1, kind: B}\n", "3:1 9:3 22:3 27:1 34:1", ""},
		{"a kind that is no list", "apiVersion: v1\nkind: A\nitems:\n- {apiVersion: v1, kind: B}\n", "1:1", ""},
		{"nothing in it", "apiVersion: v1\nkind: List\nitems:\n", "1:1", ""},
		{"null", "apiVersion: v1\nkind: List\nitems:\n# none\nmetadata: {}\n", "1:1", ""},
		{"lists in lists", "kind: List\nitems:\n- kind: RouteList\n  items: [{apiVersion: v1, kind: A}, {kind: B}]\n", "3:3", ""},
		{"JSON", "{\"apiVersion\": \"v1\", \"items\": [\n{\"apiVersion\": \"v1\", \"kind\": \"A\"},\n\n {\"kind\": \"AList\", \"apiVersion\": \"v1\", \"items\": [{\"apiVersion\": \"v1\",\n \"kind\": \"B\"}]}], \"kind\": \"List\"}\n{\"apiVersion\": \"v1\", \"kind\": \"C\"}", "2:1 4:1 6:1", ""},
		{"JSON of a kind that is no list", `{"kind": "A", "apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "B"}]}`, "1:1", ""},

		{"items of what is no list", "apiVersion: v1\nitems:\n- {apiVersion: v1, kind: B}\nkind: A\n", "3:3", `1: this was read as a list, since it has items, and is of kind "A"`},
		{"the same in JSON", `{"items": [{"apiVersion": "v1", "kind": "B"}], "kind": "A"}`, "1:1", `1: this was read as a list, since it has items, and is of kind "A"`},
		{"cut off", strings.TrimSuffix(list, "kind: List\nmetadata:\n  resourceVersion: \"\"\n"), "3:3 16:3 21:1", `1: this was read as a list, since it has items, and is of kind ""`},
		{"cut off in an item", list[:strings.Index(list, "b}")], "3:3", "16: kubectl cannot read the document that begins here"},
		{"JSON, cut off", `{"items": [{"apiVersion": "v1", "kind": "B"}, {"api`, "1:1", "1: the file ends in the middle of the value that begins here"},
		{"an alias", "kind: List\nitems:\n- &a {apiVersion: v1, kind: A}\n- *a\n", "3:3", "4: kubectl cannot read the document that begins here"},
		{"an item in quotes", "kind: List\nitems:\n- apiVersion: v1\n  kind: A\n  text: \"a\n- b\"\n", "", "3: kubectl cannot read the document that begins here"},
		{"items in quotes", "kind: List\ntext: \"\nitems:\n- apiVersion: v1\n  kind: A\n\"\n", "", "1: kubectl cannot read the document that begins here"},
		{"items twice", "kind: List\nitems:\n- {apiVersion: v1, kind: A}\nx:\nitems:\n- {apiVersion: v1, kind: B}\n", "3:3", "5: items occurs twice in this mapping"},
		{"a directive", "%YAML 1.1\n---\nkind: A\n", "", "1: kubectl cannot read the document that begins here"},
		{"another line break", "kind: A\n# \u2028---\n", "", "2: this line has a line break"},
		{"no JSON", "{kind: A}", "", "1: invalid character 'k'"},
		{"a list of JSON", "[1]", "", "1: an object is missing"},
		{"too long", "apiVersion: v1\nkind: A\nspec: " + strings.Repeat("x", 2000), "", "1: the document that begins here is longer than the limit of 1000 bytes"},
		{"an item that is too long", "kind: List\nitems:\n- {apiVersion: v1, kind: A}\n- " + strings.Repeat("x", 70000), "", "4: the document that begins here is longer"},
		{"too long, in JSON", `{"kind": "A", "x": "` + strings.Repeat("x", 70000) + `"}`, "", "1: the document that begins here is longer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := limit.Limits{}
			if strings.Contains(test.name, "too long") {
				limits.Size = 1000
			}
			values, where, wrong, err := streamed(test.text, limits)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if wrong != nil {
				got = fmt.Sprintf("%d: %s", wrong.Pos.Line, wrong.Message)
			}
			if w := strings.Join(where, " "); w != test.where || !strings.HasPrefix(got, test.wrong) || (got == "") != (test.wrong == "") {
				t.Errorf("objects at %s, want %s\n%s", w, test.where, got)
			}
			if wrong == nil {
				same(t, test.text, values)
			}
		})
	}
}

// same asserts that a text contains exactly these objects.
func same(t *testing.T, text string, values []any) {
	t.Helper()
	f, l := Parse("in", []byte(text), limit.Limits{})
	if f == nil {
		t.Fatal(l)
	}
	var want []any
	for _, o := range f.Objects {
		want = append(want, o.Value)
	}
	if !reflect.DeepEqual(values, want) {
		t.Fatalf("read in parts it is\n%v\nnot\n%v\n%s", values, want, text)
	}
}

// FuzzInParts asserts that a file has the same objects when read in parts or as a whole.
func FuzzInParts(f *testing.F) {
	for _, text := range []string{
		list, "kind: List\nitems:\n- a: \"\n- b\"\n", "items:\n  - a\n - b\nkind: List", "items:\n- {\n- }\nkind: List\n", "--- |\nitems:\n- a\n", "a: |\n\nitems:\n- a: |+\n\n\n- b\n",
		"{\"items\": [{\"apiVersion\": \"v1\", \"kind\": \"A\"}], \"kind\": \"List\"}", "items: # x\n# y\n-\tapiVersion: v1\n\tkind: A\n- - - apiVersion: v1\nkind: List\n",
		"? items\n: - a\n", "items:\n- apiVersion: v1\n  kind: A\n-\n- ~\n- [{}]\n...\nkind: List\n", "kind: List\nitems:\n- &a {apiVersion: v1, kind: A}\n- &a {apiVersion: v1, kind: A, b: *a}\n",
		"kind: List\nitems:\n- {apiVersion: v1, kind: A}\n---\nkind: List\nitems:\n- {apiVersion: v1, kind: B}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(agrees)
}

// FuzzLines asserts the same for texts that consist of lines which are hard to split.
func FuzzLines(f *testing.F) {
	lines := []string{"kind: List", "items:", "- apiVersion: v1", "  kind: A", "  x: |", "    - y", "  - z", "- ", "-", " - apiVersion: v1", "   kind: A", "", "# c", "  x: \"", "\"", "  \"", "  x: 'a", "'", "  x: [", "]",
		"  ]", "  x: {", "}", "- &a {apiVersion: v1, kind: A}", "- *a", "- {apiVersion: v1, kind: A, x: &a 1, y: *a}", "---", "...", "x: |", "x: >-", "x: \"", "  - - apiVersion: v1", "      kind: A", "metadata: {}", "\t", "-\tapiVersion: v1", "items: []", "  y:", "<<: {kind: List}", "  x: a", "    b", "? x", ": y", "- ? x", "  : y", "- !!str a", "--- {kind: List}", "- apiVersion: v1\n  kind: A"}
	f.Add([]byte{0, 1, 2, 3, 2, 3, 33})
	f.Add([]byte{1, 2, 3, 4, 5, 11, 2, 3, 0})
	f.Add([]byte{1, 9, 10, 12, 9, 10, 0, 26, 0, 1, 47, 47})
	f.Fuzz(func(t *testing.T, which []byte) {
		var b strings.Builder
		for _, n := range which {
			b.WriteString(lines[int(n)%len(lines)] + "\n")
		}
		agrees(t, b.String())
	})
}

// agrees asserts that Stream and Parse find the same objects in a text. Either may reject the text.
func agrees(t *testing.T, text string) {
	for _, r := range []io.Reader{strings.NewReader(text), pipe{strings.NewReader(text)}} {
		var values []any
		l, err := stream("in", r, limit.Limits{}, 0, func(i Item) error {
			values = append(values, i.Value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if file, _ := Parse("in", []byte(text), limit.Limits{}); file != nil && !l.HasErrors() {
			same(t, text, values)
		}
	}
}

type pipe struct{ io.Reader }

// TestStream reads large files that cannot be read in parts, with and without rewinding.
func TestStream(t *testing.T) {
	filler := "# " + strings.Repeat("x", whole) + "\n"
	aliased := filler + "kind: List\nitems:\n- &a {apiVersion: v1, kind: A}\n- *a\n- {apiVersion: v1, kind: B}\n"
	read := func(r io.Reader) (string, error) {
		var kinds []string
		l, err := Stream("in", r, limit.Limits{}, func(i Item) error {
			kinds = append(kinds, fmt.Sprint(i.Value["kind"]))
			return nil
		})
		for _, d := range l {
			kinds = append(kinds, d.Message)
		}
		return strings.Join(kinds, " "), err
	}
	for _, test := range []struct {
		r    io.Reader
		want string
	}{
		{strings.NewReader(list), "Route Route Route"},
		{pipe{strings.NewReader(list)}, "Route Route Route"},
		{pipe{strings.NewReader(aliased[len(filler):])}, "A A B"},
		{pipe{strings.NewReader(filler + list)}, "Route Route Route"},
		{strings.NewReader(aliased), "A A B"},
		{pipe{strings.NewReader(aliased)}, "A kubectl cannot read the document that begins here: yaml: unknown anchor 'a' referenced"},
		{strings.NewReader(""), "the file is empty"},
	} {
		if got, err := read(test.r); err != nil || got != test.want {
			t.Errorf("%s, %v; want %s", got, err, test.want)
		}
	}
	full := errors.New("full")
	for _, text := range []string{list, filler + list} {
		if _, err := Stream("in", strings.NewReader(text), limit.Limits{}, func(Item) error { return full }); !errors.Is(err, full) {
			t.Error(err)
		}
	}
	if _, err := Stream("in", io.MultiReader(bytes.NewReader(make([]byte, whole+1)), failing{}), limit.Limits{}, func(Item) error { return nil }); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
