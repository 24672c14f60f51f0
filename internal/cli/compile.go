package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report/proof"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) compileCommand() *cobra.Command {
	var (
		flags    conversion
		compiler = compilerFlags{gate: true}
		verify   bool
	)
	cmd := &cobra.Command{
		Use:   "compile [FILE|DIR|-]...",
		Short: "Replace declared unions by validation rules",
		Long: `Compile replaces every x-kubernetes-unions in CustomResourceDefinitions by
x-kubernetes-validations. Everything else in the files stays as it is, to the
byte, and so do documents that are not CustomResourceDefinitions. Compiling a
second time changes nothing.

Unions are declared in the CRDs, by markers in Go types (--go), or in files of kind
UnionSet (--unions). The result records them, so it can be compiled again without those
flags.

A new version of unioncel may write rules differently. Rules of an earlier version stay
as they are while they are proved to enforce the unions, since tools compare their texts;
--reword writes them anew.

See also unioncel help inputs, and unioncel help output.`,
		Example: `  # Print the result of one file
  unioncel compile crd.yaml

  # Compile a directory in place
  unioncel compile -w config/crd

  # Compile a directory into another one
  unioncel compile -o dist/crd config/crd

  # In CI: fail if something is not compiled, and show it, or if there is nothing to compile
  unioncel compile --check --diff --require-unions config/crd

  # The same in a project with .unioncel.yaml
  unioncel compile --check config/crd

  # After controller-gen, with the markers of the Go types
  unioncel compile --go ./api/... -w config/crd/bases

  # With declarations from a side file, for a CRD that is not yours
  unioncel compile --unions unions.yaml crd.yaml

  # For a cluster of an older version
  kustomize build config | unioncel compile --kube-version 1.28 | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t := a.compiler(verify)
			compiler.loud = flags.check
			return a.convert(cmd, &flags, a.scope(cmd, &compiler), func(f *crdfile.File, in input) ([]byte, diag.List) {
				out, l := skipping(in.scope.external, in.options(), func(opts crdfile.Options) ([]byte, diag.List) { return t(f, opts) })
				l, failed := in.scope.judge(l)
				if failed {
					out = nil
				}
				return out, l
			}, args)
		},
	}
	flags.register(a, cmd)
	compiler.register(cmd)
	compiler.registerGate(cmd)
	compiler.registerStrict(cmd)
	cmd.Flags().BoolVar(&compiler.opts.KeepUnions, "keep-unions", false,
		"keep x-kubernetes-unions of the CRD in the result, along with the rules; API servers reject or drop it")
	cmd.Flags().BoolVar(&compiler.opts.NoAnnotation, "no-annotation", false,
		"omit the annotation that recompiling and decompiling rely on")
	cmd.Flags().BoolVar(&compiler.opts.Reword, "reword", false,
		"write all rules of compiled CRDs anew, also those that an earlier version wrote differently")
	registerForget(cmd, &compiler.opts)
	cmd.Flags().BoolVar(&compiler.unions.skipInvalid, "skip-invalid", false,
		"with --go, leave out the unions of structs that have errors, and write the rest;\nthe exit code is still 1")
	cmd.Flags().BoolVar(&verify, "verify", false,
		"prove the rules before anything is written, as the command verify does")
	return cmd
}

// compiler returns the transformation of the command compile, which proves its rules if verify is
// set.
func (a *app) compiler(verify bool) transform {
	if verify {
		return selfChecked(a.compile)
	}
	return a.compile
}

// selfChecked makes a compilation fail unless its rules are proved equivalent to the unions.
func selfChecked(compiled transform) transform {
	return func(f *crdfile.File, opts crdfile.Options) ([]byte, diag.List) {
		out, diags := compiled(f, opts)
		if diags.HasErrors() {
			return out, diags
		}
		annotated := out
		if opts.NoAnnotation {
			opts.NoAnnotation = false // the annotation records the unions
			var wrong diag.List
			if annotated, wrong = crdpatch.Compile(f, opts); wrong.HasErrors() {
				return nil, append(diags, wrong...).Sort()
			}
		}
		sources, _ := f.CRDs(opts)
		results, problems := f.WithBytes(annotated).CRDs(crdfile.Options{})
		for i, c := range results {
			d, wrong := c.Declared()
			if problems = append(problems, wrong...); d == nil {
				continue
			}
			found, err := proof.Verify(context.Background(), *d, compareTimeout)
			if err != nil {
				problems = append(problems, diag.Diagnostic{Code: codes.NotProved, Pos: diag.Pos{File: f.Name()}, Message: "the rules cannot be verified: " + err.Error()})
			}
			source, _ := sources[i].Resolved()
			for _, v := range found {
				problems = append(problems, unproved(v, source.Declaration(v.Place, v.Index).Pos)...)
			}
		}
		if problems.HasErrors() {
			return nil, append(diags, problems...).Sort()
		}
		return out, diags
	}
}

// unproved returns the diagnostics of a union that is not proved, at its declaration in the source.
func unproved(v proof.Verified, at diag.Pos) diag.List {
	l := proof.Diagnostics([]proof.Verified{v})
	for i := range l {
		l[i].Severity, l[i].Pos = diag.Error, at
		l[i].Hint = "compile without --verify, and let unioncel verify print the whole result for the compiled file"
	}
	return l
}
