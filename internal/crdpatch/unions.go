package crdpatch

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declared returns the unmodified CRD and its unions: declared in schemas, externally, or in the
// annotation, whether or not the compiled rules are still there. Errors that the API server reports
// for the unmodified CRD are warnings. The result is nil with errors, and without unions.
func (c *CRD) Declared() (*compile.Declared, diag.List) {
	return c.read((*compile.Compilation).Unions)
}

// Resolved is like Declared, without the API server's validation of the CRD.
func (c *CRD) Resolved() (*compile.Declared, diag.List) {
	return c.read((*compile.Compilation).Declared)
}

func (c *CRD) read(from func(*compile.Compilation) (*compile.Declared, diag.List)) (*compile.Declared, diag.List) {
	r := c.recorded()
	external := r.outside()
	if len(external) == 0 && !r.declares {
		return nil, r.diags
	}
	if wrong := r.read(); wrong != nil {
		return nil, append(r.diags, wrong...)
	}
	d, diags := from(r.compilation(external, compile.Options{}).Compilation)
	if diags = append(r.diags, diags...); d == nil || len(d.Objects) == 0 || r.diags.HasErrors() {
		return nil, diags
	}
	return d, diags
}

// extended returns the unions of the CRD without an earlier compilation, including the external
// declarations.
func (c *CRD) extended(external []union.External) (*compile.Declared, diag.List) {
	b, diags := c.readable()
	if diags.HasErrors() {
		return nil, diags
	}
	d, diags := b.compile(slices.Concat(b.declared, external), compile.Options{}).Unions()
	return d, b.hinted(diags)
}

// compilation returns the compilation of the CRD without its earlier compilation. It is nil if
// there are no unions, and with errors.
func (c *CRD) compilation() (*compile.Compilation, diag.List) {
	if !c.Declares() {
		return nil, c.base().diags
	}
	b, diags := c.readable()
	if diags.HasErrors() {
		return nil, diags
	}
	external, opts := b.outside(), c.Options().compiler()
	s, diags := b.replace(b.compilation(external, opts))
	diags = append(slices.Clip(b.diags), b.hinted(diags)...)
	if diags.HasErrors() {
		return nil, diags
	}
	return s.compilation(external, opts).Compilation, diags
}

// Plan returns the plan of the CRD. For a compiled CRD, options that are not given default to its
// recorded options. The result is nil with errors, and without unions.
func (c *CRD) Plan() (*compile.Plan, diag.List) {
	c = &CRD{m: c.m, opts: c.opts.AsCompiled()}
	compilation, diags := c.compilation()
	if compilation == nil {
		return nil, diags
	}
	plan, more := compilation.Plan()
	if diags = append(diags, c.base().hinted(more)...); plan == nil || len(plan.Unions) == 0 {
		return nil, diags
	}
	return plan, diags
}

// hinted returns a copy of l in which diagnostics about declarations that only the annotation has
// lose their edits, and errors among them get a hint.
func (c *CRD) hinted(l diag.List) diag.List { return c.base().hinted(l) }

// Ask calls a function for each CRD of a file, and returns the results that are not nil, in
// document order. The list is sorted; with errors the result is nil.
func Ask[T any](f *File, opts Options, ask func(*CRD) (*T, diag.List)) ([]*T, diag.List) {
	crds, diags := f.CRDs(opts)
	l := []*T{}
	for _, c := range crds {
		answer, more := ask(c)
		if diags = append(diags, more...); answer != nil {
			l = append(l, answer)
		}
	}
	return finish(l, diags)
}
