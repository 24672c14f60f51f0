package yamltext

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// find returns the node at a path of keys and indices; ?N is the N-th key itself.
func find(t *testing.T, n *yaml.Node, path string) *yaml.Node {
	t.Helper()
	for _, step := range strings.Fields(path) {
		switch {
		case n.Kind == yaml.SequenceNode:
			n = n.Content[int(step[0]-'0')]
		case strings.HasPrefix(step, "?"):
			n = n.Content[2*int(step[1]-'0')]
		default:
			e := Lookup(n, step)
			if e.Key == nil {
				t.Fatalf("no %s", step)
			}
			n = e.Value
		}
	}
	return n
}

func TestSpan(t *testing.T) {
	for _, c := range []struct{ name, src, path, want string }{
		{"plain", "a: b c # d\n", "a", "b c"},
		{"plain at the end", "a: b", "a", "b"},
		{"plain with marks", "a: -b#c?d,e]:f \n", "a", "-b#c?d,e]:f"},
		{"plain over lines", "a: b\n  c\n\n  d   # e\nf: g\n", "a", "b\n  c\n\n  d"},
		{"plain in a list", "a:\n- b\n  c\n- d\n", "a 0", "b\n  c"},
		{"plain below", "a:\n  b\n  c\nd: e\n", "a", "b\n  c"},
		{"plain root over lines", "a\nb\n# c\n", "", "a\nb"},
		{"plain before the end marker", "a\nb\n...\n", "", "a\nb"},
		{"plain in flow", "[a b, c\n d]\n", "1", "c\n d"},
		{"plain in flow with colon", "{a: b:c, d: e}\n", "a", "b:c"},
		{"plain non-ASCII", "ä: é ü # ö\n", "ä", "é ü"},
		{"plain CRLF", "a: b\r\n  c\r\nd: e\r\n", "a", "b\r\n  c"},
		{"single quoted", "a: 'b''c # d' # e\n", "a", "'b''c # d'"},
		{"double quoted", `a: "b\"c\\" # d`, "a", `"b\"c\\"`},
		{"double quoted over lines", "a: \"b\n\n  c \\\n  d\" # e\n", "a", "\"b\n\n  c \\\n  d\""},
		{"JSON key", `{"a":"b","c":1}`, "?1", `"c"`},
		{"literal", "a: |\n  b\n\n  c # d\n\n# e\nf: g\n", "a", "|\n  b\n\n  c # d"},
		{"literal at the end", "a: |\n  b", "a", "|\n  b"},
		{"literal with comment", "a: | # x\n  b\n", "a", "| # x\n  b"},
		{"literal stripped", "a: |-\n  b\n\n\nc: d\n", "a", "|-\n  b"},
		{"literal kept", "a: |+\n  b\n\n\nc: d\n", "a", "|+\n  b\n\n"},
		{"literal kept at the end", "a: |+\n  b\n\n", "a", "|+\n  b\n"},
		{"literal kept with comment", "a: |+\n  b\n\n# c\n", "a", "|+\n  b\n"},
		{"literal with indentation", "a: |1-\n   b\n  c\n d\n", "a", "|1-\n   b\n  c\n d"},
		{"literal less indented comment", "a:\n  b: |\n    c\n   # d\n  e: f\n", "a b", "|\n    c"},
		{"literal with blank line of spaces", "a: |\n  b\n    \nc: d\n", "a", "|\n  b\n    "},
		{"literal in a list", "- |\n b\n- c\n", "0", "|\n b"},
		{"literal empty", "a: | # x\nb: c\n", "a", "|"},
		{"literal empty kept", "a: |+\n\n\nb: c\n", "a", "|+\n\n"},
		{"literal root", "--- |\n a\n  b\n", "", "|\n a\n  b"},
		{"literal CRLF", "a: |\r\n  b\r\n  c\r\nd: e\r\n", "a", "|\r\n  b\r\n  c"},
		{"folded", "a: >-\n  b\n  c\n\n    d\n\ne: f\n", "a", ">-\n  b\n  c\n\n    d"},
		{"folded explicit", "a: >2-\n    b\n  c\n", "a", ">2-\n    b\n  c"},
		{"flow sequence", "a: [b, 'c]', # ]\n  d] # e\n", "a", "[b, 'c]', # ]\n  d]"},
		{"flow mapping", "a: {b: {c: \"}\"}, } # e\n", "a", "{b: {c: \"}\"}, }"},
		{"flow empty", "a: {}\nb: [ ]\n", "b", "[ ]"},
		{"flow pair", "[a, b: c, d]", "1", "b: c"},
		{"flow pair of collections", "[{a: b}: [c], d]", "0", "{a: b}: [c]"},
		{"flow pair explicit", "[? a : b]", "0", "? a : b"},
		{"JSON with tabs", "{\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t1\n\t\t]\n\t}\n}\n", "a", "{\n\t\t\"b\": [\n\t\t\t1\n\t\t]\n\t}"},
		{"JSON in one line", `{"ä":{"b":[1,{"c":null}]},"d":2}`, "ä b", `[1,{"c":null}]`},
		{"block mapping", "a:\n  b: c\n  # d\n  e: f # g\n  # h\ni: j\n", "a", "b: c\n  # d\n  e: f"},
		{"block mapping with empty end", "a:\n  b: c\n  e:  # g\ni: j\n", "a", "b: c\n  e:"},
		{"block sequence", "a:\n- b\n-   c: d\n\n# e\nf: g\n", "a", "- b\n-   c: d"},
		{"block sequence with empty end", "a:\n  - b\n  -\nf: g\n", "a", "- b\n  -"},
		{"compact sequences", "- - a\n  - b\n- c\n", "0", "- a\n  - b"},
		{"mapping in a list", "a:\n  - b: c\n    d: e\n  - f\n", "a 0", "b: c\n    d: e"},
		{"alias", "a: &x b\nc: *x # d\n", "?1", "c"},
		{"anchor", "a: &x b # c\n", "a", "&x b"},
		{"tag", "a: !!str 12 # c\n", "a", "!!str 12"},
		{"anchor and tag", "a: !!map &x\n  # c\n  b: d\n", "a", "!!map &x\n  # c\n  b: d"},
		{"verbatim tag", "a: !<tag:yaml.org,2002:str> b\n", "a", "!<tag:yaml.org,2002:str> b"},
		{"anchored list", "a: &x\n- b\n- c\nd: e\n", "a", "&x\n- b\n- c"},
		{"anchored root", "&x\na: b\n", "", "&x\na: b"},
		{"anchored key", "&x a: b\n", "", "&x a: b"},
		{"anchored key itself", "&x a: b\n", "?0", "&x a"},
		{"anchored empty", "a: &x # c\nd: e\n", "a", "&x"},
		{"tagged empty", "a: !!null\nd: e\n", "a", "!!null"},
		{"empty", "a:  # c\nd: e\n", "a", ""},
		{"empty in flow", "{a: , b}", "a", ""},
		{"empty text", "a: ''\n", "a", "''"},
		{"explicit key", "? a\n: b\n", "", "? a\n: b"},
		{"explicit key without value", "? - a\n? b\n", "", "? - a\n? b"},
		{"explicit literal key", "? |\n  a\n: b\n", "?0", "|\n  a"},
		{"key of explicit keys", "? ? a\n: b\n", "?0", "? a"},
		{"behind a marker", "--- {a: [b]} # c\n", "a", "[b]"},
		{"behind directives", "%YAML 1.1\n---\na: b\n", "a", "b"},
		{"behind a BOM", "\ufeffa: b\n", "a", "b"},
		{"odd line breaks", "a: b\u0085c: [d]\u2028e: f\n", "c", "[d]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, c.src)
			start, end, err := f.Span(f.Docs[0], find(t, f.Docs[0].Root, c.path))
			if err != nil {
				t.Fatal(err)
			}
			if got := c.src[start:end]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			checkFile(t, f)
		})
	}
}

