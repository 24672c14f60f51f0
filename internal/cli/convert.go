package cli

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/diag"
)

// inputHelp is the part of the help that compile and decompile share.
const inputHelp = `Without arguments, and for -, the input is standard input. A directory means
its *.yaml, *.yml and *.json at any depth, without hidden files and
directories, and without following symbolic links to directories. A file given
twice is processed once.

Results go to standard output. One result is printed as it is; several become
one stream: YAML documents separated by ---, or, when all are JSON, one JSON
text after the other. With -w every changed file is replaced. With -o the
results go elsewhere: for standard input the name is that of a file; for a
single file that of a file, or of an existing directory to put it in; otherwise
it is that of a directory, created when missing, where a file gets its own name
and the files of a directory keep their places. Either every file is written or
none.

--check lists the inputs whose result differs, --diff shows how; both write
nothing.`

// conversion holds the flags of a command that turns files into files.
type conversion struct {
	write  bool
	output string
	check  bool
	diff   bool
	format string
}

func (c *conversion) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&c.write, "write", "w", false, "replace the files that change")
	f.StringVarP(&c.output, "output", "o", "", "write to this `FILE|DIR` instead of standard output")
	f.BoolVar(&c.check, "check", false, "list the files that would change; exit code 1 when there are any")
	f.BoolVar(&c.diff, "diff", false, "show what would change as a unified diff; exit code 1 when anything would")
	f.StringVar(&c.format, "format", "text", "how diagnostics are printed: text or json")
}

// validate checks the flags against each other. With -o - it is as if -o had
// not been given.
func (c *conversion) validate(cmd *cobra.Command) error {
	if cmd.Flags().Changed("output") && c.output == "" {
		return usagef("-o needs the name of a file or directory")
	}
	if c.output == "-" {
		c.output = ""
	}
	switch {
	case c.write && c.output != "":
		return usagef("-w and -o exclude each other")
	case c.write && (c.check || c.diff):
		return usagef("-w writes, --check and --diff do not")
	case c.output != "" && (c.check || c.diff):
		return usagef("-o writes, --check and --diff do not")
	case c.format != "text" && c.format != "json":
		return usagef("--format is text or json, not %q", c.format)
	}
	return nil
}

// result is what became of an input.
type result struct {
	input
	src, out    []byte
	diagnostics diag.List
}

func (r result) changed() bool { return !bytes.Equal(r.src, r.out) }

// convert runs a command that turns files into files.
func (a *app) convert(cmd *cobra.Command, flags *conversion, e outside, t transform, args []string) error {
	if err := flags.validate(cmd); err != nil {
		return err
	}
	inputs, err := findInputs(args, flags.output)
	if err != nil {
		return err
	}
	targets, err := plan(inputs, flags)
	if err != nil {
		return err
	}
	results, err := a.read(inputs)
	if err != nil {
		return err
	}
	if e.missing(results); !e.failed() {
		if err := convertAll(cmd.Context(), results, t); err != nil {
			return err
		}
	}
	if err := a.report(append(e.files, results...), flags.format); err != nil {
		return err
	}
	switch {
	case flags.check || flags.diff:
		return a.compare(results, flags)
	case targets == nil:
		return a.print(join(results))
	default:
		return a.batch.replace(outputs(results, targets, flags.write))
	}
}

// convertAll fills in the results, several at a time.
func convertAll(ctx context.Context, results []result, t transform) error {
	var wg sync.WaitGroup
	next := make(chan *result)
	for range min(runtime.GOMAXPROCS(0), len(results)) {
		wg.Go(func() {
			for r := range next {
				r.out, r.diagnostics = t(r.name, r.src)
				ofMarkers(r.diagnostics)
			}
		})
	}
	for i := range results {
		if ctx.Err() != nil {
			break
		}
		next <- &results[i]
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// report prints the diagnostics of all results. It returns errFindings when
// there is an error among them.
func (a *app) report(results []result, format string) error {
	var list diag.List
	sources := map[string][]byte{}
	for _, r := range results {
		list = append(list, r.diagnostics...)
		sources[r.name] = r.src
	}
	failed := list.HasErrors()
	list = list.Sort()

	var err error
	if format == "json" {
		err = diag.JSON(a.streams.Err, list)
	} else {
		err = diag.Text(a.streams.Err, list, func(file string) []byte { return sources[file] })
	}
	if err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	if failed {
		return errFindings
	}
	return nil
}

// print writes to standard output.
func (a *app) print(data []byte) error {
	if _, err := a.streams.Out.Write(data); err != nil {
		return fileError("write standard output", err)
	}
	return nil
}
