package audit

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
)

// maxOpen bounds the undecided rules that people read.
const maxOpen = 10

// Document returns findings for people, with a tally. Equal findings are written once.
func Document(l []Finding) report.Document {
	var d report.Document
	var open report.List
	undecided := 0
	l = slices.DeleteFunc(slices.Clone(l), func(f Finding) bool {
		if f.Code != codes.NotDecided {
			return false
		}
		if undecided++; undecided <= maxOpen {
			open.Add(report.N(f.Pos.String()), ": ", report.N(f.CRD), " (", f.Path, ", ", f.Version, "): ", f.Message)
		}
		return true
	})
	if undecided > maxOpen {
		open.Add(undecided-maxOpen, " more; --format json has all of them")
	}
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
		d.Heading(2, report.N(f.Pos.String()), ": "+string(f.Code)+": ", report.N(f.CRD), " (", f.Path, ", ", f.Version, ")")
		f.write(&d)
		if others := alike[1:]; len(others) > 0 {
			var list report.List
			for _, o := range others {
				list.Add(report.N(o.Pos.String()), ": ", report.N(o.CRD), " (", o.Path, ", ", o.Version, ")")
			}
			d.Say("Also in ", english.Plural(len(others), "other rule"), ":")
			d.Add(list)
		}
	}
	if undecided > 0 {
		d.Say("Not decided:")
		d.Add(open)
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
	if f.Example != nil {
		said := "The API server accepts:"
		if f.Response != "" {
			said = "The API server rejects:"
		}
		if f.Without > 0 {
			said = "Without the faulty rules below, the" + strings.TrimPrefix(said, "The")
		}
		d.Say(said)
		d.Add(report.Example(f.Example.Old, f.Between, f.Example.New))
		if f.Response != "" {
			d.Add(report.Quote{f.Response})
		}
	}
	for _, r := range f.Related {
		d.Say("See ", report.N(r.Pos.String()), ": "+r.Message)
	}
	if len(f.fixes) == 0 {
		d.Say("Fix: ", f.Hint)
	}
	for i, fix := range f.fixes {
		start := "Fix: write the following rule"
		if i > 0 {
			start = "Or write the following rule"
		}
		d.Say(start, fix.effect, ":")
		d.Add(report.Code{Language: "cel", Text: fix.rule + "\n"})
	}
}
