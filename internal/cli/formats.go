package cli

import (
	"bytes"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// reportFormatNames returns the formats of reports, the default first. Reports with positions support
// the formats of diagnostics as well.
func reportFormatNames(positions bool) []string {
	if positions {
		return []string{"text", "markdown", "json", "github", "sarif"}
	}
	return []string{"text", "markdown", "json"}
}

// showReport prints a report.
func (a *app) showReport(output *printing, r report.Report) error {
	switch output.format {
	case "json":
		var out bytes.Buffer
		if err := diag.WriteJSON(&out, r.Data); err != nil {
			return err
		}
		return a.write(output.path, out.Bytes())
	case "text":
		return a.writeText(output.path, r.Document.Text())
	case "markdown":
		return a.writeText(output.path, r.Document.Markdown())
	}
	return a.showFindings(output, r.Diagnostics)
}
