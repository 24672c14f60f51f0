package crdpatch

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// FuzzCompile checks the promises of Compile and Decompile on any input.
func FuzzCompile(f *testing.F) {
	for i, g := range goldensAndOutput(f) {
		if fuzzing() || i%12 == 0 && !testing.Short() { // other tests try the rest
			f.Add(g.in)
		}
	}
	for _, s := range odd {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 20_000 {
			promises(t, in)
		}
	})
}

// fuzzing reports whether go test fuzzes, rather than runs only the seeds.
func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// FuzzMutated checks the same promises on goldens and their output, with random YAML edits.
func FuzzMutated(f *testing.F) {
	l := goldensAndOutput(f)
	for i := range len(l) {
		if fuzzing() || !testing.Short() && turn(i, 4) || i%16 == 0 {
			f.Add(uint64(i), byte(1+i%3))
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, n byte) {
		promises(t, mutated(l, seed, int(n%8)))
	})
}

func goldensAndOutput(tb testing.TB) []golden {
	l := goldens(tb)
	for _, g := range l {
		if out, err := os.ReadFile(g.file("want" + g.ext)); err == nil {
			l = append(l, golden{in: out})
		}
	}
	return l
}

// encodings are options with different output.
var encodings = []Options{{}, {Encoding: compile.Fine}}

// promises checks the promises of Compile and Decompile that hold for any input.
func promises(t *testing.T, in []byte) {
	for _, opts := range encodings {
		promisesOf(t, in, opts)
	}
}

