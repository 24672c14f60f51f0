package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// where returns the path of the changed schema. If versions is true, or there is no path, it begins
// with the names of the compared versions.
func (c Change) where(versions bool) string {
	path := c.Path.String()
	if path == "" && c.Sort != VersionSort {
		path = "(root)"
	}
	if name := c.versions(); (versions || path == "") && name != "" {
		return strings.TrimSpace(name + " " + path)
	}
	return path
}

// versions returns the names of the compared versions as text.
func (c Change) versions() string {
	if c.Version == "" || c.NewVersion == "" || c.Version == c.NewVersion {
		return c.Version + strings.TrimPrefix(c.NewVersion, c.Version)
	}
	return c.Version + " -> " + c.NewVersion
}

// title describes the change in one line.
func (c Change) title() string {
	if strings.HasPrefix(c.What, c.Subject) || c.Sort == VersionSort {
		return c.What
	}
	return c.Subject + ": " + c.What
}

// several reports whether changes affect more than one version.
func (r Comparison) several() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.versions() != r.Changes[0].versions() })
}

// examples returns the counterexamples of a change, with their titles.
func (c Change) examples() []titled {
	refused, accepted := "was accepted and is rejected now", "is accepted now and was rejected"
	if c.Version != c.NewVersion {
		const format = "is accepted by %s and rejected by %s"
		refused, accepted = fmt.Sprintf(format, c.Version, c.NewVersion), fmt.Sprintf(format, c.NewVersion, c.Version)
	}
	l := []titled{{refused, c.Refused}, {accepted, c.Accepted}}
	return slices.DeleteFunc(l, func(t titled) bool { return t.Counterexample == nil })
}

type titled struct {
	title string
	*Counterexample
}

// ComparisonDocument returns reports for people: a table for each CRD that changed, and the examples as YAML
// for pasting.
func ComparisonDocument(reports []Comparison) report.Document {
	var d report.Document
	for _, r := range reports {
		if len(r.Changes) == 0 {
			continue
		}
		d.Heading(2, report.N(r.Name), ": ", r.Class())
		table := report.Table{Columns: []report.Column{{}, {Name: "where"}, {Name: "change"}}}
		for _, c := range r.Changes {
			table.Row(c.Class, report.N(c.where(r.several())), c.title())
		}
		d.Add(table)
		for _, c := range r.Changes {
			details := c.details()
			if len(details) == 0 {
				continue
			}
			head := report.Concat(c.title())
			if where := c.where(r.several()); where != "" {
				head = report.Concat(report.N(where), ": ", head)
			}
			d.Heading(3, head)
			d.Add(details...)
		}
	}
	d.Say(tally(reports))
	return d
}

// details returns the parts of a change that do not fit into a table.
func (c Change) details() report.Document {
	var d report.Document
	if c.Undecided != "" {
		d.Say("Not decided: ", c.Undecided)
	}
	if c.Note != "" {
		d.Say(c.Note)
	}
	for _, e := range c.examples() {
		d.Say("This ", e.title, ":")
		d.Add(report.Quote(e.Errors))
		if c.Advice != "" && e.Counterexample == c.Refused {
			d.Say(c.Advice)
		}
		d.Add(report.Example(e.Old, e.Object))
	}
	return d
}

// tally counts CRDs by class.
func tally(reports []Comparison) string {
	if len(reports) == 1 {
		return "1 CRD: " + string(reports[0].Class())
	}
	counts := map[Class]int{}
	for _, r := range reports {
		counts[r.Class()]++
	}
	var parts []string
	for _, class := range slices.Backward(Classes) {
		if n := counts[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, class))
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%d CRDs: %s", len(reports), strings.Join(parts, ", ")), ": ")
}

// ComparisonData returns reports for programs, to be written as JSON: an array with an object for each CRD.
func ComparisonData(reports []Comparison) any {
	type change struct {
		Change
		Path string `json:"path"`
		From string `json:"from,omitempty"`
	}
	type comparison struct {
		CRD     string   `json:"crd"`
		Class   Class    `json:"class"`
		Changes []change `json:"changes"`
	}
	out := []comparison{}
	for _, r := range reports {
		j := comparison{r.Name, r.Class(), []change{}}
		for _, c := range r.Changes {
			j.Changes = append(j.Changes, change{c, c.Path.String(), c.From.String()})
		}
		out = append(out, j)
	}
	return out
}

// ComparisonDiagnostics returns the changes of reports as diagnostics. A change that rejects objects accepted
// before is an error, and an undecided change is a warning.
func ComparisonDiagnostics(reports []Comparison) diag.List {
	var l diag.List
	for _, r := range reports {
		for _, c := range r.Changes {
			d := diag.New(codes.Looser, c.Pos, "%s: %s: %s", r.Name, string(c.Class), english.OneLine(c.title())).At(c.Path.String())
			switch {
			case c.Class == Undecided:
				d.Code, d.Severity, d.Hint = codes.Undecided, diag.Warning, c.Undecided
			case c.Class.Refuses():
				d.Code, d.Severity = codes.Tighter, diag.Error
				if c.Refused != nil {
					d.Hint = "the API server's error: " + strings.Join(c.Refused.Errors, "; ")
				}
			}
			if d.Hint == "" {
				d.Hint = c.Note
			}
			if c.versions() != "" {
				d.Message += " (" + c.versions() + ")"
			}
			l = append(l, d)
		}
	}
	return l
}

// DiffReport returns the report on differences and, unless summaries is nil, on stored objects.
func DiffReport(reports []Comparison, summaries []*Summary) report.Report {
	r := report.Report{
		Data:        ComparisonData(reports),
		Document:    append(ComparisonDocument(reports), SummaryDocument(summaries)...),
		Diagnostics: append(ComparisonDiagnostics(reports), SummaryDiagnostics(summaries)...),
	}
	if summaries != nil {
		r.Data = struct {
			CRDs    any `json:"crds"`
			Objects any `json:"objects"`
		}{r.Data, summaries}
	}
	return r
}
