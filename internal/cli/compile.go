package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

func (a *app) compileCommand() *cobra.Command {
	var (
		flags    conversion
		compiler compilerFlags
		verify   bool
	)
	cmd := &cobra.Command{
		Use:   "compile [FILE|DIR|-]...",
		Short: "Replace declared unions by validation rules",
		Long: `Compile replaces every x-kubernetes-unions in CustomResourceDefinitions by
x-kubernetes-validations. Everything else in the files stays as it is, to the
byte, and so do documents that are no CustomResourceDefinitions. Compiling a
second time changes nothing.

Unions are declared in the CRDs, or elsewhere: with --go by markers in the Go types
that controller-gen makes the CRDs of, with --unions in a file of kind UnionSet. The
result remembers them, so it can be compiled again without those flags.

` + inputHelp,
		Example: `  # Print the result of one file
  unioncel compile crd.yaml

  # Compile a directory in place
  unioncel compile -w config/crd

  # Compile a directory into another one
  unioncel compile -o dist/crd config/crd

  # In CI: fail and show what is not compiled
  unioncel compile --check --diff config/crd

  # Behind controller-gen, with the markers of the Go types
  unioncel compile --go ./api/... -w config/crd/bases

  # With declarations from a side file, for a CRD that is not yours
  unioncel compile --unions unions.yaml crd.yaml

  # For a cluster of an older version
  kustomize build config | unioncel compile --kube-version 1.28 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, e, err := compiler.options(a.limits)
			if err != nil {
				return err
			}
			t := func(opts crdpatch.Options) transform {
				if verify {
					return selfChecked(a.compile(opts), opts)
				}
				return a.compile(opts)
			}
			return a.convert(cmd, &flags, e, func(name string, src []byte) ([]byte, diag.List) {
				return skipping(&compiler.unions, opts.Elsewhere, func(e union.Elsewhere) ([]byte, diag.List) {
					opts := opts
					opts.Elsewhere = e
					return t(opts)(name, src)
				})
			}, args)
		},
	}
	flags.register(cmd)
	compiler.register(cmd)
	cmd.Flags().BoolVar(&compiler.opts.KeepUnions, "keep-unions", false,
		"keep x-kubernetes-unions, where it stands in the CRD, beside the rules; API servers refuse or drop it")
	cmd.Flags().BoolVar(&compiler.opts.NoAnnotation, "no-annotation", false,
		"leave out the annotation that recompiling and decompiling rely on")
	registerForget(cmd, &compiler.opts)
	compiler.unions.registerSkip(cmd)
	cmd.Flags().BoolVar(&verify, "verify", false,
		"prove the rules before anything is written, as the command verify does")
	return cmd
}

// registerForget adds the flag of the commands that take back what an annotation says.
func registerForget(cmd *cobra.Command, opts *crdpatch.Options) {
	cmd.Flags().BoolVar(&opts.Forget, "forget", false,
		"keep rules that the annotation claims and its unions neither write nor imply, as hand-written ones")
}

// compilerFlags are the flags that say which rules are written, and for which unions.
type compilerFlags struct {
	opts     crdpatch.Options
	encoding string
	unions   elsewhereFlags
}

func (c *compilerFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.opts.KubeVersion, "kube-version", "",
		fmt.Sprintf("oldest Kubernetes `VERSION` that must accept the result (default %s)", compile.Linked()))
	cmd.Flags().StringVar(&c.encoding, "encoding", "auto",
		"how to write the rules: auto (as written by hand, while it fits), fine (a rule per member and direction), compact (a rule for a union's states),\nterse (compact with fixed messages: least bytes) or openapi (a schema in allOf in place of rules: no cost, bad messages)")
	c.unions.register(cmd)
}

// options checks the flags and returns what they ask for.
func (c *compilerFlags) options(limits limit.Limits) (opts crdpatch.Options, e outside, err error) {
	if c.opts.Encoding, err = compile.ParseEncoding(c.encoding); err != nil {
		return opts, e, usagef("--encoding: %w", err)
	}
	if err := compile.CheckKubeVersion(c.opts.KubeVersion); err != nil {
		return opts, e, usagef("--kube-version: %w", err)
	}
	if e, err = c.unions.read(true, limits); err != nil {
		return opts, e, err
	}
	c.opts.Elsewhere, c.opts.Limits = e.Elsewhere, limits
	return c.opts, e, nil
}
