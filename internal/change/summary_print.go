package change

import (
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// meanings explain the states.
var meanings = [Blocked + 1]string{
	Legal:      "valid",
	Ratcheted:  "invalid, but writes that leave the invalid values unchanged are accepted",
	Restricted: "invalid, and some writes that leave the invalid values unchanged are rejected",
	Blocked:    "rejected even unchanged: a storage migration fails",
}

// counts lists the number of objects in each state that occurs: "3 legal, 1 blocked".
func counts(states map[Outcome]int) string {
	var l []string
	for state := range Blocked + 1 {
		if n := states[state]; n > 0 {
			l = append(l, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(l, ", ")
}

// name returns the name of the object, with its namespace.
func (v Prediction) name() string { return strings.TrimPrefix(v.Namespace+"/"+v.Name, "/") }

// refused lists the rejected writes.
func (v Prediction) refused() string {
	var l []string
	for _, w := range v.RefusedWrites() {
		l = append(l, string(w))
	}
	return strings.Join(l, ", ")
}

// InWords returns the state, and the versions if the object is legal in some version.
func (v Prediction) InWords() string {
	said := v.State.String()
	var in []string
	for _, o := range v.Versions {
		if o.State > Legal {
			in = append(in, o.Version)
		}
	}
	if len(in) > 0 && len(in) < len(v.Versions) {
		said += " in " + strings.Join(in, ", ")
	}
	return said
}

// SummaryDocument returns summaries for people.
func SummaryDocument(summaries []*Summary) report.Document {
	var d report.Document
	for _, s := range summaries {
		d.Heading(2, "Stored objects: ", report.N(s.Name()), ": ", s.Objects)
		states := report.Table{Columns: []report.Column{{Name: "objects", Number: true}, {Name: "state"}, {Name: "meaning"}}}
		for state := range Blocked + 1 {
			if n := s.States[state]; n > 0 {
				states.Row(n, state, meanings[state])
			}
		}
		if s.Objects > 0 {
			d.Add(states)
		}
		for _, r := range s.Reasons {
			d.Heading(3, report.N(r.Constraint.String()), ": ", counts(r.States))
			if r.Constraint.IsRule() {
				d.Add(report.Code{Language: "cel", Text: english.OneLine(r.Constraint.Rule) + "\n"})
			}
			d.Add(report.Quote{r.Message})
			if r.Repairable > 0 {
				d.Say("A patch repairs ", r.Repairable, " of them.")
			}
			objects := report.List{}
			for _, e := range r.Examples {
				line := report.Concat(report.N(e.Pos.String()), ": ", report.N(e.name()), ": ", e.InWords())
				if refused := e.refused(); refused != "" {
					line = append(line, report.Concat(", rejected: ", refused)...)
				}
				item := report.Item{Line: line}
				if repair := r.repair(e.Prediction); repair != nil {
					item.Blocks.Add(report.Code{Language: "sh", Text: repair.Command + "\n"})
				}
				objects.Items = append(objects.Items, item)
			}
			if more := r.Objects - len(r.Examples); more > 0 {
				objects.Add("and ", more, " more")
			}
			d.Add(objects)
		}
		if s.Losing > 0 {
			d.Heading(3, "The next write loses fields: ", s.Losing)
			objects := report.List{}
			for _, e := range s.Lost {
				fields, _ := e.Losses()
				objects.Add(report.N(e.Pos.String()), ": ", report.N(e.name()), ": ", fields)
			}
			if more := s.Losing - len(s.Lost); more > 0 {
				objects.Add("and ", more, " more")
			}
			d.Add(objects)
		}
	}
	return d
}

// SummaryDiagnostics returns the examples as diagnostics. A blocked object is an error, and a restricted
// object a warning.
func SummaryDiagnostics(summaries []*Summary) diag.List {
	var l diag.List
	for _, s := range summaries {
		for _, r := range s.Reasons {
			for _, e := range r.Examples {
				d := diag.New(codes.StoredObject, e.Pos,
					"%s is %s: %s", e.Prediction, e.InWords(), english.OneLine(r.said(e.Prediction))).At(r.Constraint.Path.String()).As(severities[e.State])
				if repair := r.repair(e.Prediction); repair != nil {
					d.Hint = repair.Command
				}
				l = append(l, d)
			}
		}
	}
	return l
}

var severities = [Blocked + 1]diag.Severity{Legal: diag.Info, Ratcheted: diag.Info, Restricted: diag.Warning, Blocked: diag.Error}

// said returns the server's error for the constraint.
func (r *Reason) said(v Prediction) string {
	for _, p := range v.Problems() {
		if r.is(p.Constraint) {
			return p.String()
		}
	}
	return r.Message
}
