package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/docs"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) explainCommand() *cobra.Command {
	var (
		flags  = compilerFlags{judges: true}
		output printing
	)
	cmd := &cobra.Command{
		Use:   "explain [FILE|DIR|-|CODE]...",
		Short: "Show the compiled rules, their costs and the errors that users will read",
		Long: `Explain shows the rules that compile writes, or has written, for every union of
CustomResourceDefinitions: their costs by the API server's own estimator and their
shares of its budgets, the bytes they add, the reason for the encoding, and the errors
that users will read; other rules of the CRD may add errors. It writes no files.

Costs are in the estimator's unit, roughly one comparison: the cost of evaluating a rule
once, times the number of times that one object can make the API server evaluate it.

For codes of diagnostics, such as UC203, it prints their entries in docs/diagnostics.md.`,
		Example: `  # Which rules would be added, and is there room for them? And in the cluster?
  unioncel explain crd.yaml
  kubectl get crd backends.example.com -o yaml | unioncel explain

  # What does this error mean, and how is it fixed?
  unioncel explain UC203

  # A page for the documentation
  unioncel explain --format markdown -o docs/unions.md config/crd

  # The most expensive rule
  unioncel explain --format json config/crd | jq '[.[].unions[].rules[]] | max_by(.cost)'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if areCodes(args) {
				return a.explainCodes(&output, args)
			}
			_, err := collect(cmd.Context(), a, &flags, args, explanations, func(l []report.Explanation) error {
				return a.showReport(&output, report.Report{Data: l, Document: report.ExplanationDocument(l)})
			})
			return err
		},
	}
	flags.register(cmd)
	flags.skipInvalid = true
	output.register(cmd, "explanations", report.Formats(false)...)
	return cmd
}

var codePattern = regexp.MustCompile(`^(?i:UC)[0-9]{3}$`)

// areCodes reports whether the arguments are codes of diagnostics; ./UC203 is a file.
func areCodes(args []string) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(arg string) bool { return !codePattern.MatchString(arg) })
}

// explainCodes prints the entries of codes in docs/diagnostics.md.
func (a *app) explainCodes(output *printing, codes []string) error {
	if output.format == "json" {
		return usagef("codes are explained as text or markdown, not as json")
	}
	var entries []string
	for _, code := range codes {
		code = strings.ToUpper(code)
		_, rest, ok := strings.Cut(docs.Diagnostics, "\n## "+code+": ")
		if !ok {
			return usagef("there is no diagnostic %s", code)
		}
		entry, _, _ := strings.Cut(rest, "\n## ")
		entries = append(entries, "## "+code+": "+strings.TrimSpace(entry)+"\n")
	}
	return a.write(output.path, []byte(strings.Join(entries, "\n")))
}

// explanations returns the explanations of the CRDs with unions in a file.
func explanations(f *crdpatch.File, in input) (l []report.Explanation, diags diag.List, err error) {
	plans, diags := crdpatch.Explain(f, in.options())
	for _, plan := range plans {
		crd, err := report.Explain(plan)
		if err != nil {
			return nil, diags, err
		}
		l = append(l, crd)
	}
	return l, diags, nil
}
