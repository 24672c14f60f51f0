package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) verifyCommand() *cobra.Command {
	var (
		flags  = compilerFlags{judges: true, totals: true, loud: true}
		output printing
	)
	cmd := &cobra.Command{
		Use:   "verify [FILE|DIR|-]...",
		Short: "Prove that the rules of a CRD enforce its unions",
		Long: `Verify decides, for all objects and all updates, whether the rules in a CRD
accept all states that its unions allow and reject the rest. The rules may be hand-written
or compiled; oneOf, minProperties and the like are rules, too. The unions are those that
are declared, and those that compile recorded in the annotation of its results.

For each union it prints "proved", or the smallest counterexample found for each kind of
difference: an object, or an update of one, that the API server's own validators have
confirmed. A rule that is stricter than the union, depending on something else, is named,
with an object that it accepts and one that it rejects. An undecided question is
inconclusive, never proved; --limit steps=N decides more of them.

The exit code is 1 if anything is not proved.`,
		Example: `  # Do the hand-written rules enforce the declared union?
  unioncel verify crd.yaml

  # Verify a CRD in the cluster
  kubectl get crd backends.example.com -o yaml | unioncel verify

  # In CI
  unioncel compile -o dist config/crd && unioncel verify dist`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verifyAll(cmd.Context(), &flags, &output, args)
		},
	}
	flags.registerUnions(cmd)
	flags.registerGate(cmd)
	flags.skipInvalid = true
	output.register(cmd, "results", report.Formats(true)...)
	return cmd
}

// verifyAll verifies the unions of all inputs, in order, and prints the results together.
func (a *app) verifyAll(ctx context.Context, flags *compilerFlags, output *printing, args []string) error {
	found, err := collect(ctx, a, flags, args, func(f *crdpatch.File, in input) (l []report.Verified, diags diag.List, err error) {
		declared, diags := skipping(in.scope, in.options(), func(opts crdpatch.Options) ([]*compile.Declared, diag.List) {
			return report.Provable(f, opts)
		})
		if declared != nil {
			l = []report.Verified{} // the other unions are verified despite skipped ones
		}
		for _, d := range declared {
			proofs, err := report.Verify(ctx, *d)
			if err != nil {
				return nil, diags, fmt.Errorf("%s: %w", in.name, err)
			}
			l = append(l, proofs...)
		}
		return l, diags, nil
	}, func(l []report.Verified) error {
		return a.showReport(output, report.Report{Data: l, Document: report.ProofDocument(l), Diagnostics: report.ProofDiagnostics(l)})
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(found, func(v report.Verified) bool { return !v.Proved }) {
		return errFindings
	}
	return nil
}
