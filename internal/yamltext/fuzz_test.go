package yamltext

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// seeds are streams that together cover all YAML constructs.
var seeds = []string{
	"",
	"# only a comment\n",
	"a: 1\n",
	"a: 1",
	"a:\nb:\n",
	"a: b c\n  d\n\n  e # comment\nf: g\n",
	"a: |\n  one\n\n  two\n\n\nb: >-\n  folded\n  text\n\n    more\n# end\n",
	"a: |+\n  keep\n\n\nb: |2-\n    indented\n  less\n",
	"- |+\n\n- >\n\n- |\n",
	"a: |-1\n  x\n",
	"--- |\n text\n--- >2\n   text\n",
	"a: 'it''s'\nb: \"q\\\"\\\\ \\\n  x\"\nc: \"two\n\n  lines\"\n",
	"{\"a\": [1, 2, {\"b\": \"c\"}], \"d\": {}, \"e\": []}\n",
	"{\"a\": 1} [2]\n{\"b\": \"c\"}{\"\\/\": \"\\ud83d\"}\n---\nc: d\n",
	"{\n\t\"a\": [\n\t\t1,\n\t\t\"x, ] } # no comment\"\n\t]\n}\n",
	"a: {b: c, d, e: , ? f, ? g : h} # x\n",
	"a: [b: c, {d: e}: f, [g]: h, ? i : j, ? k]\n",
	"a: [\n  b # ]\n  , c, # }\n]\n",
	"? a\n? b\n: c\n? - d\n  - e\n: f: g\n? |\n  h\n: i\n",
	"? ? a\n: b\n",
	"a: &x\n  b: 1\nc: *x\nd: &y [1]\ne: !!str 1\nf: !<tag:yaml.org,2002:str> 2\ng: &z !!map {}\nh: !!seq\n- i\n*z : j\n",
	"&k key: &v value\n",
	"a: &a\n !\nb:\n- &b\n  !\n- c\n",
	"a: &a  !\nb: !  &b # c\nc:\n? &c\n! d: e\n",
	"&m\n! a: b\n---\n!!map\n&k a: b\n---\n&m !!map\n!!str &k a: b\n",
	"&m\na: b\n---\n!!map # c\na: b\n---\n! a: b\n---\n!\na: b\n",
	"a: &n\nb: !!null\nc: !\nd: &o !!str\n- e\n",
	"- &a\n- &b !!null\n-\n- - c\n  -\n  - - d\n",
	"a:\n- b\n- c: d\n  e: f\n\ng:\n  - h\n",
	"base: &b {x: 1}\nm:\n  <<: *b\n  y: 2\nn:\n  <<: [*b, {z: 3}]\n",
	"%YAML 1.1\n%TAG !e! tag:example.com,2000:\n--- !e!foo\na: !e!bar b\n...\n# c\n---\nb\n...\n",
	"--- {a: b}\n--- # c\nd\n---\te\n---\n---\nf\n...\n...\n",
	"\ufeffa: 1\n---\nb: 2\n\ufeff---\nc: 3\n...\n\ufeffd: 4\n",
	"ä: \"ö\" # ü\n日本: [語, {é: ñ}]\n😀: x\n",
	"a: 1\r\nb: |\r\n  c\r\n\r\n  d\r\ne:\r\n- f\r\n",
	"a: 1\rb: 2\r",
	"a: x\u0085b: y\u2028c: z\u2029d: |\n  l\u0085  m\u2028  n\n",
	"a: \"x\u2028 y\"\nb: z\u2029  z\n",
	"a: b#c\nd: 'e'#f\n",
	"plain\ntext # c\n",
	"{a b: c d}", "...", "- a\n b",
	"a: http://x?y=z#w\nb: -1\nc: ?x\nd: :x\n",
	"[http://a/b, -c, {x:y, z: ':'}]\n",
	"- ? a\n  : b\n- ? c\n- d\n",
	"? a\n&x b: c\n",
	"?\n:: x\n0:: y\n-: z\n",
	"[a, [b, [c]], {}, '', \"\"]\n",
	"a:     \n  b:\t1\n  c: \t'2' \t# x\n",
	"'a': \"\"\n\"b\" : ''\n",
}

// broken are streams that are not valid YAML.
var broken = []string{
	"a: - b\n", "a: [", "a: \"b", "\tx: y", "a: *b", "a: b: c", "a: }", "[a]]", "%", "[a?b]", "&l ? m\n", "[? , b]", "[? ]",
}

// misread matches text that yaml.v3 reads incorrectly. It skips characters at a byte order mark in
// a document, and the token after the empty key of a pair in a flow sequence. For such text, Span
// may return an error.
var misread = regexp.MustCompile(`.\x{FEFF}|\?(\s|#.*)*[],:]`)

func FuzzSpan(f *testing.F) {
	for _, s := range append(broken, seeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse(src)
		if err != nil {
			checkSyntaxError(t, src, err)
			return
		}
		if misread.Match(src) {
			return
		}
		checkFile(t, file)
	})
}

func checkSyntaxError(t *testing.T, src []byte, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("error is a %T", err)
	}
	if lines := bytes.Count(src, nil); e.Line > lines || e.Column > lines {
		t.Fatalf("error at %d:%d in %d bytes", e.Line, e.Column, len(src))
	}
	if e.Line < 1 || e.Column < 1 || e.Msg == "" || strings.HasPrefix(e.Msg, "yaml:") {
		t.Fatalf("bad error %#v", e)
	}
}

