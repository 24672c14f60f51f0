package cli

import (
	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) decompileCommand() *cobra.Command {
	var (
		flags    conversion
		compiler compilerFlags
	)
	cmd := &cobra.Command{
		Use:   "decompile [FILE|DIR|-]...",
		Short: "Restore the unions that were compiled",
		Long: `Decompile reverts compile: it removes the rules that compile wrote, restores the
declared unions in their place, and removes the annotation that records both. It
works on live objects as well. Hand-written rules stay, and a rule that the
annotation claims, but its union does not write, is an error. Removed rules that no restored
union writes are named.`,
		Example: `  # Print the source of a compiled file
  unioncel decompile crd.yaml

  # Get the source back from a cluster
  kubectl get crd backends.example.com -o yaml | unioncel decompile -o backends.yaml

  # Decompile, edit, compile
  unioncel decompile -w config/crd && $EDITOR config/crd/backends.yaml && unioncel compile -w config/crd`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.convert(cmd, &flags, &compiler, func(f *crdpatch.File, in input) ([]byte, diag.List) { return crdpatch.Decompile(f, in.options()) }, args)
		},
	}
	flags.register(a, cmd)
	compiler.registerForget(cmd)
	return cmd
}
