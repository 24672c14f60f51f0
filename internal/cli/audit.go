package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) auditCommand() *cobra.Command {
	flags := findingFlags{compiler: compilerFlags{judges: true}}
	cmd := &cobra.Command{
		Use:   "audit [FILE|DIR|-]...",
		Short: "Find mistakes in hand-written CEL rules",
		Long: `Audit reads the hand-written rules of CustomResourceDefinitions, with or without unions.
It reports rules that fail to evaluate, accept an object that their message rules out,
reject nothing or everything, can be bypassed by an update, repeat another rule, are
missing in another served version, or take more than half of a cost budget.

Each finding has an object that the API server's own code accepts or rejects as the
finding says, and a fix. Undecided rules are named; --limit steps=N decides more of them.
docs/handwritten.md explains the findings.

Findings are warnings; only rules that the API server rejects are errors. The exit code is 1
if there is a finding of at least the severity given with --fail-on: by default, warnings
never fail. The key lint in ` + configFile + ` applies, too.`,
		Example: `  unioncel audit crd.yaml

  # Audit a CRD in the cluster
  kubectl get crd backends.example.com -o yaml | unioncel audit

  # In CI: fail on any finding but costs
  unioncel audit --fail-on warning --ignore UC929 config/crd`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.auditAll(cmd, &flags, args)
		},
	}
	flags.compiler.registerConfig(cmd)
	flags.register(cmd, report.Formats(true))
	return cmd
}

// auditAll audits the CRDs of all inputs, in order, and prints the findings together. Formats for
// programs also have the errors of unreadable inputs.
func (a *app) auditAll(cmd *cobra.Command, flags *findingFlags, args []string) error {
	inputs, err := a.findInputs(args)
	if err != nil {
		return err
	}
	audits, _, err := ask(cmd.Context(), a, inputs, &flags.compiler, func(f *crdpatch.File, in input) (handwritten.AuditResult, diag.List, error) {
		return auditFile(cmd.Context(), in, f)
	})
	if err != nil {
		return err
	}
	results := resultsOf(audits)
	if !slices.ContainsFunc(results, func(r *result) bool { return len(r.crds) > 0 }) && !anyFailed(results) {
		return fmt.Errorf("no CRD in %s", cmp.Or(strings.Join(args, ", "), stdinName))
	}
	found, errors := []handwritten.Finding{}, []handwritten.Finding{}
	read, reached := slices.Contains([]string{"json", "github", "sarif"}, flags.output.format), false
	for _, r := range audits {
		found = append(found, r.found.Findings...)
		read = read || !r.failed()
		reached = reached || r.scope.config.Lint.FailOn.Reached(handwritten.AuditDiagnostics(r.found.Findings))
		for _, d := range r.diagnostics {
			if d.Severity == diag.Error {
				errors = append(errors, handwritten.AuditError(d))
			}
		}
	}
	if len(found) > 0 || read {
		all := append(found, errors...)
		if err := a.showReport(&flags.output, report.Report{Data: all, Document: handwritten.AuditDocument(found), Diagnostics: handwritten.AuditDiagnostics(all)}); err != nil {
			return err
		}
	}
	for _, r := range audits {
		if text := r.found.Tally(); text != "" {
			a.note(r.name + ": " + text)
		}
	}
	if err := a.report(diagnosticsOf(results)); err != nil {
		return err
	}
	if reached {
		return errFindings
	}
	return nil
}

// auditFile audits the CRDs of an input, and applies its configuration to the findings.
func auditFile(ctx context.Context, in input, f *crdpatch.File) (audited handwritten.AuditResult, diagnostics diag.List, err error) {
	crds, diagnostics := f.CRDs(in.options())
	for _, c := range crds {
		l, err := handwritten.Audit(ctx, c)
		if err != nil {
			return audited, nil, fmt.Errorf("%s: %w", in.name, err)
		}
		diagnostics = append(diagnostics, l.Diags...)
		audited.Rules, audited.Undecided = audited.Rules+l.Rules, append(audited.Undecided, l.Undecided...)
		for _, f := range slices.Concat(l.Findings, l.Undecided) {
			if l, _ := in.scope.judge(handwritten.AuditDiagnostics([]handwritten.Finding{f})); len(l) > 0 {
				f.Severity = l[0].Severity
				audited.Findings = append(audited.Findings, f)
			}
		}
	}
	return audited, diagnostics, nil
}
