package crdpatch

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// compiled reports whether compiling leaves a CRD of the file unchanged, because it was compiled with the
// same unions. Other tools may have reformatted it. Its diagnostics are then added to those of the job.
func (j *job) compiled(c *CRD) bool {
	opts, r := c.Options(), c.base()
	if r.annotated == nil || opts.NoAnnotation || !opts.compiler().Same(r.annotated.options()) || len(c.Replaced()) > 0 {
		return false
	}
	compilation, diags := c.compilation()
	if compilation == nil {
		return false
	}
	result, more := compilation.Result()
	if result == nil {
		return false
	}
	w := newWriter(c, j.text())
	changes := w.changes(result)
	if len(changes) != len(r.claims) || len(changes) != len(r.record.Schemas) {
		return false
	}
	for _, is := range changes {
		i := slices.IndexFunc(r.claims, func(was *claim) bool { return was.place.Is(is.Place) })
		if i < 0 || is.key >= 0 || w.aliased(is.node) || !is.made(r.claims[i]) {
			return false
		}
	}
	w.diags = slices.Concat(diags, more)
	w.checkSize(len(c.base().json()))
	j.diags = append(j.diags, c.hinted(w.diags)...)
	return true
}

// made reports whether the schema of a compiled CRD already has the content of the change.
func (c *documentChange) made(was *claim) bool {
	same := func(recorded *union.External, declaration json.RawMessage) bool {
		return recorded == nil && declaration == nil || recorded != nil && bytes.Equal(declarationJSON(recorded.Value), declaration)
	}
	return same(was.unions, c.record.Unions) && same(was.extension, c.record.Extend) && (!was.Empty || was.all()) &&
		len(was.Rules) == len(c.record.Rules) && slices.Equal(sortedItems(was.items()), sortedItems(dataOf(c.rules)))
}
