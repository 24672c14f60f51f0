package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) lintCommand() *cobra.Command {
	var flags findingFlags
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|-]...",
		Short: "Check declared unions, and advise on them",
		Long: `Lint checks the unions of CustomResourceDefinitions. It prints the errors and warnings that
compile would report, and advice on unions that are legal but likely to be regretted;
unioncel explain CODE gives the reasons. Notes report choices that are correct in many CRDs;
--verbose or --fail-on info prints them.

Findings go to standard output. The exit code is 1 if there is a finding of at least the
severity given with --fail-on. Every warning and note can be disabled: with --ignore, or in
` + configFile + ` next to the input, or the nearest one above it in the repository.

--fix corrects the inputs where there is only one way to do it: misspelt names and
words, missing quotes. Everything else stays as it is, to the byte. Then it prints the
findings that remain.`,
		Example: `  unioncel lint config/crd

  # Correct misspelt keys, missing quotes and the like
  unioncel lint --fix config/crd

  # In CI: fail on warnings too
  unioncel lint --fail-on warning config/crd

  # For GitHub code scanning
  unioncel lint --format sarif -o unioncel.sarif config/crd

  # With the declarations of Go types, without one kind of advice
  unioncel lint --go ./api/... --ignore UC524 config/crd/bases`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.lintAll(cmd, &flags, args)
		},
	}
	flags.compiler.skipInvalid, flags.compiler.loud = true, true
	flags.compiler.register(cmd)
	flags.register(cmd, report.DiagnosticFormats)
	cmd.Flags().BoolVar(&flags.fix, "fix", false, "correct the files where there is only one way to do it")
	flags.compiler.registerGate(cmd)
	flags.compiler.registerStrict(cmd)
	return cmd
}

// findingFlags are the flags of commands with findings.
type findingFlags struct {
	compiler compilerFlags
	output   printing
	fix      bool // of lint
}

func (f *findingFlags) register(cmd *cobra.Command, formats []string) {
	f.output.register(cmd, "findings", formats...)
	cmd.Flags().StringVar(&f.compiler.failOn, "fail-on", report.Thresholds[report.FailOnError],
		"exit with 1 if there is a finding of at least this `SEVERITY`: error, warning or info; or never")
	cmd.Flags().StringSliceVar(&f.compiler.ignore, "ignore", nil, "ignore findings with this `CODE`; repeatable")
	choose(cmd, "fail-on", report.Thresholds...)
	complete(cmd, "ignore", completeIgnored)
	check(cmd, "ignore", func(codes string) (string, error) {
		for code := range strings.SplitSeq(codes, ",") {
			if hint, err := report.CheckLintCode(diag.Code(code), "ignored"); err != nil {
				return "", fmt.Errorf("%w: %s", err, hint)
			}
		}
		return codes, nil
	})
}

// lintAll lints all inputs and prints the findings together.
func (a *app) lintAll(cmd *cobra.Command, flags *findingFlags, args []string) error {
	l, answers, err := a.lintInputs(cmd, flags, args)
	if err != nil {
		return err
	}
	results := resultsOf(answers)
	files := append(l.files(), results...)
	var all diag.List
	reached, fixable := false, 0
	if !anyFailed(files) {
		reached = a.tally(l, results) != nil // unions with errors would not be counted
	}
	for _, r := range files {
		findings, _ := r.scope.judge(diagnosticsOf([]*result{r}))
		limit := *r.scope.config.Lint.FailOn
		reached = reached || limit.Reached(findings) || r.scope.read.failed()
		least := diag.Warning
		if limit == report.FailOnInfo {
			least = diag.Info
		}
		findings = a.loud(findings, least).Sort()
		fixable += count(findings, func(d diag.Diagnostic) bool { return len(d.Edits) > 0 && r.path != "" && d.Pos.File == r.name })
		all = append(all, findings...)
	}
	if flags.fix && flags.output.path == "" { // otherwise the file of -o is part of the batch
		if err := a.batch.commit(); err != nil {
			return err
		}
	}
	if err := a.showReport(&flags.output, report.Report{Diagnostics: all}); err != nil {
		return err
	}
	switch {
	case flags.fix:
	case len(all) == 0 && flags.output.format == "text":
		a.note("0 findings")
	case fixable > 0:
		a.note(plural(fixable, "finding") + " can be corrected with --fix")
	}
	for _, r := range answers {
		for _, note := range r.found {
			a.note(note)
		}
	}
	if reached {
		return errFindings
	}
	return nil
}

// lintInputs lints all inputs, unless configurations or declarations have errors. The answers are notes
// on undecided rules, and on the outcome of --fix.
func (a *app) lintInputs(cmd *cobra.Command, flags *findingFlags, args []string) (scopes, []answer[[]string], error) {
	inputs, err := a.findInputs(args)
	if err != nil {
		return nil, nil, err
	}
	if flags.fix {
		if err := inPlace(inputs, "--fix"); err != nil {
			return nil, nil, err
		}
	}
	l, answers, err := load(cmd.Context(), a, inputs, &flags.compiler, func(f *crdpatch.File, r *result) ([]string, error) {
		if flags.fix {
			return a.fix(f, r)
		}
		l := report.Lint(f, r.options())
		a.inspect(r, f, l)
		if open := count(l, func(d diag.Diagnostic) bool { return d.Code == codes.NotDecided }); open > 0 {
			return []string{fmt.Sprintf("%s: %s not decided (-v shows them)", r.name, plural(open, "rule"))}, nil
		}
		return nil, nil
	})
	if err != nil || l.failed() {
		return l, nil, err
	}
	l.missing(resultsOf(answers))
	return l, answers, nil
}

// fix corrects an input, and stages the result.
func (a *app) fix(f *crdpatch.File, r *result) (notes []string, err error) {
	fixed := report.Fix(r.name, f.Bytes(), func(src []byte) diag.List {
		l, _ := r.scope.judge(report.Lint(f.WithBytes(src), r.options()))
		return l
	})
	a.inspect(r, f.WithBytes(fixed.Src), fixed.Found)
	for _, refused := range fixed.Refused {
		notes = append(notes, fmt.Sprintf("%s: %s", refused.Finding.Pos, refused))
	}
	if r.other || fixed.Count == 0 {
		return notes, nil
	}
	a.keep(r.name, fixed.Src)
	return append(notes, fmt.Sprintf("%s: fixed %d", r.name, fixed.Count)), a.batch.stage(output{path: r.target, data: fixed.Src})
}
