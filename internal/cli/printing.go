package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/sarif"
)

// format is the value of the flag --format: one of those that a command has.
type format struct {
	name string
	of   []string
}

func (f *format) String() string { return f.name }
func (f *format) Type() string   { return "string" }

func (f *format) Set(name string) error {
	if !slices.Contains(f.of, name) {
		return fmt.Errorf("it is %s", alternatives(f.of))
	}
	f.name = name
	return nil
}

// register adds the flag. what is printed, in the formats of which the first is the
// default.
func (f *format) register(cmd *cobra.Command, what string, formats ...string) {
	f.name, f.of = formats[0], formats
	cmd.Flags().Var(f, "format", "how "+what+" are printed: "+alternatives(formats))
	// It fails for flags that do not exist only.
	_ = cmd.RegisterFlagCompletionFunc("format", oneOf(formats...))
}

// alternatives lists words: "a, b or c".
func alternatives(l []string) string {
	if len(l) == 1 {
		return l[0]
	}
	return strings.Join(l[:len(l)-1], ", ") + " or " + l[len(l)-1]
}

// printing holds the flags of a command that prints results in one piece.
type printing struct {
	format
	path string
}

func (p *printing) register(cmd *cobra.Command, what string, formats ...string) {
	p.format.register(cmd, what, formats...)
	registerOutput(cmd, &p.path)
}

// registerOutput adds the flag -o of a command that writes one file.
func registerOutput(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "output", "o", "", "write to this `FILE` instead of standard output")
}

// checkOutput checks the flag -o. With -o - it is as if it had not been given.
func checkOutput(cmd *cobra.Command, path *string) error {
	switch {
	case cmd.Flags().Changed("output") && *path == "":
		return usagef("-o needs the name of a file")
	case slices.Contains([]string{"text", "json", "yaml", "sarif", "github", "markdown"}, *path):
		return usagef("-o names a file, --format the form; a file of that name is ./%s", *path)
	case *path == "-":
		*path = ""
	}
	return nil
}

// write writes a result to where -o says.
func (a *app) write(path string, data []byte) error {
	if path == "" {
		return a.print(data)
	}
	if err := noLink(path); err != nil {
		return err
	}
	return a.batch.replace([]output{{path, data}})
}

// writeText writes a result with what others wrote in it. It is escaped, but for JSON,
// which has escapes of its own.
func (a *app) writeText(p *printing, data []byte) error {
	if p.name != "json" {
		data = []byte(diag.Escape(string(data)))
	}
	return a.write(p.path, data)
}

// diagnosticPrinter prints diagnostics. source returns a file, paths are those of the
// repository.
type diagnosticPrinter func(w io.Writer, l diag.List, source func(string) []byte, paths func(string) string) error

// diagnosticFormats are the names of diagnosticPrinters, the default first.
var diagnosticFormats = []string{"text", "json", "sarif", "github"}

var diagnosticPrinters = map[string]diagnosticPrinter{
	"text": func(w io.Writer, l diag.List, source func(string) []byte, _ func(string) string) error {
		return diag.Text(w, l, source)
	},
	"json": func(w io.Writer, l diag.List, _ func(string) []byte, _ func(string) string) error {
		return diag.JSON(w, l)
	},
	"github": func(w io.Writer, l diag.List, _ func(string) []byte, paths func(string) string) error {
		return diag.GitHub(w, l, paths)
	},
	"sarif": func(w io.Writer, l diag.List, _ func(string) []byte, paths func(string) string) error {
		version := linkedVersions().Unioncel
		if strings.HasPrefix(version, "(") {
			version = "" // a build that has none
		}
		return sarif.Write(w, l, sarif.Options{Version: version, Path: paths})
	},
}

// printDiagnostics prints diagnostics to w in a format. People get no more of a file
// than they can read, unless they want all; programs get all.
func (a *app) printDiagnostics(w io.Writer, format string, colour bool, l diag.List, results []result) error {
	if !a.all && (format == "text" || format == "github") {
		var rest []string
		l, rest = readable(l)
		defer func() {
			for _, line := range rest {
				fmt.Fprintln(w, diag.Escape(line))
			}
		}()
	}
	if format == "text" && colour {
		return diag.ColorText(w, l, sources(results))
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	root, _ := repository(dir)
	paths := func(file string) string { return relative(root, dir, file, filepath.Separator) }
	return diagnosticPrinters[format](w, l, sources(results), paths)
}

// mostDiagnostics is how many are printed of a file.
const mostDiagnostics = 100

// readable returns the worst diagnostics of each file, in their order, and a line for
// each file that has more.
func readable(l diag.List) (worst diag.List, rest []string) {
	type kind struct {
		file     string
		severity diag.Severity
	}
	total, left := map[string]int{}, map[kind]int{}
	for _, severity := range []diag.Severity{diag.Error, diag.Warning, diag.Info} {
		for _, d := range l {
			if d.Severity == severity {
				if total[d.Pos.File]++; total[d.Pos.File] <= mostDiagnostics {
					left[kind{d.Pos.File, severity}]++
				}
			}
		}
	}
	told := map[string]bool{}
	for _, d := range l {
		k := kind{d.Pos.File, d.Severity}
		if left[k]--; left[k] >= 0 {
			worst = append(worst, d)
		} else if !told[k.file] {
			told[k.file] = true
			rest = append(rest, fmt.Sprintf("%s: %d more; --all prints them", cmp.Or(k.file, "-"), total[k.file]-mostDiagnostics))
		}
	}
	return worst, rest
}
