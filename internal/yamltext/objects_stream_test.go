package yamltext

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/diag"
)

// list resembles the output of kubectl get -A -o json.
const list = `{
    "apiVersion": "v1",
    "items": [
        {"apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "a"}, "spec": {"text": "}, {"}},
        {
            "apiVersion": "example.com/v1",
            "kind": "Route",
            "metadata": {"name": "b"}
        },

        {"apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "c"}}
    ],
    "kind": "List",
    "metadata": {"resourceVersion": ""}
}
`

// streamed reads a text in parts.
func streamed(text string, limits Limits) (values []any, where []string, l diag.List, err error) {
	l, err = inParts("in", strings.NewReader(text), limits.OrDefault(), func(i ObjectItem) error {
		values, where = append(values, i.Value), append(where, fmt.Sprintf("%d:%d", i.Pos.Line, i.Pos.Col))
		return nil
	})
	return values, where, l, err
}

func TestInParts(t *testing.T) {
	for _, test := range []struct{ name, text, where, wrong string }{
		{"a list", list, "4:1 5:1 11:1", ""},
		{"CRLF", strings.ReplaceAll(list, "\n", "\r\n"), "4:1 5:1 11:1", ""},
		{"a mark", "\ufeff" + list, "4:1 5:1 11:1", ""},
		{"objects", "{\"apiVersion\": \"v1\", \"items\": [\n{\"apiVersion\": \"v1\", \"kind\": \"A\"},\n\n {\"kind\": \"AList\", \"apiVersion\": \"v1\", \"items\": [{\"apiVersion\": \"v1\",\n \"kind\": \"B\"}]}], \"kind\": \"List\"}\n{\"apiVersion\": \"v1\", \"kind\": \"C\"}", "2:1 4:1 6:1", ""},
		{"a kind that is no list", `{"kind": "A", "apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "B"}]}`, "1:1", ""},
		{"nothing in it", `{"apiVersion": "v1", "kind": "List", "items": []}`, "", ""},
		{"items of what is no list", `{"items": [{"apiVersion": "v1", "kind": "B"}], "kind": "A"}`, "1:1", `1: this was read as a list, since it has items, and is of kind "A"`},
		{"cut off", `{"items": [{"apiVersion": "v1", "kind": "B"}, {"api`, "1:1", "1: the file ends in the middle of the value that begins here"},
		{"items twice", `{"kind": "List", "items": [{"apiVersion": "v1", "kind": "A"}], "items": []}`, "1:1", `1: key "items" occurs twice in this object`},
		{"no JSON", "{kind: A}", "", "1: invalid character 'k'"},
		{"separators", "---\n" + strings.Repeat("{\"apiVersion\": \"v1\", \"kind\": \"A\"}\n--- \r\n", 2) + strings.TrimSpace(list) + "\n---", "2:1 4:1 9:1 10:1 16:1", ""},
		{"a separator with a comment", "{\"apiVersion\": \"v1\", \"kind\": \"A\"}\n--- # b\n{}", "1:1", "2: invalid character '-'"},
		{"a negative number", "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"x\":\n-1}", "1:1", ""},
		{"a long line", `{"apiVersion": "v1", "kind": "A", "x": "` + strings.Repeat("---", 5000) + "\"}\n" + `{"apiVersion": "v1", "kind": "A"}`, "1:1 2:1", ""},
		{"a list without an object", "[1]", "", "1: an object is missing"},
		{"too long", `{"kind": "A", "x": "` + strings.Repeat("x", 70000) + `"}`, "", "1: the object that begins here is larger than the limit of 1000 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			limits := Limits{}
			if strings.Contains(test.name, "too long") {
				limits.Size = 1000
			}
			values, where, l, err := streamed(test.text, limits)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(l) > 0 {
				got = fmt.Sprintf("%d: %s", l[0].Pos.Line, l[0].Message)
			}
			if w := strings.Join(where, " "); w != test.where || !strings.HasPrefix(got, test.wrong) || (got == "") != (test.wrong == "") {
				t.Errorf("objects at %s, want %s\n%s", w, test.where, got)
			}
			if len(l) == 0 {
				same(t, test.text, values)
			}
		})
	}
}

