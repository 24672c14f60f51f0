package crdpatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Explanation is the plan of one CRD, and the bytes that it adds.
type Explanation struct {
	compile.Plan
	// Bytes is the length of each rule in the file, by union and rule of the plan; 0
	// for a rule that is already present.
	Bytes [][]int
	// Growth is the number of bytes that compiling adds to the file for this CRD,
	// including the annotation.
	Growth int
}

// Explain returns the plan of each CRD in f that has unions. For a compiled CRD, options
// that are not given default to its recorded options. The diagnostics are sorted; with
// errors there are no plans.
func Explain(f *File, opts Options) ([]Explanation, diag.List) {
	j := begin(f, opts.AsCompiled())
	base := j.base()
	if base == nil {
		return nil, j.diags.Sort()
	}
	t := j.replace(base)
	if t == nil {
		return nil, j.diags.Sort()
	}
	var l []Explanation
	for _, c := range j.crds {
		plan, diags := c.Plan()
		if j.diags = append(j.diags, diags...); plan == nil {
			continue
		}
		w := newWriter(c, t)
		w.write(plan.Result)
		j.diags = append(j.diags, c.hinted(w.diags)...)
		l = append(l, w.explanation(plan))
	}
	return finish(l, j.diags)
}

func (w *writer) explanation(plan *compile.Plan) Explanation {
	e := Explanation{Plan: *plan}
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

// size returns the number of bytes of a rule as written in its schema.
func (w *writer) size(r compile.RulePlan) int {
	n, one := w.schema(r.Place), ruleNodes(r.Rule)
	l, err := w.editor().Entries(n)
	if err != nil {
		return 0
	}
	if yamltext.IsFlow(n) {
		return len(w.editor().Broken(yamltext.NewEntry{Value: one}.Flow(w.editor().LayoutOf(n, l))))
	}
	dash, _ := w.firstDashOf(n)
	return len(w.editor().Lines(yamltext.NewEntry{}.BlockItems(w.editor().Indentation(n, l)+dash, one)))
}

// firstDashOf returns the indentation of lists in the schema, or else in the file.
func (w *writer) firstDashOf(n *yaml.Node) (int, bool) {
	for key, value := range yamltext.Pairs(n) {
		if d, ok := w.editor().DashOf(key, value); ok {
			return d, true
		}
	}
	return w.editor().FirstDash(w.node, 0)
}
