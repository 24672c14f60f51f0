package cli

import (
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/explain"
	"github.com/unioncel/unioncel/pkg/lint"
)

// transform turns the bytes of a file into those of its result. The name is
// what diagnostics call the file.
type transform func(name string, src []byte) ([]byte, diag.List)

// compiler returns the transformation of the command compile.
func compiler(opts crdpatch.Options) transform {
	return func(name string, src []byte) ([]byte, diag.List) {
		out, diags := crdpatch.Compile(name, src, opts)
		return out, lint.Ignore(name, src, opts, diags)
	}
}

// decompiler returns the transformation of the command decompile.
func decompiler(opts crdpatch.Options) transform {
	return func(name string, src []byte) ([]byte, diag.List) {
		return crdpatch.Decompile(name, src, opts)
	}
}

// plans returns the planner of the command explain.
func plans(opts crdpatch.Options) planner {
	return func(name string, src []byte) ([]explain.Input, diag.List) {
		found, diags := crdpatch.Explain(name, src, opts)
		l := make([]explain.Input, len(found))
		for i, f := range found {
			l[i] = explain.Input(f)
		}
		return l, lint.Ignore(name, src, opts, diags)
	}
}
