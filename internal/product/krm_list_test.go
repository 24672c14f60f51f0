package product

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// TestUnreadable asserts that other input than a ResourceList causes an error and no output.
func TestUnreadable(t *testing.T) {
	const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	bomb := head + "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		c := string(rune('b' + i))
		p := string(rune('a' + i))
		bomb += c + ": &" + c + " [" + strings.TrimSuffix(strings.Repeat("*"+p+", ", 10), ", ") + "]\n"
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "the input is empty: a function reads a ResourceList"},
		{"blank", " \n# nothing\n", "the input has 0 documents"},
		{"a list", "[]", "the input is an empty list, not a ResourceList: this command is run by orchestrators such as kustomize"},
		{"a scalar", "a", `the input is "a", not a ResourceList`},
		{"a CRD", crdText("a"), "the input is a CustomResourceDefinition, not a ResourceList"},
		{"kind is a list", "apiVersion: config.kubernetes.io/v1\nkind: [ResourceList]\nitems: []\n", "the input is a mapping, not a ResourceList"},
		{"another version", "apiVersion: config.kubernetes.io/v2\nkind: ResourceList\nitems: []\n", `apiVersion "config.kubernetes.io/v2": write config.kubernetes.io/v1`},
		{"no version", "kind: ResourceList\nitems: []\n", `apiVersion "": write`},
		{"two documents", head + "items: []\n---\n" + head + "items: []\n", "the input has 2 documents"},
		{"no items", head, "the ResourceList has no items: it is cut off, or write items: []"},
		{"cut off", head + "items:\n- {a: b", "the input, a ResourceList, cannot be read: line "},
		{"items is a mapping", head + "items: {a: b}\n", "the items of the ResourceList are a mapping, not a list"},
		{"items is a string", head + "items: a\n", `the items of the ResourceList are "a", not a list`},
		{"an item is null", head + "items: [{}, null]\n", "items[1] of the ResourceList is null, not an object"},
		{"an item is a list", head + "items: [[]]\n", "items[0] of the ResourceList is an empty list, not an object"},
		{"items twice", head + "items: []\nitems: []\n", `key "items" occurs twice`},
		{"not UTF-8", head + "items: []\na: \xff\n", "byte 0xff is not UTF-8"},
		{"control characters", head + "items: []\na: \x01\n", "cannot be read"},
		{"an alias in itself", head + "items: &a [{b: *a}]\n", "cannot be read"},
		{"an alias of nothing", head + "items: [*a]\n", "cannot be read"},
		{"aliases without end", bomb + "items: []\n", "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report, err := RunFunction([]byte(tt.in), Host{})
			if err == nil {
				t.Fatalf("no error, but\n%s", report.Output)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q, want %q", err, tt.want)
			}
		})
	}
}

// TestEncode has folded scalars that the encoder writes incorrectly. The result omits comments and
// styles.
func TestEncode(t *testing.T) {
	for in, want := range map[string]string{
		"a: >-\n  b\n   c\nd: >-\n  e\n  f\ng: [h, 1] # i\n": "a: |-\n  b\n   c\nd: |-\n  e f\ng:\n- h\n- 1\n",
		"a: >-\n  b\n  c\n": "a: >-\n  b c\n",
		"# a\nb: {c: 'd', e: \"f\"} # g\n\n# h\ni:\n  - |\n    j\n": "# a\nb: {c: 'd', e: \"f\"} # g\n# h\ni:\n- |\n  j\n",
	} {
		docs, wrong := documents("", []byte(in), yamltext.Limits{})
		if wrong != nil || len(docs) != 1 {
			t.Fatal(wrong)
		}
		if out, err := encode(docs[0]); err != nil || string(out) != want {
			t.Errorf("%q is encoded as\n%q, %v, want\n%q", in, out, err, want)
		}
	}
	if _, err := encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: 99}}}); err == nil {
		t.Error("a node of no kind is encoded")
	}
}

