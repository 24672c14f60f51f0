package cli

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

func (a *app) normalizeCommand() *cobra.Command {
	var (
		flags     conversion
		kinds     kindFlags
		old       []string
		algorithm string
	)
	cmd := &cobra.Command{
		Use:   "normalize {--crd CRD | --builtin} [--old OLD] [FILE|DIR|-]...",
		Short: "Clear the members that the unions of objects exclude",
		Long: `Normalize reads objects, and clears in them the members that their unions exclude,
as KEP-1027 wanted the API server to do: who sets a new member, or changes the
discriminator, need not clear the others. Every other byte stays as it is. The unions are
those of CRDs (--crd) and of Kubernetes' own kinds (--builtin).

The object that each replaces is the one in --old of the same kind, namespace and
name; without a namespace, the only one of that name. If there is none, the object is
created. The KEP has two algorithms:

  kep-2019  A changed discriminator clears all members but its own. Otherwise, one
            member that was added clears the others, and sets the discriminator. The
            default for unions with deduceInvalidDiscriminator.
  kep-2022  The discriminator clears all members but its own, and keeps its own when
            it was left out; an unset one clears all. Without a discriminator, one
            member that was added clears the others. The default for other unions.

What the KEP leaves to validation, such as two members set at once, is an error:
such a union stays as it is, and the others are normalized. docs/clear.md has the details.`,
		Example: `  # What would become of the live object?
  kubectl get route web -o yaml > live.yaml
  unioncel normalize --crd crd.yaml --old live.yaml web.yaml

  # strategy: Recreate from an overlay, over the rollingUpdate of the base
  kubectl kustomize overlays/prod | unioncel normalize --builtin | kubectl apply -f -

  # Fix the files of a repository, without the objects that they replace
  unioncel normalize --crd config/crd -w manifests`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var opts product.NormalizeOptions
			opts.Algorithm, _ = union.AlgorithmNamed(algorithm)
			set, before, err := kinds.readToClear(cmd, a, old)
			if err != nil {
				return err
			}
			err = a.convert(cmd, &flags, &compilerFlags{}, func(f *crdpatch.File, in input) ([]byte, diag.List) {
				r := product.NormalizeFile(set, in.name, f.Bytes(), before, opts, a.limits)
				return kinds.rewritten(in, set, r.Known, r.Text, r.Diagnostics)
			}, args)
			if err != nil && !errors.Is(err, errFindings) {
				return err
			}
			unused := before.Unused()
			for i := range unused {
				unused[i].Severity = diag.Warning // the results do not depend on it
			}
			return cmp.Or(err, a.report(unused))
		},
	}
	flags.register(a, cmd)
	kinds.register(cmd, false)
	cmd.Flags().StringArrayVar(&old, "old", nil, "the objects that are replaced: a `FILE|DIR`; repeatable")
	registerAlgorithm(cmd, &algorithm)
	return cmd
}

// registerAlgorithm adds the flag --algorithm.
func registerAlgorithm(cmd *cobra.Command, algorithm *string) {
	cmd.Flags().StringVar(algorithm, "algorithm", "", "the algorithm for all unions: "+alternatives(union.AlgorithmNames()))
	choose(cmd, "algorithm", union.AlgorithmNames()...)
}