// checkFile asserts all guarantees about spans.
func checkFile(t *testing.T, file *File) {
	t.Helper()
	end := 0
	for _, d := range file.Docs {
		if d.Start != end || d.End < d.Start {
			t.Fatalf("document [%d:%d] does not follow %d", d.Start, d.End, end)
		}
		end = d.End
		if d.Root == nil {
			continue
		}
		if text := file.Src[d.Start:d.End]; isJSON(text) && (len(text) > 1024 || bytes.ContainsAny(text, "\\\u0085\u2028\u2029")) {
			continue // the checks below read parts of it as YAML, which may mean something else
		}
		c := &checker{t: t, f: file, d: d}
		start, stop := c.span(d.Root)
		if start < d.Start || stop > d.End {
			t.Fatalf("root [%d:%d] outside of document [%d:%d]", start, stop, d.Start, d.End)
		}
		c.node(d.Root, role{})
	}
	if end != len(file.Src) {
		t.Fatalf("documents end at %d, not %d", end, len(file.Src))
	}
}

type checker struct {
	t *testing.T
	f *File
	d *Document
}

func (c *checker) span(n *yaml.Node) (start, end int) {
	c.t.Helper()
	start, end, err := c.f.Span(c.d, n)
	if err != nil {
		c.t.Fatalf("%q: %v", c.f.Src, err)
	}
	if start > end || start < c.d.Start || end > c.d.End {
		c.t.Fatalf("%q: span [%d:%d]", c.f.Src, start, end)
	}
	return start, end
}

// role describes the context of a node.
type role struct{ flow, key, explicit bool }

func (c *checker) node(n *yaml.Node, in role) {
	t := c.t
	t.Helper()
	start, end := c.span(n)
	if start < end {
		if off := c.f.Offset(n.Line, n.Column); off != start {
			t.Fatalf("%q: node %d:%d is at %d, not %d", c.f.Src, n.Line, n.Column, start, off)
		}
		if l, col := c.f.Position(start); l != n.Line || col != n.Column {
			t.Fatalf("%q: node %d:%d has position %d:%d", c.f.Src, n.Line, n.Column, l, col)
		}
	}
	last := start
	for i, child := range n.Content {
		s, e := c.span(child)
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			es, ee, err := c.f.EntrySpan(c.d, n, i)
			_, ve := c.span(n.Content[i+1])
			if err != nil || es > s || es < last || ee != ve {
				t.Fatalf("%q: entry [%d:%d] of key [%d:%d], %v", c.f.Src, es, ee, s, e, err)
			}
			text := string(c.f.Src[es:ee])
			if len(c.f.Src) > 1<<16 {
				// The identity check below is too slow for large files.
			} else if out, err := Apply(c.f.Src, []Edit{{es, ee, text}}); err != nil || !bytes.Equal(out, c.f.Src) {
				t.Fatalf("%q: identity edit gives %q, %v", c.f.Src, out, err)
			}
		}
		if s < last || e > end {
			t.Fatalf("%q: child [%d:%d] behind %d, in [%d:%d]", c.f.Src, s, e, last, start, end)
		}
		last = e
		_, explicit := c.d.marks[child]
		c.node(child, role{
			flow:     in.flow || n.Style&yaml.FlowStyle != 0,
			key:      n.Kind == yaml.MappingNode && i%2 == 0,
			explicit: explicit,
		})
	}
	c.reparse(n, start, end, in)
}

// reparse asserts that the text of a scalar, parsed alone, yields the same scalar.
func (c *checker) reparse(n *yaml.Node, start, end int, in role) {
	t := c.t
	t.Helper()
	text := c.f.Src[start:end]
	if n.Kind != yaml.ScalarNode || len(text) == 0 {
		return
	}
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Anchor != "" || text[0] == '!' || bytes.ContainsAny(text, "\t%") || block && bytes.ContainsAny(firstLine(text), "123456789") {
		return // here the checks of columns and values during the walk have to suffice
	}
	alone := indented(text)
	switch {
	case in.flow && in.key && bytes.ContainsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) }):
		return // without a value, a key may span several lines
	case in.flow && in.key:
		alone = "k: {" + alone + ": }\n"
	case in.flow:
		alone = "k: [" + alone + "]\n"
	case in.key && !in.explicit:
		alone = "k:\n" + alone + ":\n"
	default: // include the following line break: it may belong to the value
		alone = "k:\n" + alone + string(c.f.Src[end:end+breakLen(c.f.Src, end)])
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(alone), &doc); err != nil {
		t.Fatalf("%q: %q alone: %v", c.f.Src, alone, err)
	}
	got := doc.Content[0].Content[1]
	if in.key && !in.explicit || in.flow {
		got = got.Content[0]
	}
	if got.Value != n.Value {
		t.Fatalf("%q: %q alone means %q, not %q", c.f.Src, alone, got.Value, n.Value)
	}
}

func firstLine(text []byte) []byte {
	return text[:scanToBreak(text, 0)]
}

// indented puts text on its own line, indented by one column. It keeps the relative indentation of
// further lines.
func indented(text []byte) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i := 0; i < len(text); i++ {
		b.WriteByte(text[i])
		if n := breakLen(text, i); n > 0 {
			b.Write(text[i+1 : i+n])
			i += n - 1
			b.WriteString("  ")
		}
	}
	return b.String()
}

func TestSeeds(t *testing.T) {
	for _, s := range seeds {
		checkFile(t, parse(t, s))
	}
	for _, s := range broken {
		_, err := Parse([]byte(s))
		if err == nil {
			t.Errorf("%q is valid", s)
			continue
		}
		checkSyntaxError(t, []byte(s), err)
	}
}
