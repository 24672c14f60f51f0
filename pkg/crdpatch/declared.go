package crdpatch

import (
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declared returns the CRDs of a file that have unions, as they are, with
// their declarations: those in the schemas, external ones, and in compiled
// CRDs those in the annotation, whether or not the compiled rules are still what
// they were. Of the options only External and Limits are used. The list is sorted; when it has errors, the result is nil.
func Declared(name string, src []byte, opts Options) ([]compile.Declared, diag.List) {
	return Open(name, src, Options{External: opts.External, Limits: opts.Limits}).Declared()
}

// Declared is the function of that name for an open file.
func (f *File) Declared() ([]compile.Declared, diag.List) {
	return f.declared((*compile.Compilation).Unions)
}

// Resolved is what Declared returns, read without asking what the API server says of the
// CRDs.
func (f *File) Resolved() ([]compile.Declared, diag.List) {
	return f.declared((*compile.Compilation).Declared)
}

func (f *File) declared(read func(*compile.Compilation) (*compile.Declared, diag.List)) ([]compile.Declared, diag.List) {
	j := f.begin()
	if j.source == nil {
		return nil, j.diags.Sort()
	}
	compiled := j.compiledCRDs()
	b := &base{external: map[string][]union.External{}, diags: compiled.diags}
	own := map[string][]union.External{}
	for _, c := range compiled.crds {
		own[c.key()] = j.recorded(c, b)
	}
	j.diags = append(j.diags, b.diags...)
	var l []compile.Declared
	for _, m := range j.source.manifests() {
		external := append(own[m.key()], j.externals(b, m)...)
		if len(external) == 0 && !compile.Declares(m.node) {
			continue
		}
		c := j.compilation(m, external, compile.Options{})
		if c == nil {
			continue
		}
		declared, diags := read(c.Compilation)
		for _, d := range diags {
			j.report(d)
		}
		if declared != nil && len(declared.Objects) > 0 {
			l = append(l, *declared)
		}
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return l, j.diags.Sort()
}

// recorded returns the declarations that the annotation of a compiled CRD keeps for the
// schemas that had one and have none. External ones are kept in b, and schemas
// that are gone reported there.
func (f *File) recorded(c *annotatedCRD, b *base) []union.External {
	_, value, _ := c.document.value()
	r := &reverter{File: f, annotatedCRD: c, base: b, value: c.in(value)}
	var l []union.External
	for _, s := range c.record.Schemas {
		if len(s.Unions) == 0 {
			continue
		}
		_, node := c.schema(s.Version, s.Path)
		if node == nil {
			r.gone(s)
			continue
		}
		if !s.External && indexOf(node, union.Key) < 0 {
			l = append(l, s.declaration(c.pos(node)))
		}
		r.keep(s)
	}
	return l
}
