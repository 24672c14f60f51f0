package report_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
)

// document has every kind of block, with texts that a terminal or Markdown might interpret.
var document = report.Document{
	report.Heading{Level: 1, Line: report.Concat("CRD ", report.N("a_b"))},
	report.Paragraph(report.Concat("One ", report.S("strong"), " word *", strings.Repeat(" and many more", 8), ".")),
	report.Heading{Level: 3, Line: report.Concat("Details")},
	report.Table{
		Columns: []report.Column{{}, {Name: "where"}, {Name: "cost", Number: true}, {Name: "what"}},
		Rows: [][]report.Line{
			{report.Concat("same"), report.Concat(report.N("spec.a|b")), report.Concat(7), report.Concat("a | b")},
			{report.Concat("tighter"), report.Concat(report.N("spec")), report.Concat(1200), report.Concat(strings.Repeat("long ", 20))},
		},
	},
	report.Facts{
		{Name: "members", Texts: []report.Line{report.Concat("http"), report.Concat("tcp")}},
		{Name: "other", Texts: []report.Line{report.Concat("none")}},
	},
	report.Paragraph(report.Concat("The API server says:")),
	report.Quote{"spec: \x1b[31mInvalid\nvalue", "second"},
	report.List{Numbered: true, Items: []report.Item{
		{Line: report.Concat("first"), Blocks: report.Document{
			report.Code{Language: "sh", Text: "kubectl get\n"},
			report.List{Items: []report.Item{{Line: report.Concat("inner")}}},
		}},
		{Line: report.Concat("second")},
	}},
	report.Code{Language: "mermaid", Text: "graph\n"},
	report.Code{Language: "yaml", Text: "a: |\n  ```\n"},
}

func TestText(t *testing.T) {
	const want = `CRD a_b

One strong word * and many more and many more and many more and many more and many more and many
more and many more and many more.

Details
         WHERE     COST  WHAT
same     spec.a|b     7  a | b
tighter  spec      1200  long long long long long long long long long long long long long long long
                         long long long long long

members  http
         tcp
other    none

The API server says:
  spec: \u001b[31mInvalid value
  second

1. first
     kubectl get
   - inner
2. second

    a: |
      ` + "```" + `
`
	if got := document.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	want := `# CRD ~a_b~

One **strong** word \*` + strings.Repeat(" and many more", 8) + `.

### Details

| | where | cost | what |
|---|---|--:|---|
| same | <code>spec.a&#124;b</code> | 7 | a &#124; b |
| tighter | ~spec~ | 1200 | ` + strings.TrimSpace(strings.Repeat("long ", 20)) + ` |

- members:
  - http
  - tcp
- other: none

The API server says:

> spec: \\u001b\[31mInvalid value
>
> second

1. first

   ~~~sh
   kubectl get
   ~~~
   - inner
2. second

~~~mermaid
graph
~~~

~~~~yaml
a: |
  ~~~
~~~~
`
	want = strings.ReplaceAll(want, "~", "`")
	if got := document.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMarkup asserts that text from manifests is literal.
func TestMarkup(t *testing.T) {
	for _, tt := range []struct {
		line report.Line
		want string
	}{
		{report.Concat("spec.http and 'b c'"), "spec.http and 'b c'"},
		{report.Concat("- a\n| b\t*c*"), `\- a &#124; b \*c\*`},
		{report.Concat("x", "- a"), "x- a"},
		{report.Concat("@team see #1, <b>$x$"), `&#64;team see \#1, &lt;b>&#36;x&#36;`},
		{report.Concat("https://example.com/a"), "https&#58;//example.com/a"},
		{report.Concat("a\x1b[31m\u202eb"), `a\\u001b\[31m\\u202eb`},
		{report.Concat("see www.example.com"), "see www&#46;example.com"},
		{report.Concat(""), ""},
		{report.Concat(report.N("spec.routes[*].a_b")), "`spec.routes[*].a_b`"},
		{report.Concat(report.N("a|b")), "<code>a&#124;b</code>"},
		{report.Concat(report.N("a`b\nc")), "<code>a\\`b c</code>"},
		{report.Concat(report.N("")), ""},
	} {
		if got := (report.Document{report.Paragraph(tt.line)}).Markdown(); got != tt.want+"\n" {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestExample(t *testing.T) {
	old, object := map[string]any{"a": 1}, map[string]any{"b": []any{"x"}}
	for want, code := range map[string]report.Code{
		"b:\n- x\n": report.Example(nil, object),
		"# stored\na: 1\n---\n# updated to\nb:\n- x\n": report.Example(old, object),
	} {
		if code != (report.Code{Language: "yaml", Text: want}) {
			t.Errorf("%q, want %q", code.Text, want)
		}
	}
}
