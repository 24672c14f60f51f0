package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// execute runs the command line and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	out := &printer{w: a.streams.Out}
	root := a.rootCommand(out)
	root.SetArgs(args)
	root.SetIn(a.streams.In)
	root.SetErr(a.streams.Err)

	// Errors before a command runs are usage errors.
	running := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if a.quiet && a.verbose {
			return usagef("-q and -v cannot be used together")
		}
		if a.timeout < 0 {
			return usagef("--timeout: %v is less than nothing", a.timeout)
		}
		if a.timeout > 0 {
			time.AfterFunc(a.timeout, func() { a.stop(stopped(a.timeout)) })
		}
		a.console.paint(a.color)
		cmd.SetContext(logic.WithSteps(cmd.Context(), a.limits.OrDefault().Steps))
		if strings.Contains(cmd.Use, "|-") {
			a.reader = a.name + " " + cmd.Name()
		}
		running = true
		return nil
	}

	defer a.batch.abandon() // files that were not put in place
	cmd, err := root.ExecuteContextC(ctx)
	if len(a.held) > 0 {
		if wrong := a.printDiagnostics(a.streams.Err, a.format, false, a.loud(slices.Concat(a.held...), diag.Warning).Sort()); wrong != nil {
			err = errors.Join(err, fmt.Errorf("write diagnostics: %w", wrong))
		}
	}
	if err == nil && out.err != nil {
		running, err = true, fileError("write standard output", out.err)
	}
	var usage usageError
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, errWait):
		return exitWait
	case ctx.Err() != nil, errors.Is(err, errInterrupted):
		a.complainStopped(ctx)
	case !running, errors.As(err, &usage):
		a.fail(err)
		fmt.Fprintf(a.streams.Err, "run '%s --help'\n", cmd.CommandPath())
	default:
		a.fail(err)
	}
	return exitFailure
}

func (a *app) rootCommand(out io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "unioncel",
		Short: "Compile the unions declared in CRDs into validation rules",
		Long: `unioncel compiles unions, declared with x-kubernetes-unions in the schema of a
CustomResourceDefinition or with markers on Go types, into validation rules that
any API server enforces: no webhook, no controller. A project keeps its options in
.unioncel.yaml (docs/config.md).

Exit codes: 0 on success; 1 if the input has errors or a check found something;
2 for wrong usage, or if a file cannot be read or written; 3 if a rollout has to
wait. Results go to standard output, everything else to standard error.`,
		Example: `  unioncel compile crd.yaml | kubectl apply -f -
  unioncel compile -w config/crd
  unioncel compile --go ./api/... -w config/crd
  unioncel compile --check --diff config/crd
  unioncel lint config/crd
  unioncel infer crd.yaml`,
		RunE:          whichCommand,
		Args:          cobra.ArbitraryArgs, // other than commands
		SilenceUsage:  true,
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
	}
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "print errors only: no warnings, no notes")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "also print notes and repeated warnings, and name each file when it is done")
	root.PersistentFlags().BoolVar(&a.all, "all", false, fmt.Sprintf("print all diagnostics of a file, not only the %d most severe; JSON and SARIF always have all", report.MostDiagnostics))
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "`WHEN` to use colours: auto, for a terminal; always; or never")
	choose(root, "color", colors...)
	root.PersistentFlags().Var(&a.limits, "limit", "a limit on the content of a file; repeatable; see unioncel help limits")
	root.PersistentFlags().DurationVar(&a.timeout, "timeout", 10*time.Minute, "stop with exit code 2 after this time; 0 for never")
	root.SetFlagErrorFunc(flagError)
	group(root, "Compile", a.compileCommand(), a.decompileCommand(), a.fnCommand())
	group(root, "Check", a.lintCommand(), a.verifyCommand(), a.auditCommand(), a.explainCommand())
	group(root, "Objects", a.validateCommand(), a.normalizeCommand(), a.policyCommand(), a.patchCommand(), a.schemaCommand(), a.testdataCommand())
	group(root, "Change", a.diffCommand(), a.rolloutCommand())
	group(root, "Import", a.inferCommand())
	group(root, "Other", a.versionCommand())
	root.AddCommand(topics()...)
	root.SetHelpCommandGroupID("Other")
	root.SetCompletionCommandGroupID("Other")
	versionFlag(root)
	root.SetOut(out) // before completions: cobra's command records the writer
	completions(root)
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, showHelp
			cmd.Long, cmd.Example = "Help shows the help of a command, as its flag --help does.", "  unioncel help compile"
		}
		if strings.Contains(cmd.Use, "FILE|") {
			cmd.Long += "\n\nSee also unioncel help inputs and unioncel help output."
		}
		for _, text := range []*string{&cmd.Long, &cmd.Example} {
			*text = strings.ReplaceAll(*text, program+" ", a.name+" ")
		}
	}
	return root
}

