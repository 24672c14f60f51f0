package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// complain prints a line, and escapes line breaks, which file names may contain.
func (a *app) complain(message string) {
	fmt.Fprintf(a.streams.Err, "unioncel: %s\n", diag.Escape(oneLine(message)))
}

// oneLine escapes line breaks.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// fail prints an error, and joined errors on one line each.
func (a *app) fail(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			a.fail(err)
		}
		return
	}
	a.complain(err.Error())
}

// note prints a hint, unless --quiet is set or a program reads the output.
func (a *app) note(message string) {
	if !a.quiet && !a.document() {
		a.complain(message)
	}
}

// say prints progress, with --verbose.
func (a *app) say(format string, args ...any) {
	if a.verbose && !a.document() {
		a.complain(fmt.Sprintf(format, args...))
	}
}

func plural(n int, what string) string { return english.Plural(n, what) }

func count[T any](l []T, is func(T) bool) (n int) {
	for _, v := range l {
		if is(v) {
			n++
		}
	}
	return n
}

// words returns named strings as strings.
func words[T ~string](l []T) []string {
	out := make([]string, len(l))
	for i, w := range l {
		out[i] = string(w)
	}
	return out
}

// alternatives lists words: "a, b or c".
func alternatives(l []string) string { return english.List(l, "or") }

// document reports whether the diagnostics are one document, without notes.
func (a *app) document() bool { return a.format == "json" || a.format == "sarif" }

// report prints diagnostics: errors and warnings, with --quiet only errors, with --verbose notes
// too. A document is printed when the command ends. It returns errFindings if there is an error.
func (a *app) report(l diag.List) error {
	if a.document() {
		a.held = append(a.held, l)
	} else if err := a.printDiagnostics(a.streams.Err, a.format, a.console.colour, a.loud(slices.Clone(l), diag.Warning).Sort()); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	if l.HasErrors() {
		return errFindings
	}
	return nil
}

// loud returns the diagnostics of at least the severity least; with --quiet only errors, with
// --verbose all.
func (a *app) loud(l diag.List, least diag.Severity) diag.List {
	switch {
	case a.quiet:
		least = diag.Error
	case a.verbose:
		least = diag.Info
	}
	return slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity > least })
}

// printDiagnostics prints sorted diagnostics to w.
func (a *app) printDiagnostics(w io.Writer, format string, colour bool, l diag.List) error {
	l = slices.Clone(l)
	for i := range l {
		if l[i].Hint == yamltext.Helm && a.reader != "" {
			l[i].Hint += " | " + a.reader
		}
	}
	dir, _ := os.Getwd() // without it, paths stay as they are
	root, _ := repository(dir)
	opts := report.DiagnosticOptions{Format: format, Colour: colour, All: a.all, Source: a.source}
	opts.Path = func(file string) string { return relative(root, dir, file) }
	if version := linkedVersions().Unioncel; !strings.HasPrefix(version, "(") { // a build with a version
		opts.Version = version
	}
	return report.WriteDiagnostics(w, l, opts)
}

// keep records the text of a file for excerpts, nil if the file can be read again.
func (a *app) keep(file string, src []byte) { a.texts.Store(file, src) }

// source returns the text of a file for excerpts: kept ones, and Go files that are no links out of
// their directory. Other files, and files that cannot be read again, have no excerpt.
func (a *app) source(file string) []byte {
	kept, opened := a.texts.Load(file)
	src, _ := kept.([]byte)
	if src == nil && (opened || filepath.Ext(file) == ".go" && !leadsOut(file, filepath.Dir(file))) {
		src, _ = yamltext.ReadFile(os.DirFS(filepath.Dir(file)), filepath.Base(file), a.limits)
	}
	return src
}

// showReport prints a report; the diagnostics if there is nothing else or the format is for them, with
// --quiet only errors.
func (a *app) showReport(output *printing, r report.Report) error {
	var out bytes.Buffer
	var err error
	switch format := output.format; {
	case r.Data == nil, format == "github", format == "sarif":
		colour := output.path == "" && newConsole(a.streams.Out).paint(a.color).colour
		err = a.printDiagnostics(&out, format, colour, a.loud(r.Diagnostics.Sort(), diag.Info))
	case format == "json":
		err = diag.WriteJSON(&out, r.Data)
	case format == "markdown":
		out.WriteString(diag.Escape(r.Document.Markdown()))
	default:
		out.WriteString(diag.Escape(r.Document.Text()))
	}
	if err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return a.write(output.path, out.Bytes())
}
