package cli

import (
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/explain"
	"github.com/unioncel/unioncel/pkg/lint"
)

// transform turns a file into the bytes of its result.
type transform func(f *crdpatch.File) ([]byte, diag.List)

// compiled is the transformation of the command compile.
func compiled(f *crdpatch.File) ([]byte, diag.List) {
	out, diags := f.Compile()
	return out, lint.Ignore(f, diags)
}

// planner returns how the CRDs of a file that have unions are compiled.
type planner func(f *crdpatch.File) ([]explain.Input, diag.List)

// planned is the planner of the command explain.
func planned(f *crdpatch.File) ([]explain.Input, diag.List) {
	found, diags := f.Explain()
	l := make([]explain.Input, len(found))
	for i, f := range found {
		l[i] = explain.Input(f)
	}
	return l, lint.Ignore(f, diags)
}
