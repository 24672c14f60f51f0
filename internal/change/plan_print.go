package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/report"
)

// PlanDocument returns a plan for people.
func PlanDocument(p Plan) report.Document {
	var d report.Document
	d.Heading(2, report.N(p.CRD), ": ", p.Verdict)
	steps := report.List{Numbered: true}
	for _, s := range p.Steps {
		item := report.Item{Line: report.Concat(report.S(string(s.State)), ": ", s.Title)}
		if s.Reason != "" {
			item.Blocks.Say(s.Reason)
		}
		details := report.List{}
		for _, text := range s.Details {
			details.Add(text)
		}
		if len(details.Items) > 0 {
			item.Blocks.Add(details)
		}
		if len(s.Run) > 0 {
			item.Blocks.Add(report.Code{Language: "sh", Text: strings.Join(s.commands(), "\n") + "\n"})
		}
		steps.Items = append(steps.Items, item)
	}
	d.Add(steps)
	if len(p.Versions) > 1 {
		d.Add(p.table())
	}
	return d
}

// commands returns the commands of the step, with the manifest as a here-document.
func (s Step) commands() []string {
	l := slices.Clone(s.Run)
	if s.Manifest != "" && len(l) > 0 {
		l[len(l)-1] += " <<'EOF'"
		l = append(l, strings.Split(strings.TrimSuffix(s.Manifest, "\n"), "\n")...)
		l = append(l, "EOF")
	}
	return l
}

func (p Plan) table() report.Table {
	t := report.Table{}
	for _, name := range []string{"version", "served", "storage", "stored", "managed", "removable"} {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	word := map[bool]string{true: "yes", false: "no"}
	for _, v := range p.Versions {
		stored, managed := "unknown", "unknown"
		if v.Stored != nil {
			stored = word[*v.Stored]
		}
		if v.Managed != nil {
			managed = fmt.Sprint(*v.Managed)
		}
		t.Row(v.Name, word[v.Served], word[v.Storage], stored, managed, report.Concat(v.Removable, ": ", v.Why))
	}
	return t
}
