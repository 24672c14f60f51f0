package crdpatch

import (
	"cmp"
	"slices"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declare returns src with declarations written into the schemas that they are for,
// each after what the schema has. Compiled CRDs of the file are decompiled; it is an
// error when one of them has external declarations, which would be lost. CRDs
// without a declaration stay as they are, and a declaration whose CRD is not here is
// left out. The list is sorted; when it has errors, the result is nil.
func Declare(name string, src []byte, declarations []union.External, limits limit.Limits) ([]byte, diag.List) {
	j := (&File{opened: Open(name, src, Options{Limits: limits}).opened, was: &reverted{}, decompiling: true}).begin()
	return j.result(j.declare(union.Externals{Declarations: declarations}))
}

func (j *job) declare(given union.Externals) []byte {
	base := j.base()
	if base == nil {
		return nil
	}
	for _, l := range base.external {
		j.diags = append(j.diags, diag.Diagnostic{Code: diag.Unproved, Pos: *l[0].At,
			Message: "declarations cannot be written into this file: it would lose the external ones that its annotation " + Annotation + " keeps",
			Hint:    "write them to a UnionSet; or run unioncel decompile, and give the external ones again when compiling"})
	}
	if j.diags.HasErrors() {
		return nil
	}
	r := revise(base.text)
	for _, m := range base.manifests() {
		external, _ := given.Of(m.names())
		if len(external) == 0 {
			continue
		}
		in, ok := j.input(m, external)
		if !ok {
			continue
		}
		// It says which schemas they are for, and whether they are allowed there.
		declared, diags := compile.Unions(in)
		for _, d := range diags {
			j.report(d)
		}
		if declared == nil {
			continue
		}
		w := write(m, j.opts)
		w.declare(declared.Objects)
		j.take(r, w)
		r.json[m.index] = w.isBareJSON()
	}
	if j.diags.HasErrors() {
		return nil
	}
	out, err := r.text(j.limits)
	if err != nil {
		j.unproved(err)
		return nil
	}
	return out.Src
}

// declare plans to write declarations into schemas that have none.
func (w *writer) declare(objects []compile.Object) {
	// Deeper ones first: where two insertions meet, the inner lines come first.
	slices.SortStableFunc(objects, func(a, b compile.Object) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	for _, o := range objects {
		if o.Key >= 0 {
			continue
		}
		if w.aliased(o.Node) {
			w.errorf(o.Node, diag.SharedContent, "write the schema out at each of its places",
				"an edit of %s would change other places that share it through an anchor", o.Place)
			continue
		}
		unions := plain(o.Value)
		edit, err := w.editor().Put(o.Node, yamledit.Entry{Key: union.Key, Value: unions, Dash: w.dash(&change{}), Short: true})
		if err != nil {
			w.errorf(o.Node, diag.Unproved, "write the schema in plain block style", "cannot edit this schema: %v", err)
			continue
		}
		schemaIn(w.value, o.Version, o.Path)[union.Key] = yamledit.DataOf(unions)
		w.edits = append(w.edits, edit)
		w.touched = append(w.touched, touch{manifest: w.manifest, schema: &o.Place})
	}
}
