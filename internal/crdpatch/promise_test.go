package crdpatch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// compilable returns the examples and the goldens that compile, with their output. Goldens that
// also compile with the encoding fine are listed for both. With -short it returns a sixth of
// them.
func compilable(tb testing.TB) []golden {
	tb.Helper()
	if compiledOnce == nil {
		compiledOnce = compileAll(tb)
	}
	var l []golden
	for i, g := range compiledOnce {
		if !testing.Short() || i%6 == 0 {
			l = append(l, g)
		}
	}
	return l
}

// share returns every eighth of the compilable files, starting at index first, or all in the
// exhaustive run. The tests start at different indices, so that a plain run tries every file
// unchanged (TestPromises) and in one other way.
func share(tb testing.TB, first int) []golden {
	tb.Helper()
	return unioncases.Some(compilable(tb), 8, first)
}

// turn reports whether to try item i of a list: a plain run tries one of n items, the exhaustive
// run all.
func turn(i, n int) bool { return unioncases.Exhaustive || i%n == 0 }

var compiledOnce []golden

func compileAll(tb testing.TB) []golden {
	tb.Helper()
	var l []golden
	for _, g := range goldens(tb) {
		if out, err := os.ReadFile(g.file("want" + g.ext)); err == nil {
			g.out = out
			l = append(l, g)
		}
	}
	n := len(l)
	for _, g := range l[:n:n] {
		other := g
		other.name += "-fine"
		other.again = true
		other.opts.Encoding = compile.Fine
		var diags diag.List
		if other.out, diags = Compile(open("in", g.in), other.opts); !diags.HasErrors() {
			l = append(l, other)
		}
	}
	if len(l) < n*3/2 {
		tb.Fatalf("only %d of %d files compile with the encoding fine", len(l)-n, n)
	}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatal("no examples", err)
	}
	for _, f := range files {
		in, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		l = append(l, golden{name: "example/" + filepath.Base(f), ext: ".yaml", in: in, out: mustCompile(tb, in, Options{})})
	}
	return l
}

func mustCompile(tb testing.TB, in []byte, opts Options) []byte {
	tb.Helper()
	out, diags := Compile(open("in", in), opts)
	if diags.HasErrors() {
		tb.Fatalf("Compile:\n%s", textOfDiags(diags))
	}
	return out
}

func mustDecompile(tb testing.TB, in []byte) []byte {
	tb.Helper()
	out, diags := Decompile(open("in", in), Options{})
	if diags.HasErrors() {
		tb.Fatalf("Decompile:\n%s", textOfDiags(diags))
	}
	return out
}