// TestData asserts that items keep their data, which the encoder puts at risk.
func TestData(t *testing.T) {
	scalars := []string{"on", "Yes", "n", "'on'", "\"off\"", "~", "null", "Null", "", "'null'", "''", "1e3", "'1e3'", "0x1F", "'0x1F'", "0o17", "017", "0b11", "1_000", "1:30", "'1:30'", "190:20:30",
		"12345678901234567890", "123456789012345678901234567890", "-9223372036854775808", "'12345678901234567890'", "1.10", "'1.10'", "1.0", ".5", "1e400", ".inf", "-.Inf", ".NaN", "+1", "-0",
		"2001-01-01", "'2001-01-01'", "2001-12-14t21:59:43.10-05:00", "=", "<<", "'<<'", "!!str 1", "!!float 1", "!!binary aGk=", "!t x", "\"\\U0001F600 \\u00e4 \\u2028 \\u0085 \\t \\x07\"", "🎉ä", "' a '", "\"a \\n b \\n\"",
		"\"\\n\"", "'# a'", "a#b", "'a: b'", "'- a'", "'{a}'", "'@a'", "'%a'", "'*a'", "'&a'", "\"\\ufeffa\"", "a b\n  c", "'" + strings.Repeat("long words, ", 50) + "'", strings.Repeat("x", 2000)}
	blocks := []string{"|\n  a\n   b\n\n  c\n", "|-\n  a\n", "|+\n  a\n\n\n", ">\n  a\n  b\n\n   c\n", ">-\n  a\n\n\n  b\n", ">+\n  a\n\n", "|2\n    a\n", "|\n  # a\n  ---\n"}
	items := []string{"kind: A\nmetadata: {}\n", "kind: A\nmetadata: {annotations: {}, name: a}\n", "kind: A\nmetadata: {annotations: null}\n", "kind: A\nmetadata: {annotations: {config.kubernetes.io/index: 1, internal.config.kubernetes.io/seqindent: wide}}\n",
		"{}\n", "kind: A\nmetadata: x\n", "kind: A\n1: a\ntrue: b\n'on': c\n", "kind: A\na: !t {b: }\n", "kind: A\n\"a\\nb\": c\n", "kind: A # c\n# d\na: # e\n- b # f\n\n# g\n"}
	for _, s := range scalars {
		items = append(items, "kind: A\na: "+s+"\nb: [x, "+strings.ReplaceAll(s, "\n", " ")+"]\n")
		if !slices.Contains([]string{"", "<<", "~", "null", "Null"}, s) { // the encoder cannot write null as a key
			items = append(items, "kind: A\n? "+s+"\n: a\n")
		}
	}
	for _, s := range blocks {
		items = append(items, "kind: A\na: "+s+"b: c\n", "kind: A\na:\n- "+strings.ReplaceAll(s, "\n  ", "\n    ")+"b: "+s)
	}
	all := listOf("", append(items, crdText("a", unions...))...)
	for i, in := range append([]string{all, strings.ReplaceAll(all, "\n", "\r\n")}, items...) {
		if i > 1 {
			in = listOf(configured(), in)
		}
		want, wrong := documents("", []byte(in), yamltext.Limits{})
		if wrong != nil {
			t.Fatal(wrong, in)
		}
		r, err := RunFunction([]byte(in), Host{})
		if err != nil {
			t.Errorf("%v\n%s", err, in[:min(len(in), 300)])
			continue
		}
		got, wrong := documents("", r.Output, yamltext.Limits{})
		if wrong != nil {
			t.Fatal(wrong, string(r.Output))
		}
		before, after := yamltext.Value(want[0], itemsKey), yamltext.Value(got[0], itemsKey)
		for j, item := range before.Content {
			if !strings.Contains(yamltext.Text(item, "kind"), "Custom") && !sameMeaning(item, after.Content[j]) {
				t.Errorf("%d of %d: the data have changed:\n%s\n%s", j, i, in[:min(len(in), 300)], r.Output[:min(len(r.Output), 300)])
			}
		}
	}
}

// TestLastResort has a tagged mapping in flow style, in which the encoder loses the value of a key.
func TestLastResort(t *testing.T) {
	in := listOf("", "kind: A\na: !t {b: }\non: On\ny: [yes, n, 'no', off]\nc: text\n")
	r := mustRun(t, in, nil)
	if diff := cmp.Diff(dataOf(t, []byte(in)), dataOf(t, r.Output)); diff != "" {
		t.Errorf("the item has changed:\n%s", diff)
	}
}

