package cli

import (
	"bytes"

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

// reportFormatNames returns the formats of reports, the default first. Reports with positions support
// the formats of diagnostics as well.
func reportFormatNames(positions bool) []string {
	if positions {
		return []string{"text", "markdown", "json", "github", "sarif"}
	}
	return []string{"text", "markdown", "json"}
}

// showReport prints a report.
func (a *app) showReport(output *printing, r reportable) error {
	write := report.WriteText
	switch output.format {
	case "json":
		data, err := r.data()
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := diag.WriteJSON(&out, data); err != nil {
			return err
		}
		return a.write(output.path, out.Bytes())
	case "text":
	case "markdown":
		write = report.WriteMarkdown
	default:
		return a.showFindings(output, r.diagnostics())
	}
	d, err := r.document()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(&out, d); err != nil {
		return err
	}
	return a.writeText(output.path, out.String())
}
