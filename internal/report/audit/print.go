package audit

import (
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Document returns findings for people, with a tally. Equal findings are written once.
func Document(l []Finding) report.Document {
	var d report.Document
	also := map[[4]string][]Finding{}
	for _, f := range l {
		also[f.fingerprint()] = append(also[f.fingerprint()], f)
	}
	for _, f := range l {
		alike := also[f.fingerprint()]
		if len(alike) == 0 {
			continue // written
		}
		delete(also, f.fingerprint())
		d.Heading(2, report.N(f.Pos.String()), ": "+string(f.Code)+": ", report.N(f.CRD), " (", f.Place, ", "+f.Place.Name+")")
		f.write(&d)
		if others := alike[1:]; len(others) > 0 {
			var list report.List
			for _, o := range others {
				list.Items = append(list.Items, report.Item{Line: report.Concat(report.N(o.Pos.String()), ": ", report.N(o.CRD), " (", o.Place, ", "+o.Place.Name+")")})
			}
			d.Say("Also in ", english.Plural(len(others), "other rule"), ":")
			d.Add(list)
		}
	}
	d.Say(english.Plural(len(l), "finding"))
	return d
}

// fingerprint returns texts that are the same for equal findings. They may be in several schemas,
// versions and CRDs.
func (f Finding) fingerprint() [4]string {
	return [4]string{string(f.Code), f.Rule, f.Message, f.Hint}
}

// write adds a finding without its heading.
func (f Finding) write(d *report.Document) {
	d.Say(f.Message)
	d.Add(report.Code{Language: "cel", Text: f.Rule + "\n"})
	if f.Example.New != nil {
		said := "The API server accepts:"
		if f.Response != "" {
			said = "The API server rejects:"
		}
		if f.Without > 0 {
			said = "Without the faulty rules below, the" + strings.TrimPrefix(said, "The")
		}
		d.Say(said)
		d.Add(report.Example(f.Example.Old, f.Example.New))
		if f.Response != "" {
			d.Add(report.Quote{f.Response})
		}
	}
	for _, r := range f.Related {
		d.Say("See ", report.N(r.Pos.String()), ": "+r.Message)
	}
	if f.Fix == "" {
		d.Say("Fix: ", f.Hint)
		return
	}
	d.Say("Fix: write the following rule", f.rest, ":")
	d.Add(report.Code{Language: "cel", Text: f.Fix + "\n"})
}

// findingJSON is the JSON of a finding.
type findingJSON struct {
	Code     diag.Code     `json:"code"`
	Severity diag.Severity `json:"severity"`
	Title    string        `json:"title"`
	diag.Pos
	CRD      string          `json:"crd"`
	Version  string          `json:"version"`
	Path     string          `json:"path"`
	Schema   string          `json:"schema"`
	Rule     string          `json:"rule"`
	Message  string          `json:"message"`
	Hint     string          `json:"hint"`
	Fix      string          `json:"fix,omitempty"` // a rule to write
	Related  []placeJSON     `json:"related"`
	Example  *verify.Example `json:"example,omitempty"`
	Response string          `json:"response,omitempty"` // the error of the API server
}

// placeJSON is the JSON of a place that a finding refers to.
type placeJSON struct {
	diag.Pos
	Message string `json:"message"`
}

func placesOf(l []diag.Related) []placeJSON {
	out := []placeJSON{}
	for _, r := range l {
		out = append(out, placeJSON{r.Pos, r.Message})
	}
	return out
}

// Data returns findings for programs, to be written as a JSON list. It ends with the errors of the
// inputs, which have no rules.
func Data(l []Finding, errors diag.List) any {
	out := []findingJSON{}
	for _, f := range l {
		info, _ := f.Code.Info()
		j := findingJSON{Code: f.Code, Severity: f.Severity, Title: info.Title, Pos: f.Pos, CRD: f.CRD, Version: f.Place.Name,
			Path: f.Place.String(), Schema: f.Place.Structural(), Rule: f.Rule, Message: f.Message, Hint: f.Hint, Fix: f.Fix, Response: f.Response, Related: placesOf(f.Related)}
		if f.Example.New != nil {
			j.Example = &f.Example
		}
		out = append(out, j)
	}
	for _, d := range errors {
		info, _ := d.Code.Info()
		out = append(out, findingJSON{Code: d.Code, Severity: d.Severity, Title: info.Title, Pos: d.Pos,
			Path: d.Path, Schema: d.Schema, Message: d.Message, Hint: d.Hint, Related: placesOf(d.Related)})
	}
	return out
}
