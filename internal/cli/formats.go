package cli

import (
	"bytes"
	"io"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// reportable is the result of a command as a document, as data and, if it has positions in files,
// as diagnostics.
type reportable struct {
	document    func() (report.Document, error)
	data        func() (any, error)
	diagnostics func() diag.List
}

// reportFormats are the formats of reports, the default first. Reports with diagnostics support the
// formats of diagnostics as well.
var reportFormats = []struct {
	name  string
	write func(io.Writer, reportable) error
}{
	{"text", documentWriter(report.WriteText)},
	{"markdown", documentWriter(report.WriteMarkdown)},
	{"json", func(w io.Writer, r reportable) error {
		data, err := r.data()
		if err != nil {
			return err
		}
		return diag.WriteJSON(w, data)
	}},
}

func documentWriter(write func(io.Writer, report.Document) error) func(io.Writer, reportable) error {
	return func(w io.Writer, r reportable) error {
		d, err := r.document()
		if err != nil {
			return err
		}
		return write(w, d)
	}
}

// reportFormatNames returns the formats of reports, with positions or without.
func reportFormatNames(positions bool) []string {
	var names []string
	for _, f := range reportFormats {
		names = append(names, f.name)
	}
	if positions {
		names = append(names, "github", "sarif")
	}
	return names
}

// showReport prints a report. Diagnostics quote the files of results.
func (a *app) showReport(output *printing, r reportable, results []result) error {
	for _, f := range reportFormats {
		if f.name == output.name {
			var out bytes.Buffer
			if err := f.write(&out, r); err != nil {
				return err
			}
			return a.writeText(output, out.Bytes())
		}
	}
	return a.showFindings(output, r.diagnostics(), results)
}
