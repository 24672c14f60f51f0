package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
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

The options of a project stand in ` + configFile + `, and flags override them: for each
input that in its directory or nearest above it, up to the root of the repository
(docs/config.md). Without one, --check takes encoding and Kubernetes version from the
annotation of what was compiled.

` + inputHelp,
		Example: `  # Print the result of one file
  unioncel compile crd.yaml

  # Compile a directory in place
  unioncel compile -w config/crd

  # Compile a directory into another one
  unioncel compile -o dist/crd config/crd

  # In CI: fail and show what is not compiled, or that there is nothing to compile
  unioncel compile --check --diff --require-unions config/crd

  # The same in a project with .unioncel.yaml
  unioncel compile --check config/crd

  # Behind controller-gen, with the markers of the Go types
  unioncel compile --go ./api/... -w config/crd/bases

  # With declarations from a side file, for a CRD that is not yours
  unioncel compile --unions unions.yaml crd.yaml

  # For a cluster of an older version
  kustomize build config | unioncel compile --kube-version 1.28 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t := a.compile
			if verify {
				t = selfChecked(t)
			}
			return a.convert(cmd, &flags, a.scope(cmd, &compiler, true), func(f *crdpatch.File, in input) ([]byte, diag.List) {
				opts := f.Options()
				opts.AsRecorded = flags.check && in.scope.name == ""
				out, l := skipping(in.scope.outside, func(e union.Elsewhere) ([]byte, diag.List) {
					opts.Elsewhere = e
					return t(f.With(opts))
				})
				l, failed := in.scope.judge(l)
				if failed {
					out = nil
				}
				return out, l
			}, args)
		},
	}
	flags.register(cmd)
	compiler.register(cmd)
	compiler.registerGate(cmd)
	compiler.registerStrict(cmd)
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
	config        configFlags
	opts          crdpatch.Options
	encoding      string
	unions        elsewhereFlags
	requireUnions bool
	strict        bool
}

func (c *compilerFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.opts.KubeVersion, "kube-version", "",
		fmt.Sprintf("oldest Kubernetes `VERSION` that must accept the result (default %s)", compile.Linked()))
	cmd.Flags().StringVar(&c.encoding, "encoding", "auto",
		"how to write the rules: auto (as written by hand, while it fits),\nfine (a rule per member and direction), compact (a rule for a union's states),\nterse (compact with fixed messages: least bytes) or\nopenapi (a schema in allOf in place of rules: no cost, bad messages)")
	c.unions.register(cmd)
	c.config.register(cmd)
}

// registerGate adds the flag of the commands that a pipeline relies on.
func (c *compilerFlags) registerGate(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.requireUnions, "require-unions", false, "exit with 1 when the inputs hold no union at all")
}

// registerStrict adds the flag of the commands that say what is wrong with a CRD.
func (c *compilerFlags) registerStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.strict, "strict", false, "take problems that a CRD has without its unions for errors, not warnings")
}

// check returns an error unless the flags have values that exist.
func (c *compilerFlags) check() (err error) {
	if c.opts.Encoding, err = compile.ParseEncoding(cmp.Or(c.encoding, "auto")); err != nil {
		return usagef("--encoding: %w", err)
	}
	if c.opts.KubeVersion, err = compile.ParseKubeVersion(c.opts.KubeVersion); err != nil {
		return usagef("--kube-version: %w", err)
	}
	return nil
}
