package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/normalize"
)

// transform turns a file into the bytes of its result.
type transform func(f *crdfile.File, opts crdfile.Options) ([]byte, diag.List)

// conversion holds the flags of a command that turns files into files.
type conversion struct {
	write  bool
	output string
	preview
	format format
	// lasting marks warnings about the result itself. Other warnings are dropped for unchanged
	// files: the run that wrote them has printed these warnings.
	lasting bool
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
	before(cmd, func() error {
		if c.format.name == "json" || c.format.name == "sarif" {
			a.document = c.format.name
		}
		return nil
	})
	cmd.Flags().BoolVarP(&c.write, "write", "w", false, "replace the files that change")
	registerOutput(cmd, &c.output, "write to this `FILE|DIR` instead of standard output")
	c.preview.register(cmd)
	c.format.register(cmd, "diagnostics", diagnosticFormats...)
}

// convert runs a command that turns files into files. It reads, converts and stages one file at a
// time, so that memory does not grow with the number of files.
func (a *app) convert(cmd *cobra.Command, flags *conversion, scope func([]input) (scopes, error), t func(f *crdfile.File, in input) ([]byte, diag.List), args []string) error {
	if err := flags.preview.validate(flags.write, flags.output); err != nil {
		return err
	}
	inputs, err := a.findInputs(args, flags.output)
	if err != nil {
		return err
	}
	targets, err := plan(inputs, flags)
	if err != nil {
		return err
	}
	c := &converting{app: a, flags: flags, targets: targets, shown: make([][]byte, len(inputs))}
	l, results, err := a.load(cmd.Context(), inputs, scope, func(in input, f *crdfile.File) (result, error) {
		out, diagnostics := t(f, in)
		return c.take(in, f, out, diagnostics)
	})
	if err == nil && l.failed() {
		err := a.report(l.files(), flags.format.name)
		if l.sound() {
			a.note("nothing is compiled; --skip-invalid leaves out the unions of structs with errors")
		}
		return err
	}
	comparing := flags.preview.wanted()
	if err == nil {
		if !comparing && slices.ContainsFunc(results, result.failed) {
			for i := range results {
				results[i].diagnostics = normalize.Undone(results[i].diagnostics)
			}
		}
		l.missing(results)
		err = a.report(append(l.files(), results...), flags.format.name)
		if err == nil || errors.Is(err, errSkipped) {
			err = cmp.Or(a.tally(l, results, flags.format.name), err)
		}
	}
	if err != nil && !errors.Is(err, errSkipped) {
		a.batch.abandon()
		if comparing && errors.Is(err, errFindings) {
			return errors.Join(a.printAll(c.shown), err) // the differences of the other files
		}
		return err
	}
	return cmp.Or(c.finish(results), err)
}

// converting is a conversion under way.
type converting struct {
	*app
	flags   *conversion
	targets []string
	shown   [][]byte // results to print, by input
}

// take handles the result of an input: it buffers the result for printing, or stages it next to its
// target.
func (c *converting) take(in input, f *crdfile.File, out []byte, diagnostics diag.List) (result, error) {
	src := f.Bytes()
	r := in.scope.resultOf(in, f, diagnostics)
	if r.other {
		out = src
	}
	r.changed = !bytes.Equal(src, out)
	if !r.changed && !c.verbose && !c.flags.lasting {
		r.dropWarnings()
	}
	if out != nil {
		r.skip()
	}
	switch {
	case r.diagnostics.HasErrors():
		return r, nil
	case c.flags.preview.wanted():
		c.shown[in.n] = c.flags.difference(in.name, src, out)
		return r, nil
	case c.targets == nil && r.other:
		return r, nil // other documents would corrupt the stream
	case c.targets == nil:
		c.shown[in.n] = out
		return r, nil
	case c.flags.write && !r.changed:
		return r, nil
	}
	return r, c.batch.stage(in.n, output{path: c.targets[in.n], data: out})
}

// finish prints the results, or puts them in place.
func (c *converting) finish(results []result) error {
	changed := count(results, func(r result) bool { return r.changed })
	switch {
	case c.flags.preview.wanted():
		if err := c.printAll(c.shown); err != nil {
			return err
		}
		if changed > 0 {
			return c.wouldChange(c.flags.preview, results)
		}
		return nil
	case c.targets == nil:
		var texts [][]byte
		for i, r := range results {
			if !r.other {
				texts = append(texts, c.shown[i])
			}
		}
		return join(c.streams.Out, texts)
	}
	if err := c.batch.commit(); err != nil {
		return err
	}
	if summary := fmt.Sprintf("%d of %s changed", changed, plural(len(results), "file")); c.console.terminal {
		c.note(summary)
	} else {
		c.say("%s", summary)
	}
	return nil
}

// wouldChange ends a preview: it prints the number of files that would change.
func (a *app) wouldChange(p preview, results []result) error {
	if p.check {
		changed := count(results, func(r result) bool { return r.changed })
		hint := "; -w instead of --check writes them"
		if slices.ContainsFunc(results, func(r result) bool { return r.path == "" }) {
			hint = ""
		}
		a.note(fmt.Sprintf("%d of %s would change%s", changed, plural(len(results), "file"), hint))
	}
	return errFindings
}

// printAll prints differences: exact bytes that patch can apply, or
// escaped text on a terminal.
func (a *app) printAll(differences [][]byte) error {
	terminal := newConsole(a.streams.Out).terminal
	for _, data := range differences {
		if terminal {
			data = []byte(diag.Escape(strings.ReplaceAll(string(data), "\r\n", "\n")))
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
		label := diffLabel(filepath.ToSlash(name))
		_, hunks, _ := bytes.Cut(diff.Diff(label, src, label, out), []byte("\n")) // without "diff a b"
		b.Write(hunks)
	}
	return b.Bytes()
}

// diffLabel writes a file name in the syntax of patch and git: quoted if it has control characters,
// and with a trailing tab if it has spaces. Directories are separated by slashes.
func diffLabel(name string) string {
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.ContainsAny(name, `"\`):
		return strconv.Quote(name)
	case strings.Contains(name, " "):
		return name + "\t"
	default:
		return name
	}
}
