package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/report/audit"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// auditFlags are the flags of the command audit.
type auditFlags struct{ findingFlags }

func (a *app) auditCommand() *cobra.Command {
	flags := auditFlags{findingFlags{compiler: compilerFlags{judges: true}}}
	cmd := &cobra.Command{
		Use:   "audit [FILE|DIR|-]...",
		Short: "Find mistakes in hand-written CEL rules",
		Long: `Audit reads the hand-written rules of CustomResourceDefinitions, with or without
unions, and reports rules that

  - fail to evaluate on an object that everything else accepts, or on every update
  - accept an object that their message or a description rules out
  - mean each item of a list, and reject the list only if all items are wrong
  - exclude a value of an enum; reject nothing, or everything
  - repeat another rule, or are missing in another served version
  - take more than half of a cost budget
  - do not compile, or not for the kubeVersion in ` + configFile + `

Each finding has an object that the API server's own code accepts or rejects as
the finding says, and a fix. A rule that cannot be decided, or not within
--limit steps=N, has no findings; rules that unioncel compiled are left out. docs/audit.md explains
the findings.

Findings are warnings; only rules that do not compile are errors. The exit code is 1
if there is a finding of at least the severity given with --fail-on: by default, warnings
never fail. --ignore leaves out codes. The key lint in ` + configFile + ` applies, too.

See also unioncel help inputs.`,
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
	flags.findingFlags.register(cmd, reportFormatNames(true))
	return cmd
}

// auditAll audits the CRDs of all inputs, in order, and prints the findings together.
func (a *app) auditAll(cmd *cobra.Command, flags *auditFlags, args []string) error {
	inputs, err := a.findInputs(args)
	if err != nil {
		return err
	}
	audits, _, err := ask(cmd.Context(), a, inputs, a.scope(cmd, &flags.compiler), func(f *crdfile.File, in input) (fileAudit, diag.List, error) {
		return auditFile(cmd.Context(), in, f)
	})
	if err != nil {
		return err
	}
	results := resultsOf(audits)
	if !slices.ContainsFunc(audits, func(r answer[fileAudit]) bool { return r.found.crds > 0 }) && !anyFailed(results) {
		return fmt.Errorf("no CRD in %s", strings.Join(namesOf(inputs), ", "))
	}
	if err := a.showAudit(flags, audits); err != nil {
		return err
	}
	for _, r := range audits {
		if r.found.partial {
			a.note(fmt.Sprintf("%s: some rules were not decided: %v", r.name, limit.Exhausted(a.limits.OrDefault().Steps)))
		}
	}
	if err := a.report(diagnosticsOf(results)); err != nil {
		return err
	}
	for _, r := range audits {
		if r.scope.config.Lint.FailOn.Reached(audit.Diagnostics(r.found.findings)) {
			return errFindings
		}
	}
	return nil
}

// fileAudit is the result for one input.
type fileAudit struct {
	findings []audit.Finding
	crds     int
	partial  bool // a search used all its steps
}

// auditFile audits the CRDs of an input, and applies its configuration to the findings.
func auditFile(ctx context.Context, in input, f *crdfile.File) (audited fileAudit, diagnostics diag.List, err error) {
	crds, diagnostics := f.CRDs(in.options())
	audited.crds = len(crds)
	for _, c := range crds {
		l, err := auditOne(ctx, c)
		if err != nil {
			return audited, diagnostics, fmt.Errorf("%s: %w", in.name, err)
		}
		diagnostics = append(diagnostics, l.Diags...)
		audited.partial = audited.partial || l.Partial
		for _, f := range l.Findings {
			if l, _ := in.scope.judge(audit.Diagnostics([]audit.Finding{f})); len(l) > 0 {
				f.Severity = l[0].Severity
				audited.findings = append(audited.findings, f)
			}
		}
	}
	return audited, diagnostics, nil
}

// showAudit prints the findings. Formats for programs also have the errors of unreadable inputs.
func (a *app) showAudit(flags *auditFlags, audits []answer[fileAudit]) error {
	found, errors := []audit.Finding{}, []audit.Finding{}
	read := false
	for _, r := range audits {
		found = append(found, r.found.findings...)
		read = read || !r.failed()
		for _, d := range r.diagnostics {
			if d.Severity == diag.Error {
				errors = append(errors, audit.Error(d))
			}
		}
	}
	people := slices.Contains([]string{"text", "markdown"}, flags.output.format)
	if len(found) > 0 || !people || read {
		all := append(found, errors...)
		return a.showReport(&flags.output, report.Report{Data: all, Document: audit.Document(found), Diagnostics: audit.Diagnostics(all)})
	}
	return nil
}

func auditOne(ctx context.Context, c *crdfile.CRD) (audit.Result, error) {
	audited, err := audit.CRD(ctx, c)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	return audited, err
}