// TestWrite asserts that only items that the encoder writes incorrectly lose comments and style. The
// other items and functionConfig keep them, and empty annotations, which kyaml's writer drops.
func TestWrite(t *testing.T) {
	const head, config = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n", "functionConfig:\n  kind: A # config\n"
	for _, tt := range []struct{ name, in, want string }{
		{"comments and styles", "items:\n# first\n- kind: A # a\n  b: |+\n    c\n\n- {kind: B, \"c\": 'd'}\n# third\n- kind: C\n  items:\n  - item\n" + config, ""},
		{"one needs care", "items:\n- {kind: A} # a\n- kind: B # b\n  c: !t {d: }\n- kind: C # c\n" + config,
			"items:\n- {kind: A} # a\n- kind: B\n  c: !t\n    d:\n- kind: C # c\n" + config},
		{"setters and a folded text", "items:\n- kind: A\n  text: >-\n    a\n      b\n    c\n- kind: B\n  replicas: \"3\" # kpt-set: ${replicas}\n",
			"items:\n- kind: A\n  text: |-\n    a\n      b\n    c\n- kind: B\n  replicas: \"3\" # kpt-set: ${replicas}\n"},
		{"functionConfig needs care", "items:\n- {kind: A} # a\nfunctionConfig:\n  kind: B # b\n  c: !t {d: }\n",
			"items:\n- {kind: A} # a\nfunctionConfig:\n  kind: B\n  c: !t\n    d:\n"},
		{"empty annotations", "items:\n- kind: A # a\n  metadata: {annotations: {}}\n", ""},
		{"another order", config + "items:\n- kind: A\nresults: [a]\nother: b\n", "items:\n- kind: A\n" + config},
	} {
		l, err := readList([]byte(head+tt.in), yamltext.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := head + tt.want
		if tt.want == "" {
			want = head + tt.in
		}
		if out, err := l.write(l.items, nil); err != nil || string(out) != want {
			t.Errorf("%s: encoded as\n%s%v\nwant\n%s", tt.name, out, err, want)
		}
	}
}

// TestWriteNone asserts that a list without its only item has an empty list of items.
func TestWriteNone(t *testing.T) {
	l, err := readList([]byte(listOf("", "kind: A\n")), yamltext.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
	if out, err := l.write(nil, nil); err != nil || string(out) != want {
		t.Errorf("encoded as\n%s%v\nwant\n%s", out, err, want)
	}
}

// TestUnwritableItem asserts that an item that cannot be encoded is an error. In this case, the
// encoder writes a null key as an empty string.
func TestUnwritableItem(t *testing.T) {
	report, err := RunFunction([]byte(listOf("", "kind: A\n", "kind: B\n? \n")), Host{})
	if err == nil || !strings.Contains(err.Error(), "the output, a ResourceList: it cannot be written as YAML: ") {
		t.Errorf("got %v, %v", report, err)
	}
}

// TestSame asserts that encoded values are also compared as kubectl reads them.
func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a", "'a'", true},
		{"on", "on", true},
		{"on", "'on'", false},
		{"'y'", "Y", false},
		{"'y'", "y", false},
		{"'y'", `"y"`, true},
		{"1", "'1'", false},
		{"{a: [b]}", "a:\n- b # c", true},
		{"{a: [b]}", "a:\n- b\n- c", false},
	} {
		a, wrong := documents("", []byte(tt.a), yamltext.Limits{})
		b, wrongToo := documents("", []byte(tt.b), yamltext.Limits{})
		if wrong != nil || wrongToo != nil || sameMeaning(a[0], b[0]) != tt.want {
			t.Errorf("%s and %s are the same: %t", tt.a, tt.b, !tt.want)
		}
	}
}

// TestFoldedItem asserts that an item keeps its meaning if the encoder writes it incorrectly.
func TestFoldedItem(t *testing.T) {
	in := listOf("", "kind: A\na: >-\n  b\n   c\n", crdText("a", unions...))
	r := mustRun(t, in, nil)
	if got, want := dataOf(t, r.Output)["items"].([]any)[0], dataOf(t, []byte(in))["items"].([]any)[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	folded := strings.Replace(crdText("a", unions...), "        type: object\n", "        type: object\n        description: >-\n          a\n            b\n", 1)
	r = mustRun(t, listOf("", folded), nil)
	wantTexts(t, r)
	if !regexp.MustCompile(`description: \|-\n +a\n +  b\n`).Match(r.Output) || !isCompiled(r.Output) {
		t.Errorf("the description is another one:\n%s", r.Output)
	}
}
