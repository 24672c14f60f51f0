package crdpatch

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Explanation is how one CRD is compiled, and the bytes that takes.
type Explanation struct {
	compile.Plan
	// Bytes are what each rule adds to the file, by union and rule of the plan; 0
	// for a rule that is already present.
	Bytes [][]int
	// Growth is by how much compiling lengthens the file for this CRD, annotation
	// included.
	Growth int

	of string // the key of the manifest
}

// Explain returns how Compile compiles the CRDs of a file that have unions.
// Options that are not given are, for a compiled CRD, those it was compiled
// with. The list is sorted; when it has errors, the result is nil.
func Explain(name string, src []byte, opts Options) ([]Explanation, diag.List) {
	return Open(name, src, opts).Explain()
}

// Explain is the function of that name for an open file.
func (f *File) Explain() ([]Explanation, diag.List) {
	j := f.begin()
	j.opts.AsRecorded = true
	base := j.base()
	if base == nil {
		return nil, j.diags.Sort()
	}
	t := j.replace(base)
	if t == nil {
		return nil, j.diags.Sort()
	}
	var l []Explanation
	for _, m := range t.manifests() {
		external := j.externals(base, m)
		if len(external) == 0 && !compile.Declares(m.node) {
			continue
		}
		if e := j.explain(m, external); e != nil {
			l = append(l, *e)
		}
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return l, j.diags.Sort()
}

// Recorded returns what the compiled CRDs of a file were compiled with, in order of the
// text; of a file that cannot be read, nothing.
func (f *File) Recorded() []Options {
	if !bytes.Contains(f.given, []byte(Annotation)) {
		return nil
	}
	if f.parse(); f.source == nil {
		return nil
	}
	var l []Options
	for _, c := range f.compiledCRDs().crds {
		l = append(l, c.options())
	}
	return l
}

// explain plans one CRD, and its edits to count their bytes.
func (j *job) explain(m *manifest, external []union.External) *Explanation {
	opts := j.optionsFor(m)
	c := j.compilation(m, external, opts.compiler())
	if c == nil {
		return nil
	}
	plan, diags := c.Plan()
	for _, d := range diags {
		j.report(d)
	}
	if plan == nil || len(plan.Unions) == 0 {
		return nil
	}
	e := &Explanation{Plan: *plan, of: m.key()}
	w := write(m, opts)
	w.write(plan.Result)
	for _, d := range w.diags {
		j.report(d)
	}
	for _, edit := range w.edits {
		e.Growth += len(edit.New) - (edit.End - edit.Start)
	}
	for i, u := range plan.Unions {
		e.Bytes = append(e.Bytes, make([]int, len(u.Rules)))
		for k, r := range u.Rules {
			if !r.Present {
				e.Bytes[i][k] = w.size(r)
			}
		}
	}
	return e
}

// size is the length of a rule as it is written at its place.
func (w *writer) size(r compile.RulePlan) int {
	n, one := w.schemaAt(r.Place), yamltext.ListNode(ruleNode(r.Rule))
	l, err := w.editor().Entries(n)
	if err != nil {
		return 0
	}
	if yamledit.IsFlow(n) {
		return len(w.editor().Broken(yamledit.Entry{Value: one}.Flow(w.editor().LayoutOf(n, l))))
	}
	dash, _ := w.firstDashOf(n)
	return len(w.editor().Lines(yamledit.Entry{}.BlockItems(w.editor().Indentation(n, l)+dash, one)))
}

// firstDashOf is how much lists are indented in the schema, or in the file.
func (w *writer) firstDashOf(n *yaml.Node) (int, bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if d, ok := w.editor().DashOf(n.Content[i], n.Content[i+1]); ok {
			return d, true
		}
	}
	return w.editor().FirstDash(w.node, 0)
}