func promisesOf(t *testing.T, in []byte, opts Options) {
	src := bytes.Clone(in)
	out, diags := Compile(open("in", in), opts)
	if !bytes.Equal(src, in) {
		t.Fatal("Compile modified its input")
	}
	if diags.HasErrors() != (out == nil) {
		t.Fatalf("errors: %t, output: %t", diags.HasErrors(), out != nil)
	}
	positions(t, in, diags)
	undone, diags := Decompile(open("in", in), Options{})
	if diags.HasErrors() != (undone == nil) {
		t.Fatalf("errors: %t, output: %t", diags.HasErrors(), undone != nil)
	}
	positions(t, in, diags)
	if out == nil {
		return
	}
	if _, err := yamltext.Parse(out); err != nil {
		t.Fatalf("the output does not parse: %v\n%s", err, out)
	}
	again, diags := Compile(open("in", out), opts)
	if !bytes.Equal(again, out) {
		t.Errorf("compile(compile(in)) is\n%s\nnot\n%s\n%s", again, out, textOfDiags(diags))
	}
	back, diags := Decompile(open("in", out), Options{})
	if !bytes.Contains(in, []byte("unioncel")) && !bytes.Contains(in, []byte(`\`)) && !bytes.Equal(back, in) {
		t.Errorf("decompile(compile(in)) is\n%q\nnot\n%q\nvia\n%s\n%s", back, in, out, textOfDiags(diags))
	}
}

// words are the texts that mutated inserts.
var words = strings.Split(`~|null|""|''|[]|{}|[ ]|{ }|&a|*a|&a x|<<: *a|? |- |: |# c| # c|"a"|'a'|!!str|!t|yes|1e3|{{ x }}|ä|🎉|`+
	"|\n---\n|\n...\n|\n--- # c\n|\r\n|\t|\u0085|\u2028|\ufeff|  |,|:|a: b|x-kubernetes-unions: [{members: [a, b]}]|"+
	"x-kubernetes-validations: []|x-kubernetes-validations: [{rule: 'true'}]|annotations:|annotations: {}|annotations: {a: b}|\n\n|>-\n|", "|")

// mutated returns one of the goldens, changed n times.
func mutated(l []golden, seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	lines := strings.SplitAfter(string(l[r.IntN(len(l))].in), "\n")
	for range n {
		i := r.IntN(len(lines))
		j := min(i+1+r.IntN(4), len(lines))
		line := lines[i]
		switch text := strings.TrimRight(line, "\r\n"); r.IntN(12) {
		case 0:
			lines = slices.Delete(lines, i, j)
		case 1: // repeat
			lines = slices.Insert(lines, i, slices.Clone(lines[i:j])...)
		case 2: // move
			moved := slices.Clone(lines[i:j])
			lines = slices.Delete(lines, i, j)
			lines = slices.Insert(lines, r.IntN(len(lines)+1), moved...)
		case 3: // indent
			for k := i; k < j; k++ {
				lines[k] = strings.Repeat(" ", 1+r.IntN(2)) + lines[k]
			}
		case 4: // outdent
			for k := i; k < j; k++ {
				lines[k] = strings.TrimPrefix(lines[k], "  ")
			}
		case 5: // a comment or blank line
			lines = slices.Insert(lines, i, strings.Repeat(" ", r.IntN(20))+[]string{"# c", "", "#", " "}[r.IntN(4)]+"\n")
		case 6: // append to the line
			lines[i] = text + words[r.IntN(len(words))] + line[len(text):]
		case 7: // insert after the colon
			if before, after, ok := strings.Cut(line, ":"); ok {
				lines[i] = before + ": " + words[r.IntN(len(words))] + after
			}
		case 8: // a line of another golden
			other := strings.SplitAfter(string(l[r.IntN(len(l))].in), "\n")
			from := r.IntN(len(other))
			lines = slices.Insert(lines, i, other[from:min(from+1+r.IntN(6), len(other))]...)
		case 9: // insert anywhere
			at := r.IntN(len(line) + 1)
			lines[i] = line[:at] + words[r.IntN(len(words))] + line[at:]
		case 10: // drop a character
			if len(line) > 0 {
				at := r.IntN(len(line))
				lines[i] = line[:at] + line[at+1:]
			}
		case 11: // quote a word
			if f := strings.Fields(line); len(f) > 0 {
				word := strings.Trim(f[r.IntN(len(f))], ":,[]{}-")
				lines[i] = strings.Replace(line, word, `"`+word+`"`, 1)
			}
		}
		if len(lines) == 0 {
			break
		}
	}
	return []byte(strings.Join(lines, ""))
}

// odd are inputs that once broke a promise.
var odd = []string{
	// Two versions with one name, one of them without a schema.
	header + body + "  - {name: v1, served: true, storage: false}\n",
	header + strings.Replace(body, "  versions:\n", "  versions:\n  - {name: v1, served: true, storage: false}\n", 1),
	// A key that kubectl reads as different bytes.
	strings.Replace(header, "metadata:", "!!binary metadata:", 1) + body,
	strings.Replace(header, "spec:", "!!binary spec:", 1) + body,
	// JSON, except for a comment in one of two declarations.
	`{"kind": "List", "items": [` + oddJSON(`["a",`+"\n# c\n"+`"b"]`) + `, ` + oddJSON(`["a", "b"]`) + `]}`,
	// Nulls that cannot be restored once the layout has changed.
	strings.Replace(header, "metadata:\n  name: things.example.com\n", "metadata: {annotations: , name: things.example.com}\n", 1) + body,
	strings.Replace(header, "metadata:\n  name: things.example.com\n", "metadata: {name: things.example.com, annotations}\n", 1) + body,
}

func oddJSON(members string) string {
	return `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
"spec": {"group": "example.com", "names": {"kind": "Thing", "plural": "things"}, "scope": "Namespaced", "versions": [{"name": "v1", "served": true, "storage": true,
"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-unions": [{"members": ` + members + `}],
"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}}}}}]}}`
}

// positions checks that every diagnostic points into the file.
func positions(t *testing.T, in []byte, l diag.List) {
	lines := bytes.Count(in, []byte("\n")) + bytes.Count(in, []byte("\r")) +
		bytes.Count(in, []byte("\u0085")) + bytes.Count(in, []byte("\u2028")) + bytes.Count(in, []byte("\u2029")) + 1
	for _, d := range l {
		if d.Pos.Line < 0 || d.Pos.Line > lines || d.Pos.Col < 0 || d.Pos.Col > len(in)+1 || d.Pos.File != "in" {
			t.Errorf("%v: out of %d lines", d, lines)
		}
		f, err := yamltext.Parse(in)
		if err == nil && d.Pos.Line > 0 && d.Pos.Col > 0 && f.Offset(d.Pos.Line, d.Pos.Col) < 0 {
			t.Errorf("%v: there is no such place", d)
		}
		if d.Message == "" || d.Code == "" {
			t.Errorf("%v: says nothing", d)
		}
	}
}
