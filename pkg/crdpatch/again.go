package crdpatch

import (
	"bytes"
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// unchanged reports whether compiling leaves the file unchanged, because each CRD was compiled with
// the same unions. If so, it also returns the diagnostics. It returns false for CRDs so large that a
// warning may be due.
func (j *job) unchanged() (bool, diag.List) {
	var l diag.List
	for _, c := range j.crds {
		opts := c.Options()
		compilation, diags := c.Compilation(opts.Compiler())
		l = append(l, diags...)
		switch reverted := c.base().reverted; {
		case compilation == nil && reverted == nil:
			continue
		case compilation == nil || reverted == nil:
			return false, nil
		}
		result, more := compilation.Result()
		l = append(l, c.hinted(more)...)
		if result == nil || !asCompiled(c, opts, result) {
			return false, nil
		}
	}
	return !l.HasErrors(), l
}

// asCompiled reports whether a compiled CRD already has the rules of a result.
func asCompiled(c *CRD, opts Options, result *compile.Result) bool {
	r, m := c.base().reverted, c.m
	data, _, _ := m.read()
	removals := c.Replaced(opts.Compiler())
	switch {
	case opts.NoAnnotation, compile.Declares(m.node):
		return false
	case !opts.Compiler().Same(r.annotated.options()), len(data) > maxClientSideApply, len(removals) > 0:
		return false
	}
	changes := (&writer{manifest: m}).changes(result)
	if len(changes) != len(r.claims) || len(changes) != len(r.record.Schemas) {
		return false
	}
	return !slices.ContainsFunc(changes, func(is *documentChange) bool {
		i := slices.IndexFunc(r.claims, func(was *claim) bool { return was.place.Is(is.Place) })
		return i < 0 || m.aliased(is.node) || !is.made(r.claims[i])
	})
}

// made reports whether the schema of a compiled CRD already has the content of the change.
func (c *documentChange) made(was *claim) bool {
	s := c.record
	return bytes.Equal(was.Unions, s.Unions) && bytes.Equal(was.Extend, s.Extend) && !was.Empty && len(was.Rules) == len(s.Rules) &&
		slices.Equal(sortedItems(was.items()), sortedItems(dataOf(c.rules)))
}
