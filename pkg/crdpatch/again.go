package crdpatch

import (
	"bytes"
	"slices"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
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
		switch reverted := c.Base().Reverted; {
		case compilation == nil && reverted == nil:
			continue
		case compilation == nil || reverted == nil:
			return false, nil
		}
		result, more := compilation.Result()
		l = append(l, c.Hinted(more)...)
		if result == nil || !asCompiled(c, opts, result) {
			return false, nil
		}
	}
	return !l.HasErrors(), l
}

// asCompiled reports whether a compiled CRD already has the rules of a result.
func asCompiled(c *crdfile.CRD, opts crdfile.Options, result *compile.Result) bool {
	r, m := c.Base().Reverted, c.Manifest()
	data, _, _ := m.Value()
	removals := c.Replaced(opts.Compiler())
	switch {
	case opts.NoAnnotation, compile.Declares(m.Node):
		return false
	case !opts.Compiler().Same(r.Annotated.Options()), len(data) > maxClientSideApply, len(removals) > 0:
		return false
	}
	changes := (&writer{Manifest: m}).changes(result)
	if len(changes) != len(r.Claims) || len(changes) != len(r.Record.Schemas) {
		return false
	}
	return !slices.ContainsFunc(changes, func(is *documentChange) bool {
		i := slices.IndexFunc(r.Claims, func(was *compiled.Claim) bool { return was.Place.Is(is.Place) })
		return i < 0 || m.Aliased(is.node) || !is.made(r.Claims[i])
	})
}

// made reports whether the schema of a compiled CRD already has the content of the change.
func (c *documentChange) made(was *compiled.Claim) bool {
	s := c.record
	return bytes.Equal(was.Unions, s.Unions) && bytes.Equal(was.Extend, s.Extend) && !was.Empty && len(was.Rules) == len(s.Rules) &&
		slices.Equal(sortedItems(was.Items()), sortedItems(compiled.DataOf(c.rules)))
}
