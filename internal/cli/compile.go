package cli

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) compileCommand() *cobra.Command {
	var (
		flags    conversion
		compiler = compilerFlags{totals: true}
	)
	cmd := &cobra.Command{
		Use:   "compile [FILE|DIR|-]...",
		Short: "Replace declared unions by validation rules",
		Long: `Compile replaces every x-kubernetes-unions in CustomResourceDefinitions by
x-kubernetes-validations. Every other byte of the files stays as it is. Compiling a
second time changes nothing.

Unions are declared in the CRDs, by markers in Go types (--go), or in files of kind
UnionSet (--unions). The result records them, so it can be compiled again without those
flags.`,
		Example: `  # Print the result of one file; compile a directory in place, and into another one
  unioncel compile crd.yaml
  unioncel compile -w config/crd
  unioncel compile -o dist/crd config/crd

  # In CI: fail if something is not compiled, and show it, or if there is nothing to compile
  unioncel compile --check --diff --require-unions config/crd

  # After controller-gen, with the markers of the Go types
  unioncel compile --go ./api/... -w config/crd/bases

  # With declarations from a side file, for a CRD that is not yours
  unioncel compile --unions unions.yaml crd.yaml

  # For a cluster of an older version
  kustomize build config | unioncel compile --kube-version 1.28 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			compiler.loud, compiler.current = flags.check, flags.check
			return a.convert(cmd, &flags, &compiler, func(f *crdpatch.File, in input) ([]byte, diag.List) {
				out, l := skipping(in.scope, in.options(), func(opts crdpatch.Options) ([]byte, diag.List) { return a.compile(f, opts) })
				l, failed := in.scope.judge(l)
				if failed {
					out = nil
				}
				if flags.check && out != nil && bytes.Contains(f.Bytes(), []byte(crdpatch.Annotation)) {
					crds, _ := f.CRDs(in.options())
					for _, crd := range crds {
						if options := crd.Recompiled(); options != "" {
							a.note(f.Name() + ": " + options)
						}
					}
				}
				return out, l
			}, args)
		},
	}
	flags.register(a, cmd)
	compiler.register(cmd)
	compiler.registerGate(cmd)
	compiler.registerStrict(cmd)
	cmd.Flags().BoolVar(&compiler.given.NoAnnotation, "no-annotation", false,
		"omit the annotation that recompiling and decompiling rely on")
	compiler.registerForget(cmd)
	cmd.Flags().BoolVar(&compiler.skipInvalid, "skip-invalid", false,
		"with --go, leave out the unions of structs that have errors, and write the rest;\nthe exit code is still 1")
	return cmd
}
