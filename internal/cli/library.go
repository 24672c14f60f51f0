package cli

import (
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// transform turns the bytes of a file into those of its result. The name is
// what diagnostics call the file.
type transform func(name string, src []byte) ([]byte, diag.List)

// compiler returns the transformation of the command compile.
func compiler(opts crdpatch.Options) transform {
	return func(name string, src []byte) ([]byte, diag.List) {
		return crdpatch.Compile(name, src, opts)
	}
}
