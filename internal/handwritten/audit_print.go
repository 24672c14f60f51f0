package handwritten

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
)

// maxListed bounds the rules in a list that people read.
const maxListed = 10

// AuditDocument returns findings for people, with a tally. Equal findings are written once.
func AuditDocument(l []Finding) report.Document {
	var d report.Document
	notDecided := func(f Finding) bool { return f.Code == codes.NotDecided }
	open := slices.DeleteFunc(slices.Clone(l), func(f Finding) bool { return !notDecided(f) })
	l = slices.DeleteFunc(slices.Clone(l), notDecided)
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
			d.Say("Also in ", english.Plural(len(others), "other rule"), ":")
			d.Add(listed(others, func(Finding) string { return "" }))
		}
	}
	if len(open) > 0 {
		d.Say("Not decided:")
		d.Add(listed(open, func(f Finding) string { return ": " + f.Message }))
	}
	d.Say(english.Plural(len(l), "finding"))
	return d
}

// listed returns the places of rules, with a text each.
func listed(l []Finding, text func(Finding) string) (list report.List) {
	for _, f := range l[:min(len(l), maxListed)] {
		list.Add(report.N(f.Pos.String()), ": ", report.N(f.CRD), " (", f.Path, ", ", f.Version, ")", text(f))
	}
	if more := len(l) - maxListed; more > 0 {
		list.Add(more, " more; --format json has all of them")
	}
	return list
}

// fingerprint returns texts that are the same for equal findings. They may be in several schemas,
// versions and CRDs. Rules that fail on values of the right type are alike.
func (f Finding) fingerprint() [4]string {
	if f.Hint == unfit {
		what, _, _ := strings.Cut(f.Message, " from '") // conversions are alike, whatever the types
		return [4]string{string(f.Code), what, f.Hint}
	}
	return [4]string{string(f.Code), f.Rule, f.Message, f.Hint}
}

// write adds a finding without its heading.
func (f Finding) write(d *report.Document) {
	d.Say(f.Message)
	d.Add(report.Code{Language: "cel", Text: f.Rule + "\n"})
	if f.Example != nil {
		who, verb := "The API server", " accepts:"
		switch {
		case f.Without > 0:
			who = "Without the rules below, the API server"
		case f.ofStatus:
			who = "When the status is written, the API server"
		}
		if f.Response != "" {
			verb = " rejects:"
		}
		d.Say(who + verb)
		d.Add(report.Example(f.Example.Old, f.Between, f.Example.New))
		if f.Response != "" {
			d.Add(report.Quote{f.Response})
		}
	}
	for _, r := range f.Related {
		d.Say("See ", report.N(r.Pos.String()), ": "+r.Message)
	}
	if len(f.Fixes) == 0 {
		d.Say("Fix: ", f.Hint)
	}
	for i, x := range f.Fixes {
		switch {
		case x.Path != "":
			d.Say("Fix: add the following rule to ", report.N(x.Path), x.effect, ":")
		case i == 0:
			d.Say("Fix: write the following rule", x.effect, ":")
		default:
			d.Say("Or write the following rule", x.effect, ":")
		}
		d.Add(report.Code{Language: "cel", Text: x.Rule + "\n"})
	}
}
