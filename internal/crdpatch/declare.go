package crdpatch

import (
	"cmp"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declare returns a file with the declarations of each CRD written into their schemas, at the end of the
// schema. It decompiles compiled CRDs, and returns an error if one of them has external declarations,
// which would be lost. CRDs without a declaration stay unchanged. The list is sorted; with errors the
// result is nil.
func Declare(f *File, declarations func(*CRD) []union.External) ([]byte, diag.List) {
	j := &job{File: f}
	return j.result(j.declare(declarations))
}

func (j *job) declare(declarations func(*CRD) []union.External) []byte {
	base := j.decompile(false)
	if base == nil {
		return nil
	}
	for _, c := range j.crds {
		if r := c.base(); len(r.external) > 0 {
			j.diags = append(j.diags, diag.New(codes.Unproved, *r.external[0].At,
				"declarations cannot be written into this file: it would lose the external ones that its annotation %s keeps", Annotation).
				Hinted("write them to a UnionSet; or run unioncel decompile, and give the external ones again when compiling"))
		}
	}
	if j.diags.HasErrors() {
		return nil
	}
	r := revise(base)
	for _, c := range j.crds {
		external := declarations(c)
		if len(external) == 0 {
			continue
		}
		// Resolving finds the schemas of the declarations, and checks the declarations.
		declared, diags := c.extended(external)
		j.diags = append(j.diags, diags...)
		if declared == nil {
			continue
		}
		w := newWriter(c, base)
		w.declare(declared.Objects)
		j.take(r, w)
		r.json[w.index] = w.isBareJSON()
	}
	if out := j.apply(r); out != nil {
		return out.Src
	}
	return nil
}

// declare plans to write declarations into schemas that have none.
func (w *writer) declare(objects []compile.Object) {
	// Deeper schemas come first: at the same offset, the inner insertion precedes.
	slices.SortStableFunc(objects, func(a, b compile.Object) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	for _, o := range objects {
		n := w.schema(o.Place)
		if declarationOf(n) >= 0 {
			continue
		}
		if w.aliased(n) {
			w.errorf(w.at(o.Place), codes.SharedContent, "write out the schema at each path",
				"an edit of %s would change other schemas that share it through an anchor", o.Place)
			continue
		}
		unions := yamltext.PlainNode(o.Value)
		edit, err := w.editor().Put(n, yamltext.NewEntry{Key: union.Key, Value: unions, Dash: w.dash(&documentChange{}), Short: true})
		if err != nil {
			w.errorf(w.at(o.Place), codes.Unproved, "write the schema in plain block style", "cannot edit this schema: %v", err)
			continue
		}
		schemaIn(w.value, o.Place)[union.Key] = yamltext.DataOf(unions)
		w.edits = append(w.edits, edit)
		w.touched = append(w.touched, touch{manifest: w.manifest, schema: &o.Place})
	}
}
