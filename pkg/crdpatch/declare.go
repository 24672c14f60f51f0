package crdpatch

import (
	"cmp"
	"slices"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declare returns src with declarations written into the schemas that they are for,
// each behind what the schema has. Compiled CRDs of the file are decompiled; it is an
// error when one of them has declarations from elsewhere, which would be lost. CRDs
// without a declaration stay as they are, and a declaration whose CRD is not here is
// left out. The list is sorted; when it has errors, the result is nil.
func Declare(name string, src []byte, declarations []union.External, limits limit.Limits) ([]byte, diag.List) {
	p := &patcher{name: name, opts: Options{Limits: limits}}
	return p.result(src, p.declareIn(src, declarations))
}

func (p *patcher) declareIn(src []byte, declarations []union.External) []byte {
	base, ok := p.undo(ended(src))
	if !ok || base.changed && !p.parse(base.text) {
		return nil
	}
	for _, l := range p.external {
		at := *l[0].At
		at.Line -= annotated
		p.report(diag.Diagnostic{Code: diag.Unproved, Pos: at,
			Message: "declarations cannot be written into this file: it would lose those from elsewhere that its annotation " + Annotation + " keeps",
			Hint:    "write them to a UnionSet; or run unioncel decompile, and give those from elsewhere again when compiling"})
	}
	if p.diags.HasErrors() {
		return nil
	}
	p.opts.Elsewhere.Externals = declarations
	p.back = base.position
	var edits []yamltext.Edit
	expected := map[int]intended{}
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			external := p.externals(i, m)
			if len(external) == 0 {
				continue
			}
			manifest, ok := p.input(d, m, external, &value)
			if !ok {
				continue
			}
			// It says which schemas they are for, and whether they may stand there.
			declared, diags := compile.Unions(manifest)
			for _, d := range diags {
				p.report(d)
			}
			if declared == nil {
				continue
			}
			w := &writer{patcher: p, text: textOf{p.file, d}, document: i, manifest: m, value: m.in(value), aliased: yamltext.Aliased(d.Root)}
			edits = append(edits, w.declare(declared.Objects)...)
			expected[i] = intended{value, w.isJSON()}
		}
	}
	if p.diags.HasErrors() {
		return nil
	}
	text, err := yamltext.Apply(base.text, edits)
	if err == nil {
		_, err = equals(p.file, text, expected)
	}
	if err != nil {
		p.unproved(err)
	}
	return text
}

// declare plans to write declarations into schemas that have none.
func (w *writer) declare(objects []compile.Object) []yamltext.Edit {
	// Deeper ones first: where two insertions meet, the inner lines come first.
	slices.SortStableFunc(objects, func(a, b compile.Object) int { return cmp.Compare(len(b.Steps), len(a.Steps)) })
	for _, o := range objects {
		if o.Key >= 0 {
			continue
		}
		if w.aliased[o.Node] {
			w.errorf(o.Node, diag.SharedContent, "write the schema out at each of its places",
				"an edit of %s would change other places that share it through an anchor", o.Place)
			continue
		}
		unions := ordered(o.Value)
		edit, err := w.text.put(o.Node, entry{key: union.Key, value: unions, dash: w.dash(&change{}), short: true})
		if err != nil {
			w.errorf(o.Node, diag.Unproved, "write the schema in plain block style", "cannot edit this schema: %v", err)
			continue
		}
		schemaIn(w.value, o.Version, o.Steps)[union.Key] = asData(unions)
		w.edits = append(w.edits, edit)
		w.touched = append(w.touched, touch{document: w.document, items: w.manifest.items, schema: &o.Place})
	}
	slices.SortStableFunc(w.edits, func(a, b yamltext.Edit) int { return cmp.Compare(a.Start, b.Start) })
	return w.edits
}