func same(tb testing.TB, what string, got, want []byte) {
	tb.Helper()
	if d := cmp.Diff(string(want), string(got)); d != "" {
		tb.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// variants are ways to write the same file.
var variants = []struct {
	name string
	of   func([]byte) []byte
}{
	{"", func(b []byte) []byte { return b }},
	{"crlf", func(b []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	}},
	{"bom", func(b []byte) []byte { return append([]byte("\ufeff"), bytes.TrimPrefix(b, []byte("\ufeff"))...) }},
	{"ended", func(b []byte) []byte { return append(bytes.TrimRight(b, "\r\n"), '\n') }},
	{"unended", func(b []byte) []byte { return bytes.TrimRight(b, "\r\n") }},
	{"followed", func(b []byte) []byte { return append(append(bytes.TrimRight(b, "\r\n"), '\n'), "---\na: b\n"...) }},
	{"preceded", func(b []byte) []byte {
		return append([]byte("a: b\n---\n# c\n---\n"), bytes.TrimPrefix(b, []byte("\ufeff"))...)
	}},
}

func TestPromises(t *testing.T) {
	for i, g := range compilable(t) {
		if g.again && !turn(i, 3) {
			continue
		}
		for j, v := range variants {
			if j > 0 && (j != 1+i/4%(len(variants)-1) || g.again || !turn(i, 4)) {
				continue // unchanged and one variant are enough
			}
			t.Run(g.name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				in := v.of(slices.Clone(g.in))
				src := slices.Clone(in)
				out := mustCompile(t, src, g.opts)
				same(t, "Compile modified its input", src, in)
				compiled := slices.Clone(out)
				same(t, "decompile(compile(in))", mustDecompile(t, out), in)
				same(t, "compile(compile(in))", mustCompile(t, out, g.opts), out)
				for _, other := range encodings {
					if j == 0 && g.opts.Encoding == compile.Fine && !reflect.DeepEqual(other, g.opts) {
						same(t, "compile(compile(in), other)", mustCompile(t, out, other), mustCompile(t, in, other))
					}
				}
				same(t, "Compile or Decompile modified its input", out, compiled)
				same(t, "decompile(in)", mustDecompile(t, in), in)
				withoutDeclarations := !bytes.Contains(g.in, []byte("nions"))
				if bytes.Equal(in, out) && !withoutDeclarations {
					t.Error("nothing was compiled")
				}
				if withoutDeclarations && !bytes.Equal(in, out) {
					t.Error("a file without unions came out changed")
				}
				data(t, in, out)
			})
		}
	}
}

// data compares the documents as data, apart from intended changes.
func data(t *testing.T, in, out []byte) {
	t.Helper()
	a, b := values(t, in), values(t, out)
	if len(a) != len(b) {
		t.Fatalf("%d documents became %d", len(a), len(b))
	}
	for i := range a {
		strip(a[i])
		strip(b[i])
		if d := cmp.Diff(a[i], b[i]); d != "" {
			t.Errorf("document %d means something else (-in +out):\n%s", i+1, d)
		}
	}
}

func values(tb testing.TB, text []byte) []any {
	tb.Helper()
	f, err := yamltext.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	var l []any
	for _, d := range f.Docs {
		_, v, err := yamltext.ReadAsKubectl(f.Src[d.Start:d.End])
		if err != nil {
			tb.Fatal(err)
		}
		l = append(l, v)
	}
	return l
}

// strip removes declarations, our annotation and all rules from the CRDs in v.
func strip(v any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			strip(item)
		}
	}
	if m["kind"] != "CustomResourceDefinition" {
		return
	}
	if metadata, ok := m["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, Annotation)
			if len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		} else {
			delete(metadata, "annotations")
		}
	}
	var rules func(v any)
	rules = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, union.Key)
			delete(v, validations)
			for _, w := range v {
				rules(w)
			}
		case []any:
			for _, w := range v {
				rules(w)
			}
		}
	}
	rules(m["spec"])
}

// inserted matches the lines that compiling adds in block style.
var inserted = regexp.MustCompile(`^ *(annotations:|unioncel\.dev/unions: '.*'|x-kubernetes-validations:|(- )?(fieldPath|message|messageExpression|optionalOldSelf|reason|rule): .*)$`)

// Removing the lines that compiling inserted gives the input without its declarations. The
// test finds the lines of a declaration only by yaml.v3's nodes.
func TestOnlyLinesInserted(t *testing.T) {
	checked := 0
	for _, g := range compilable(t) {
		lines, ok := withoutDeclarations(t, g.in)
		if !ok {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, line := range strings.Split(string(g.out), "\n") {
				if len(lines) > 0 && line == lines[0] {
					lines = lines[1:]
				} else if !inserted.MatchString(strings.TrimSuffix(line, "\r")) {
					t.Fatalf("inserted %q before %q", line, lines)
				}
			}
			if len(lines) > 0 {
				t.Errorf("missing: %q", lines)
			}
		})
		checked++
	}
	if checked < 20 && !testing.Short() {
		t.Errorf("only %d files were checked", checked)
	}
}