// same asserts that a text contains exactly these objects.
func same(t *testing.T, text string, values []any) {
	t.Helper()
	f, l := ParseObjects("in", []byte(text), Limits{})
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

// FuzzInParts asserts that JSON has the same objects when read in parts or as a whole. Either may
// reject the text.
func FuzzInParts(f *testing.F) {
	for _, text := range []string{
		list, `{"items": [{"apiVersion": "v1", "kind": "A"}], "kind": "List"}`, `{"kind": "List", "items": [{}, null, [{}], {"kind": "AList", "items": []}]} {"apiVersion": "v1", "kind": "B"}`,
		`{"kind": "A", "apiVersion": "v1", "items": [1e3, 1.0, 12345678901234567890, "\ud800"]}`, `{"apiVersion": "v1", "kind": "A", "\u006bind": "B"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, _, l, err := streamed(text, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if file, _ := ParseObjects("in", []byte(text), Limits{}); file != nil && !l.HasErrors() {
			same(t, text, values)
		}
	})
}

// TestStream reads large and small files, from pipes as well.
func TestStream(t *testing.T) {
	const object = "apiVersion: v1\nkind: A\n"
	comment := "# " + strings.Repeat("x", whole) + "\n"
	padded := strings.Repeat(" ", whole) + list
	const flow = `{"kind": "List", items: [{apiVersion: v1, kind: "A"}]}`
	blank := strings.Repeat(" ", whole) + "\n"
	lists := strings.Repeat(list, 2*whole/len(list))
	read := func(text string, limits Limits) (string, error) {
		var kinds []string
		l, err := StreamObjects("in", struct{ io.Reader }{strings.NewReader(text)}, limits, func(i ObjectItem) error {
			kinds = append(kinds, fmt.Sprint(i.Value["kind"]))
			return nil
		})
		for _, d := range l {
			kinds = append(kinds, d.String()+"; "+d.Hint)
		}
		return strings.Join(kinds, " "), err
	}
	const none = "in: error: UC901: the file has no Kubernetes object, and no list; give the output of kubectl get -A -o yaml, which is a list even if there are no objects"
	const page = "error: UC901: this list has a continue token: it is one page of a longer list; give the output of kubectl get -A -o yaml, which reads all pages"
	const hint = "split the file, or use kubectl get -o json: JSON objects are read one at a time; a limit on untrusted input; --limit "
	for _, test := range []struct {
		text   string
		limits Limits
		want   string
	}{
		{list, Limits{}, "Route Route Route"},
		{padded, Limits{}, "Route Route Route"},
		{lists, Limits{Size: 1 << 20}, strings.TrimSpace(strings.Repeat("Route Route Route ", 2*whole/len(list)))},
		{strings.Repeat(list+"---\n", 2*whole/len(list)), Limits{Size: 1 << 20}, strings.TrimSpace(strings.Repeat("Route Route Route ", 2*whole/len(list)))},
		{flow + blank, Limits{}, "A"},
		{blank + flow, Limits{}, "A"},
		{strings.Repeat("\n", whole) + list, Limits{}, "Route Route Route"}, // in linear time
		{"[" + flow + "]" + blank, Limits{}, none},
		{"hello: 1\n", Limits{}, none},
		{"Error from server (NotFound): routes.example.com \"web\" not found\n", Limits{}, none},
		{blank + `{"hello": 1}`, Limits{}, none},
		{"apiVersion: v1\nitems: []\nkind: List\n", Limits{}, ""},
		{blank + `{"apiVersion": "v1", "items": [], "kind": "List"}`, Limits{}, ""},
		{blank + `{"kind": "RouteList", "items": []}`, Limits{}, ""},
		{"kind: RouteList\nitems: []\nmetadata:\n  continue: \"\"\n", Limits{}, ""},
		{"kind: RouteList\nitems: []\nmetadata:\n  continue: abc\n", Limits{}, "in:4:13: " + page},
		{`{"kind": "RouteList", "items": [], "metadata": {"continue": "abc"}}` + blank, Limits{}, "in:1:1: " + page},
		{list + "---\n[]" + blank, Limits{}, "Route Route Route"},
		{list + "--- # objects\n" + object + blank, Limits{}, "Route Route Route A"},
		{list + blank + "---\n" + object, Limits{},
			"Route Route Route in:18:1: error: UC101: invalid character 'a' looking for beginning of value; a file larger than 1 MiB that begins with JSON objects is read as JSON; lines with --- may separate the objects"},
		{comment + object, Limits{}, "A"},
		{comment + "kind: List\nitems:\n- &a {apiVersion: v1, kind: A}\n- *a\n", Limits{}, "A A"},
		{"kind: List\nitems:\n- {apiVersion: v1, kind: A}\n---\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: A}\n", Limits{},
			"in:5:1: error: UC101: this has apiVersion and items, but no kind; kubectl prints the kind of a list last: the list may be cut off"},
		{"items: [a, b]\nfoo: bar\n---\n" + object, Limits{}, "A"},
		{comment + object, Limits{Size: 1 << 20}, "in: error: UC108: the file is larger than the limit of 1 MiB; " + hint + "size=N raises it"},
		{object, Limits{Size: 10}, "in: error: UC108: the file is larger than the limit of 10 bytes; " + hint + "size=N raises it"},
		{comment + object + "---\n" + object, Limits{Documents: 1}, "in: error: UC108: the file has more documents than the limit of 1; " + hint + "documents=N raises it"},
		{"{}", Limits{Size: 1}, "in: error: UC108: the file is larger than the limit of 1 bytes; a limit on untrusted input; --limit size=N raises it"},
		{"", Limits{}, "in: error: UC103: the file is empty; "},
	} {
		if got, err := read(test.text, test.limits); err != nil || got != test.want {
			t.Errorf("%s, %v; want %s", got, err, test.want)
		}
	}
	full := errors.New("full")
	for _, text := range []string{list, padded, object} {
		if _, err := StreamObjects("in", strings.NewReader(text), Limits{}, func(ObjectItem) error { return full }); !errors.Is(err, full) {
			t.Error(err)
		}
	}
	for _, start := range []string{comment, "{" + blank} {
		if l, err := StreamObjects("in", io.MultiReader(strings.NewReader(start), failing{}), Limits{}, func(ObjectItem) error { return nil }); !errors.Is(err, io.ErrNoProgress) {
			t.Error(l, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
