package crdpatch

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Explanation is how one CRD is compiled, and the bytes that takes.
type Explanation struct {
	compile.Plan
	// Bytes are what each rule adds to the file, by union and rule of the plan; 0
	// for a rule that stands there already.
	Bytes [][]int
	// Growth is by how much compiling lengthens the file for this CRD, annotation
	// included.
	Growth int
}

// Explain returns how Compile compiles the CRDs of a file that have unions.
// Options that are not given are, for a compiled CRD, those it was compiled
// with. The list is sorted; when it has errors, the result is nil.
func Explain(name string, src []byte, opts Options) ([]Explanation, diag.List) {
	opts.AsRecorded = true
	p := &patcher{name: name, opts: opts}
	if _, ok := p.source(ended(src)); !ok {
		return nil, p.diags.Sort()
	}
	var l []Explanation
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			external := p.externals(i, m)
			if len(external) == 0 && !compile.Declares(m.node) {
				continue
			}
			manifest, ok := p.input(d, m, external, &value)
			if !ok {
				continue
			}
			p.opts = opts.or(p.asRecorded[m.key(i)])
			if e := p.explain(d, m, manifest, m.in(value)); e != nil {
				l = append(l, *e)
			}
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return l, p.diags.Sort()
}

// or returns the options, with those of another list where they are not given.
func (o Options) or(other Options) Options {
	o.Encoding = cmp.Or(o.Encoding, other.Encoding)
	o.KubeVersion = cmp.Or(o.KubeVersion, other.KubeVersion)
	return o
}

// Recorded returns what the compiled CRDs of a file were compiled with, in order of the
// text; of a file that cannot be read, nothing.
func Recorded(src []byte) []Options {
	if !bytes.Contains(src, []byte(Annotation)) {
		return nil
	}
	recorded := (&patcher{}).recordedOptions(ended(src))
	var l []Options
	for _, key := range slices.Sorted(maps.Keys(recorded)) {
		l = append(l, recorded[key])
	}
	return l
}

// recordedOptions are what the CRDs of a text were compiled with, by document
// and place in it.
func (p *patcher) recordedOptions(text []byte) map[string]Options {
	q := &patcher{name: p.name, opts: Options{Limits: p.opts.Limits}}
	if !q.parse(text) {
		return nil // undo reports it
	}
	l := map[string]Options{}
	for i, d := range q.file.Docs {
		var value any
		for _, m := range q.crds(d) {
			r := &restorer{patcher: q, text: textOf{q.file, d}, manifest: m, document: i}
			if r.read(&value) {
				l[m.key(i)] = Options{Encoding: r.record.Encoding, KubeVersion: r.record.KubeVersion}
			}
		}
	}
	return l
}

// explain plans one CRD, and its edits to count their bytes. crd is its value,
// which is changed.
func (p *patcher) explain(d *yamltext.Document, m manifest, input compile.Manifest, crd map[string]any) *Explanation {
	plan, diags := compile.Explain(input, compile.Options{KubeVersion: p.opts.KubeVersion, Encoding: p.opts.Encoding})
	for _, d := range diags {
		p.report(d)
	}
	if plan == nil || len(plan.Unions) == 0 {
		return nil
	}
	e := &Explanation{Plan: *plan}
	w := &writer{patcher: p, text: textOf{p.file, d}, manifest: m, value: crd, aliased: yamltext.Aliased(d.Root)}
	for _, edit := range w.write(plan.Result) {
		e.Growth += len(edit.New) - (edit.End - edit.Start)
	}
	for i, u := range plan.Unions {
		e.Bytes = append(e.Bytes, make([]int, len(u.Rules)))
		for k, r := range u.Rules {
			if !r.Served {
				e.Bytes[i][k] = w.size(r)
			}
		}
		e.Unions[i].Pos.Line, e.Unions[i].Pos.Col, _ = p.position(u.Pos)
	}
	return e
}

// position translates a position to the user's file.
func (p *patcher) position(at diag.Pos) (line, col int, restored bool) {
	switch {
	case at.Line > annotated:
		return at.Line - annotated, at.Col, false
	case p.back == nil || at.File != p.name:
		return at.Line, at.Col, false
	}
	return p.back(at.Line, at.Col)
}

// size is the length of a rule as it is written at its place.
func (w *writer) size(r compile.RulePlan) int {
	n, one := r.Place.Node, list{ruleTable(r.Rule)}
	l, err := w.text.entries(n)
	if err != nil {
		return 0
	}
	if isFlow(n) {
		return len(w.text.broken(entry{value: one}.flow(w.text.layout(n, l))))
	}
	dash, _ := w.firstDash(n)
	return len(w.text.lines(entry{}.blockItems(w.text.indentation(n, l)+dash, one)))
}

// firstDash is how much lists are indented in the schema, or in the file.
func (w *writer) firstDash(n *yaml.Node) (int, bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if d, ok := dashOf(n.Content[i], n.Content[i+1]); ok {
			return d, true
		}
	}
	return firstDash(w.manifest.node, 0)
}