// withoutDeclarations returns the lines of a file in block style outside its declarations, or
// false if edits cannot be whole lines.
func withoutDeclarations(t *testing.T, in []byte) ([]string, bool) {
	text := string(bytes.TrimPrefix(in, []byte("\ufeff")))
	lines := strings.Split(string(in), "\n")
	drop := map[int]bool{}
	ok := true
	var last func(n *yaml.Node) int
	last = func(n *yaml.Node) int {
		line := n.Line
		for _, c := range n.Content {
			line = max(line, last(c))
		}
		return line
	}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i := 0; i < len(n.Content); i++ {
			key := n.Kind == yaml.MappingNode && i%2 == 0
			flow := n.Style&yaml.FlowStyle != 0 || key && n.Content[i+1].Style&yaml.FlowStyle != 0
			switch name := n.Content[i].Value; {
			case key && (name == union.Key || name == validations || name == "metadata" || name == "annotations") && flow,
				key && name == "annotations" && n.Content[i+1].Kind == yaml.ScalarNode:
				ok = false
			case key && name == union.Key:
				for line := n.Content[i].Line; line <= last(n.Content[i+1]); line++ {
					drop[line-1] = true
				}
			}
			visit(n.Content[i])
		}
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	visit(&doc)
	if dec.Decode(&yaml.Node{}) == nil {
		return nil, false // the positions only cover the first document
	}
	var kept []string
	for i, line := range lines {
		if !drop[i] {
			kept = append(kept, line)
		}
	}
	return kept, ok
}

// Documents without declarations keep their bytes.
func TestOtherDocumentsUntouched(t *testing.T) {
	for _, g := range compilable(t) {
		a, err := yamltext.Parse(g.in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := yamltext.Parse(g.out)
		if err != nil || len(a.Docs) != len(b.Docs) {
			t.Fatal(g.name, err)
		}
		for i, d := range a.Docs {
			text := g.in[d.Start:d.End]
			if bytes.Contains(text, []byte("nions")) && bytes.Contains(text, []byte("CustomResourceDefinition")) {
				continue
			}
			same(t, fmt.Sprintf("%s, document %d", g.name, i+1), g.out[b.Docs[i].Start:b.Docs[i].End], text)
		}
	}
}

// CRLF changes nothing but line ends, in the text and in the annotation.
func TestLineEnds(t *testing.T) {
	for _, g := range share(t, 1) {
		if bytes.Contains(g.in, []byte("\r")) || g.again {
			continue
		}
		out := mustCompile(t, variants[1].of(g.in), g.opts)
		if n := bytes.Count(out, []byte("\n")); bytes.Count(out, []byte("\r\n")) != n {
			t.Errorf("%s: not all %d lines end in CRLF", g.name, n)
		}
		a := values(t, out)
		b := values(t, g.out)
		for i := range a {
			forgetAll(a[i])
			forgetAll(b[i])
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s means something else with CRLF:\n%s", g.name, cmp.Diff(b, a))
		}
	}
}

func forgetAll(v any) {
	m, _ := v.(map[string]any)
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			forgetAll(item)
		}
	}
	forget(m)
}

// forget removes the recorded texts from a CRD's annotation, and sorts the rules of the schemas that it
// lists: their order does not matter.
func forget(crd map[string]any) {
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[Annotation].(string)
	r, err := parseRecord(text)
	if err != nil {
		return
	}
	r.Annotations, r.JSON = nil, false
	for i := range r.Schemas {
		s := &r.Schemas[i]
		s.Source, s.At = "", 0
		slices.Sort(s.Rules)
		spec, _ := crd["spec"].(map[string]any)
		for v := range itemsOf(spec["versions"]) {
			items := itemsOf(schemaIn(crd, schemapath.Place{Version: v, Path: s.Path})[validations])
			slices.SortStableFunc(items, func(a, b any) int { return strings.Compare(jsonOf(a), jsonOf(b)) })
		}
	}
	slices.SortFunc(r.Schemas, func(a, b schemaRecord) int {
		return strings.Compare(a.Version+a.Path.String(), b.Version+b.Path.String())
	})
	annotations[Annotation], _ = r.String()
}