// group adds commands under a heading of their own in the help.
func group(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, cmd := range commands {
		cmd.GroupID = title
		root.AddCommand(cmd)
	}
}

// flagError names the flag of a wrong value, and adds a suggestion to the error about an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if similar := english.Closest(unknown.GetSpecifiedName(), known); similar != "" {
		return usagef("%w; did you mean --%s?", err, similar)
	}
	return err
}

// showHelp shows the help of a command. Unlike cobra's, it fails on an unknown command.
func showHelp(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil {
		return usageError{err}
	}
	if topic == cmd.Root() && len(rest) > 0 {
		return whichCommand(topic, rest)
	}
	topic.InitDefaultHelpFlag()
	return topic.Help()
}

// whichCommand prints help without arguments, as kubectl does, or returns the error about an
// unknown command.
func whichCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return root.Help()
	}
	if similar := root.SuggestionsFor(args[0]); len(similar) > 0 {
		return usagef("unknown command %q; did you mean %q?", args[0], similar[0])
	}
	return usagef("unknown command %q", args[0])
}

// printer records the first write error: cobra does not return it when it prints help.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) Write(data []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.w.Write(data)
	}
	return len(data), nil
}

// topics are help pages that several commands share.
func topics() []*cobra.Command {
	topic := func(name, short, long string) *cobra.Command {
		return &cobra.Command{Use: name, Short: short, Long: long}
	}
	return []*cobra.Command{
		topic("inputs", "Which files a command reads", `The input is standard input without arguments, and for -. A directory stands for its
*.yaml, *.yml and *.json at any depth, without hidden files and directories, and without
following symbolic links to directories, or to files outside it. Files in it that cannot
be read and do not mention CRDs, such as templates, are skipped. A file given twice is
processed once. A pipe, such as <(kubectl get ...), is read like standard input.

Errors in one file do not hide the results for others: commands that only report print
these first, then the errors, and exit with 1.

A project keeps its options in .unioncel.yaml, which flags override. For each input, the
file in its directory or the nearest one above it is used, up to the root of the
repository (docs/config.md).

Unions are declared in the CRDs or outside them: with --go, by markers in the Go types
from which controller-gen generates the CRDs; with --unions, in a file of kind UnionSet.
Commands that need compiled CRDs compile those that declare unions in memory, with the
options of compile. Compiled and live CRDs are taken as they are.`),
		topic("output", "Where results go, and how files are written", `Results go to standard output. One result is printed as it is; several become one
stream: YAML documents separated by ---, or, when all are JSON, one JSON text after the
other.

-w replaces every file that changes, and the file that a symbolic link leads to. With -o
the results go to another place, and never through a link: with a single input, to a file
of that name or into an existing directory; otherwise into a directory, created if missing,
in which a file keeps its name and the files of a directory keep their relative paths.

Either all files are written or none. A run that is killed may have written some, each of
them whole, and may leave .unioncel-*.tmp files next to them, which can be deleted.

--check lists the inputs whose result differs, and --diff shows how, even if other inputs
have errors; neither writes anything.`),
		topic("limits", "Limits on the content of files", `--limit raises or lowers a limit on the content of a file, as in --limit size=1000000.
The limits protect from hostile input. The defaults are

  `+strings.Join(yamltext.DefaultLimits(), "\n  ")),
	}
}
