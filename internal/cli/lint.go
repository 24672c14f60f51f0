package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/lint"
)

func (a *app) lintCommand() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint [FILE|DIR|-]...",
		Short: "Check declared unions, and advise on them",
		Long: `Lint checks the unions of CustomResourceDefinitions and writes no file. It prints
what compile would say of them, errors, warnings and notes, and advice: what is
legal and likely to be regretted. docs/lint.md says why, for each kind. Compiled
CRDs are checked by the declarations in their annotation. CRDs without unions and
other documents are passed over.

Findings go to standard output, as text; as JSON, an array of objects; as SARIF for
code scanning; or as commands that make GitHub Actions annotate lines. The exit
code is 1 when a finding is as bad as --fail-on says.

What is no error can be switched off: with --ignore; in ` + configFile + `, here or
nearest upwards in the repository, for all files or some; or by a comment beside a
declaration:

  # unioncel:ignore UC521: the value Recreate needs no settings
  x-kubernetes-unions:

Without arguments, and for -, the input is standard input. A directory means
its *.yaml, *.yml and *.json at any depth, without hidden files and directories.`,
		Example: `  unioncel lint config/crd

  # In CI: warnings count, too
  unioncel lint --fail-on warning config/crd

  # For GitHub code scanning
  unioncel lint --format sarif -o unioncel.sarif config/crd

  # With the declarations of Go types, without one kind of advice
  unioncel lint --go ./api/... --ignore UC524 config/crd/bases`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.lintAll(cmd, &flags, args)
		},
	}
	flags.register(cmd)
	flags.compiler.unions.skipInvalid = true
	return cmd
}

// lintFlags are those of the command lint.
type lintFlags struct {
	compiler compilerFlags
	output   printing
	failOn   string
	ignore   []string
	config   configFlags
}

func (f *lintFlags) register(cmd *cobra.Command) {
	f.compiler.register(cmd)
	f.output.register(cmd, "findings", diagnosticFormats...)
	cmd.Flags().StringVar(&f.failOn, "fail-on", lint.Thresholds[lint.FailOnError],
		"exit with 1 when there is a finding of at least this `SEVERITY`: error, warning or info; or never")
	cmd.Flags().StringSliceVar(&f.ignore, "ignore", nil, "leave out findings with this `CODE`; repeatable")
	f.config.register(cmd)
	for flag, complete := range map[string]cobra.CompletionFunc{
		"fail-on": oneOf(lint.Thresholds...),
		"ignore":  completeCodes,
	} {
		// It fails for flags that do not exist only.
		_ = cmd.RegisterFlagCompletionFunc(flag, complete)
	}
}

func completeCodes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var l []cobra.Completion
	for _, code := range lint.Codes() {
		info, _ := code.Info()
		l = append(l, cobra.CompletionWithDesc(string(code), info.Title))
	}
	return l, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// lintAll lints all inputs and prints what was found together.
func (a *app) lintAll(cmd *cobra.Command, flags *lintFlags, args []string) error {
	if err := checkOutput(cmd, &flags.output.path); err != nil {
		return err
	}
	threshold, err := lint.ParseThreshold(flags.failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	var ignore []diag.Code
	for _, code := range flags.ignore {
		if err := lint.CheckIgnore(diag.Code(code)); err != nil {
			return usagef("--ignore: %w", err)
		}
		ignore = append(ignore, diag.Code(code))
	}
	file, config, wrong, err := a.lintConfig(cmd, &flags.config)
	if err != nil {
		return err
	}
	if wrong.HasErrors() {
		return a.showFindings(&flags.output, wrong, nil, lint.FailOnError)
	}
	config.Ignore = append(config.Ignore, ignore...)
	if config.FailOn != nil && !cmd.Flags().Changed("fail-on") {
		threshold = *config.FailOn
	}
	results, err := a.lintInputs(cmd, flags, args)
	if err != nil {
		return err
	}
	l := flags.comments(results)
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	home := filepath.Dir(file)
	if !filepath.IsAbs(home) {
		home = filepath.Join(dir, home)
	}
	l = config.Apply(l, func(file string) string { return relative(home, dir, file, filepath.Separator) })
	return a.showFindings(&flags.output, l, results, threshold)
}

// lintInputs lints all inputs. Files that declarations are read from are among the
// results.
func (a *app) lintInputs(cmd *cobra.Command, flags *lintFlags, args []string) ([]result, error) {
	opts, e, err := flags.compiler.options(a.limits)
	if err != nil {
		return nil, err
	}
	inputs, err := a.findInputs(args, "")
	if err != nil || e.failed() {
		return e.files, err
	}
	options := lint.Options{KubeVersion: opts.KubeVersion, Encoding: opts.Encoding, Elsewhere: opts.Elsewhere, Limits: opts.Limits}
	results, err := process(cmd.Context(), a, inputs, func(in input, src []byte) (result, error) {
		return e.resultOf(in, src, lint.File(in.name, src, options)), nil
	})
	if err != nil {
		return nil, err
	}
	e.missing(results)
	return append(e.files, results...), nil
}

// lintConfig reads the configuration that counts, and says which that is.
func (a *app) lintConfig(cmd *cobra.Command, flags *configFlags) (file string, config *lint.Config, wrong diag.List, err error) {
	file, err = flags.find(cmd)
	if err != nil || file == "" {
		return "", &lint.Config{}, nil, err
	}
	src, err := readConfig(file)
	if err != nil {
		return "", nil, nil, err
	}
	a.note("configuration: " + file)
	config, wrong = lint.ParseConfig(file, src)
	return file, config, wrong, nil
}

// comments returns all findings, without those that comments in UnionSets switch off.
// lint.File has seen to the comments in CRDs.
func (f *lintFlags) comments(results []result) diag.List {
	var l diag.List
	for _, r := range results {
		l = append(append(l, r.diagnostics...), r.skipped...)
	}
	failed := l.HasErrors()
	for _, name := range f.compiler.unions.sets {
		i := slices.IndexFunc(results, func(r result) bool { return r.name == name && r.src != nil })
		if i < 0 {
			continue
		}
		comments := lint.ReadComments(name, results[i].src)
		if l = comments.Apply(l); !failed {
			l = append(l, comments.Useless()...)
		}
	}
	return l
}

// showFindings prints findings, with --quiet only errors. It returns errFindings when
// one is as bad as the threshold.
func (a *app) showFindings(output *printing, l diag.List, results []result, threshold lint.Threshold) error {
	l = l.Sort()
	reached := threshold.Reached(l)
	l = a.loud(l, diag.Info)
	colour := output.path == "" && newConsole(a.streams.Out).colour
	var out bytes.Buffer
	if err := a.printDiagnostics(&out, output.name, colour, l, results); err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	if err := a.write(output.path, out.Bytes()); err != nil {
		return err
	}
	if reached {
		return errFindings
	}
	return nil
}
