package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// DiagnosticFormats are the formats of diagnostics, the default first.
var DiagnosticFormats = []string{"text", "json", "sarif", "github"}

// Formats returns the formats of reports, the default first. Reports with positions support the
// formats of diagnostics as well.
func Formats(positions bool) []string {
	if positions {
		return []string{"text", "markdown", "json", "github", "sarif"}
	}
	return []string{"text", "markdown", "json"}
}

// DiagnosticOptions configure [WriteDiagnostics].
type DiagnosticOptions struct {
	SARIFOptions
	// Format is one of [DiagnosticFormats].
	Format string
	// Colour selects [diag.ColorText].
	Colour bool
	// All prints all diagnostics in formats for people, not only the most severe ones of a file.
	All bool
	// Source returns the text of a file for excerpts, or nil.
	Source func(file string) []byte
}

// WriteDiagnostics prints sorted diagnostics in a format.
func WriteDiagnostics(w io.Writer, l diag.List, opts DiagnosticOptions) error {
	switch opts.Format {
	case "json":
		return diag.JSON(w, l)
	case "sarif":
		return WriteSARIF(w, l, opts.SARIFOptions)
	}
	l = folded(l)
	if !opts.All {
		var rest []string
		l, rest = readable(l)
		defer func() {
			for _, line := range rest {
				fmt.Fprintln(w, diag.Escape(line))
			}
		}()
	}
	switch {
	case opts.Format == "github":
		return diag.GitHub(w, l, opts.Path)
	case opts.Colour:
		return diag.ColorText(w, l, opts.Source)
	}
	return diag.Text(w, l, opts.Source)
}

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

// MostDiagnostics is the number of diagnostics that are printed per file.
const MostDiagnostics = 100

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
				if total[d.Pos.File]++; total[d.Pos.File] <= MostDiagnostics {
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
			rest = append(rest, fmt.Sprintf("%s: %d more; --all prints them", cmp.Or(k.file, "-"), total[k.file]-MostDiagnostics))
		}
	}
	return worst, rest
}
