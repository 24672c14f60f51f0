package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

func (a *app) compileCommand() *cobra.Command {
	var (
		flags    conversion
		opts     crdpatch.Options
		encoding string
	)
	cmd := &cobra.Command{
		Use:   "compile [FILE|DIR|-]...",
		Short: "Replace declared unions by validation rules",
		Long: `Compile replaces every x-kubernetes-unions in CustomResourceDefinitions by
x-kubernetes-validations. Everything else in the files stays as it is, to the
byte, and so do documents that are no CustomResourceDefinitions. Compiling a
second time changes nothing.

` + inputHelp,
		Example: `  # Print the result of one file
  unioncel compile crd.yaml

  # Compile a directory in place
  unioncel compile -w config/crd

  # Compile a directory into another one
  unioncel compile -o dist/crd config/crd

  # In CI: fail and show what is not compiled
  unioncel compile --check --diff config/crd

  # For a cluster of an older version
  kustomize build config | unioncel compile --kube-version 1.28 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if opts.Encoding, err = compile.ParseEncoding(encoding); err != nil {
				return usagef("--encoding: %w", err)
			}
			if err := compile.CheckKubeVersion(opts.KubeVersion); err != nil {
				return usagef("--kube-version: %w", err)
			}
			return a.convert(cmd, &flags, a.compile(opts), args)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&opts.KeepUnions, "keep-unions", false,
		"keep x-kubernetes-unions beside the rules; API servers refuse or drop it")
	cmd.Flags().BoolVar(&opts.NoAnnotation, "no-annotation", false,
		"leave out the annotation that recompiling and decompiling rely on")
	cmd.Flags().StringVar(&opts.KubeVersion, "kube-version", "",
		fmt.Sprintf("oldest Kubernetes `VERSION` that must accept the result (default %s)", compile.Linked()))
	cmd.Flags().StringVar(&encoding, "encoding", "auto",
		"how to write the rules: auto, fine (a rule per member, best messages) or compact (a rule per union)")
	return cmd
}