func TestEntrySpan(t *testing.T) {
	for _, c := range []struct {
		name, src string
		i         int
		want      string
	}{
		{"scalar", "a: b # c\nd: e\n", 0, "a: b"},
		{"last", "a: b\nd: e # f\n", 2, "d: e"},
		{"empty", "a:   # c\nd: e\n", 0, "a:"},
		{"nested", "a:\n  b:\n  - c\n\nd: e\n", 0, "a:\n  b:\n  - c"},
		{"literal", "a: |\n  b\n\n\nd: e\n", 0, "a: |\n  b"},
		{"alias", "a: &x b\nc: *x # d\n", 2, "c: *x"},
		{"quoted key", "'a' : b\n", 0, "'a' : b"},
		{"flow", `{"a": [1], "b" : {} }`, 2, `"b" : {}`},
		{"flow without value", "{a, b: c}", 0, "a"},
		{"flow explicit", "{? a : b, c: d}", 0, "? a : b"},
		{"explicit", "? a\n: b\nc: d\n", 0, "? a\n: b"},
		{"explicit without value", "? a # x\nc: d\n", 0, "? a"},
		{"anchored key", "&x a: &y b\n", 0, "&x a: &y b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, c.src)
			start, end, err := f.EntrySpan(f.Docs[0], f.Docs[0].Root, c.i)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.src[start:end]; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSpanRefuses(t *testing.T) {
	f := parse(t, "a: b\n---\nc: d\n")
	if _, _, err := f.Span(f.Docs[0], f.Docs[1].Root); err == nil {
		t.Error("span of a node of another document")
	}
	for _, i := range []int{-2, 1, 2} {
		if _, _, err := f.EntrySpan(f.Docs[0], f.Docs[0].Root, i); err == nil {
			t.Errorf("span of entry %d", i)
		}
	}
	if _, _, err := f.EntrySpan(f.Docs[0], f.Docs[0].Root.Content[0], 0); err == nil {
		t.Error("span of an entry in a scalar")
	}
	// Nodes that were moved or changed after parsing do not match the text.
	for name, change := range map[string]func(n *yaml.Node){
		"column": func(n *yaml.Node) { n.Content[1].Column++ },
		"line":   func(n *yaml.Node) { n.Content[0].Line++ },
		"value":  func(n *yaml.Node) { n.Content[1].Value = "x" },
		"style":  func(n *yaml.Node) { n.Content[1].Style = yaml.LiteralStyle },
		"kind":   func(n *yaml.Node) { n.Content[1].Kind = yaml.AliasNode },
		"anchor": func(n *yaml.Node) { n.Content[1].Anchor = "x" },
		"list":   func(n *yaml.Node) { n.Content[1].Kind = yaml.SequenceNode; n.Content[1].Style = yaml.FlowStyle },
		"less":   func(n *yaml.Node) { n.Content = n.Content[:2] },
	} {
		f := parse(t, "a: b\nc: d\n")
		change(f.Docs[0].Root)
		if s, e, err := f.Span(f.Docs[0], f.Docs[0].Root); err == nil && name != "less" {
			t.Errorf("%s: root is [%d:%d]", name, s, e)
		}
	}
}
