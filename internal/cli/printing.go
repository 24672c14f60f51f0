package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
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
	if !a.quiet && a.document == "" {
		a.complain(message)
	}
}

// say prints progress, with --verbose.
func (a *app) say(format string, args ...any) {
	if a.verbose && a.document == "" {
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

// report prints diagnostics: errors and warnings, with --quiet only errors, with --verbose notes
// too. For a document it holds back diagnostics reported as text, about files other than the
// inputs, unless they end the command. It returns errFindings if there is an error.
func (a *app) report(l diag.List, format string) error {
	failed := l.HasErrors()
	if a.document != "" {
		a.held = append(a.held, l...)
		if l = nil; failed || format != "text" {
			l, format, a.held = a.held, a.document, nil
		}
	}
	if err := a.printDiagnostics(a.streams.Err, format, a.console.colour, a.loud(slices.Clone(l), diag.Warning).Sort()); err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	if failed {
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

// diagnosticFormats are the formats of diagnostics, the default first.
var diagnosticFormats = []string{"text", "json", "sarif", "github"}

// folded merges adjacent diagnostics that differ only in the schema: many schemas may use a Go
// type.
func folded(l diag.List) (out diag.List) {
	for _, d := range l {
		if n := len(out) - 1; n >= 0 && out[n].Pos == d.Pos && out[n].Code == d.Code && out[n].Severity == d.Severity && out[n].Message == d.Message {
			if paths := strings.Split(out[n].Path, ", "); !slices.Contains(paths, d.Path) {
				out[n].Path = strings.Join(append(paths, d.Path), ", ")
			}
			continue
		}
		out = append(out, d)
	}
	return out
}

// printDiagnostics prints sorted diagnostics to w. Formats for people are limited to
// mostDiagnostics per file, unless all are requested.
func (a *app) printDiagnostics(w io.Writer, format string, colour bool, l diag.List) error {
	l = slices.Clone(l)
	for i := range l {
		if l[i].Hint == yamltext.Helm && a.reader != "" {
			l[i].Hint += " | " + a.reader
		}
	}
	people := format == "text" || format == "github"
	if people {
		l = folded(l)
	}
	if people && !a.all {
		var rest []string
		l, rest = readable(l)
		defer func() {
			for _, line := range rest {
				fmt.Fprintln(w, diag.Escape(line))
			}
		}()
	}
	switch {
	case format == "json":
		return diag.JSON(w, l)
	case format == "text" && colour:
		return diag.ColorText(w, l, a.source)
	case format == "text":
		return diag.Text(w, l, a.source)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	root, _ := repository(dir)
	paths := func(file string) string { return relative(root, dir, file) }
	if format == "github" {
		return diag.GitHub(w, l, paths)
	}
	version := linkedVersions().Unioncel
	if strings.HasPrefix(version, "(") {
		version = "" // a build without a version
	}
	return report.WriteSARIF(w, l, report.SARIFOptions{Version: version, Path: paths})
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

// mostDiagnostics is the number of diagnostics that are printed per file.
const mostDiagnostics = 100

// readable returns the most severe diagnostics of each file, in order, and a line for each file
// that has more. Removed rules are always named.
func readable(l diag.List) (worst diag.List, rest []string) {
	type kind struct {
		file     string
		severity diag.Severity
	}
	total, left := map[string]int{}, map[kind]int{}
	for _, severity := range []diag.Severity{diag.Error, diag.Warning, diag.Info} {
		for _, d := range l {
			if d.Severity == severity && d.Code != codes.RuleRemoved {
				if total[d.Pos.File]++; total[d.Pos.File] <= mostDiagnostics {
					left[kind{d.Pos.File, severity}]++
				}
			}
		}
	}
	told := map[string]bool{}
	for _, d := range l {
		k := kind{d.Pos.File, d.Severity}
		if d.Code == codes.RuleRemoved {
			worst = append(worst, d)
		} else if left[k]--; left[k] >= 0 {
			worst = append(worst, d)
		} else if !told[k.file] {
			told[k.file] = true
			rest = append(rest, fmt.Sprintf("%s: %d more; --all prints them", cmp.Or(k.file, "-"), total[k.file]-mostDiagnostics))
		}
	}
	return worst, rest
}
