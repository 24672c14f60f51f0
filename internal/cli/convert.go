package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// conversion holds the flags of a command that turns files into files.
type conversion struct {
	write  bool
	output string
	preview
}

// preview holds the flags that show changes instead of writing them.
type preview struct {
	check bool
	diff  bool
}

func (p *preview) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.check, "check", false, "list the files that would change; exit code 1 when there are any")
	f.BoolVar(&p.diff, "diff", false, "show the changes as a unified diff; exit code 1 when there are any")
}

// wanted reports whether a preview replaces writing.
func (p preview) wanted() bool { return p.check || p.diff }

// validate rejects combinations with the flags that write.
func (p preview) validate(write bool, output string) error {
	switch {
	case write && output != "":
		return usagef("-w and -o cannot be used together")
	case write && p.wanted():
		return usagef("-w writes, --check and --diff do not")
	case output != "" && p.wanted():
		return usagef("-o writes, --check and --diff do not")
	}
	return nil
}

func (c *conversion) register(a *app, cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.write, "write", "w", false, "replace the files that change")
	registerOutput(cmd, &c.output, "write to this `FILE|DIR` instead of standard output")
	c.preview.register(cmd)
	registerFormat(cmd, &a.format, "diagnostics", report.DiagnosticFormats...)
}

// convert runs a command that turns files into files. It reads, converts and stages one file at a
// time, so that memory does not grow with the number of files.
func (a *app) convert(cmd *cobra.Command, flags *conversion, compiler *compilerFlags, t func(f *crdpatch.File, in input) ([]byte, diag.List), args []string) error {
	if err := flags.preview.validate(flags.write, flags.output); err != nil {
		return err
	}
	inputs, err := a.findOutside(flags.output, args)
	if err != nil {
		return err
	}
	switch {
	case flags.write:
		err = inPlace(inputs, "-w")
	case flags.output != "":
		err = outputPaths(inputs, flags.output)
	}
	if err != nil {
		return err
	}
	l, answers, err := load(cmd.Context(), a, inputs, compiler, func(f *crdpatch.File, r *result) ([]byte, error) {
		out, diagnostics := t(f, r.input)
		a.inspect(r, f, diagnostics)
		return a.converted(flags, r, f.Bytes(), out)
	})
	if err != nil {
		return err
	}
	if l.failed() {
		err := a.report(diagnosticsOf(l.files()))
		if slices.ContainsFunc(l, func(s *scope) bool { return s.sound }) {
			a.note("nothing is compiled; --skip-invalid leaves out the unions of structs with errors")
		}
		return err
	}
	results := resultsOf(answers)
	comparing := flags.preview.wanted()
	if !comparing && anyFailed(results) {
		for _, r := range results {
			r.diagnostics = product.WithoutChanges(r.diagnostics)
		}
	}
	l.missing(results)
	all := append(l.files(), results...)
	failed := anyFailed(all)
	err = a.report(diagnosticsOf(all))
	failed = failed || err != nil && !errors.Is(err, errFindings)
	if !failed {
		none := a.tally(l, results)
		failed, err = none != nil, cmp.Or(none, err)
	}
	var texts [][]byte
	for _, r := range answers {
		if !r.other {
			texts = append(texts, r.found)
		}
	}
	changed := count(results, func(r *result) bool { return r.changed })
	switch {
	case comparing: // the differences of some files, if others have errors
		if shown := a.printAll(texts); shown != nil || failed {
			return errors.Join(shown, err)
		}
		return cmp.Or(a.wouldChange(flags.preview, changed, len(results), results), err)
	case failed:
		return err
	case flags.write || flags.output != "":
		return cmp.Or(a.replaceChanged(changed, len(results)), err)
	}
	return cmp.Or(join(a.streams.Out, texts), err)
}

// converted returns the text to print for an input: the result, or its difference. It stages a
// result for a file, and returns nil then.
func (a *app) converted(flags *conversion, r *result, src, out []byte) ([]byte, error) {
	if r.other {
		out = src
	}
	r.changed = !bytes.Equal(src, out)
	if !r.changed && !a.verbose && r.scope.flags.cmd != nil { // the others warn of the result itself
		r.dropWarnings()
	}
	r.partial = out != nil
	switch {
	case r.failed():
		return nil, nil
	case flags.preview.wanted():
		return flags.difference(r.name, src, out), nil
	case r.target == "" && r.other:
		return nil, nil // other documents would corrupt the stream
	case r.target == "":
		return out, nil
	case flags.write && !r.changed:
		return nil, nil
	}
	return nil, a.batch.stage(output{path: r.target, data: out})
}

// replaceChanged puts the staged results in place.
func (a *app) replaceChanged(changed, of int) error {
	if err := a.batch.commit(); err != nil {
		return err
	}
	if summary := fmt.Sprintf("%d of %s changed", changed, plural(of, "file")); a.console.terminal {
		a.note(summary)
	} else {
		a.say("%s", summary)
	}
	return nil
}

// wouldChange ends a preview: it prints the number of files that would change, if any, and returns
// errFindings then.
func (a *app) wouldChange(p preview, changed, of int, inputs []*result) error {
	if changed == 0 {
		return nil
	}
	if p.check {
		hint := "; -w instead of --check writes them"
		if slices.ContainsFunc(inputs, func(r *result) bool { return r.path == "" }) {
			hint = ""
		}
		a.note(fmt.Sprintf("%d of %s would change%s", changed, plural(of, "file"), hint))
	}
	return errFindings
}

// printAll prints differences: exact bytes that patch can apply, or
// escaped text on a terminal.
func (a *app) printAll(differences [][]byte) error {
	console := newConsole(a.streams.Out).paint(a.color)
	for _, data := range differences {
		if console.terminal {
			data = []byte(diag.Escape(strings.ReplaceAll(string(data), "\r\n", "\n")))
		}
		if console.colour {
			data = report.ColorDiff(data)
		}
		if err := a.print(data); err != nil {
			return err
		}
	}
	return nil
}

// difference returns the output of --check and --diff for an input: the name of a changed file, the
// changes, or both.
func (p preview) difference(name string, src, out []byte) []byte {
	var b bytes.Buffer
	if bytes.Equal(src, out) {
		return nil
	}
	if p.check {
		b.WriteString(diag.Escape(oneLine(name)) + "\n")
	}
	if p.diff {
		b.Write(report.Diff(name, src, out))
	}
	return b.Bytes()
}
