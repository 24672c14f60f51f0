package handwritten

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Finding is a mistake in a rule.
type Finding struct {
	diag.Diagnostic        // at the rule, with the fix as its hint
	Title           string `json:"title"`
	CRD             string `json:"crd"`
	Version         string `json:"version"`
	Rule            string `json:"rule"`
	// Fixes are the rules of the hint, any of which corrects the mistake.
	Fixes []Fix `json:"fixes,omitempty"`
	// Example is an object that shows the mistake, or an update if Old is not nil. Response is the
	// error of the API server, or empty if it accepts the example. They are zero for costs
	// and for rules that do not compile.
	Example *verify.Example `json:"example,omitempty"`
	// Between, unless nil, is the object after the first of two updates: Example.New is the one after the second.
	Between  map[string]any `json:"between,omitempty"`
	Response string         `json:"response,omitempty"`
	// Without is the number of rules that the API server's answer leaves out. Related names them.
	Without int `json:"-"`

	of rule
	// ofStatus means that the rule is on the status, which clients write apart.
	ofStatus bool
	// guarded, unless nil, is the fix of a finding of bypassed.
	guarded *further
}

// Fix is a rule to write in the place of the audited one or, with a path, to add to the schema there.
type Fix struct {
	Rule string `json:"rule"`
	Path string `json:"path,omitempty"`

	effect string // continues a sentence
}

// finding returns a finding about a rule. Example may be nil.
func (v *version) finding(code diag.Code, r rule, e *prove.Example, response, format string, args ...any) Finding {
	place := schemapath.Place{Version: v.index, Name: v.name, Path: r.path}
	at := v.source.Constraint(place, verify.Constraint{Key: "x-kubernetes-validations", Index: r.Index})
	f := AuditError(diag.New(code, at, format, args...).In(place))
	f.CRD, f.Version, f.Rule, f.Response, f.of = v.source.Target().Name, v.name, r.Text, response, r
	f.ofStatus = v.statusApart && len(r.path) > 0 && r.path[0] == schemapath.Property("status")
	if e != nil {
		f.Example = &verify.Example{Old: e.Old, New: e.New}
	}
	return f
}

// AuditError returns the finding for an error of an input, which has no rules.
func AuditError(d diag.Diagnostic) Finding {
	info, _ := diag.Lookup(d.Code)
	d.Related = append([]diag.Related{}, d.Related...) // not null in JSON
	return Finding{Diagnostic: d, Title: info.Title}
}

// hinted returns the finding with a fix.
func (f Finding) hinted(format string, args ...any) Finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// fixed returns the finding with rules to write; without any, with a hint.
func (f Finding) fixed(fixes []Fix, hint string) Finding {
	f.Fixes, f.Hint = fixes, hint
	for i, x := range fixes {
		switch {
		case x.Path != "":
			f.Hint = "add the rule " + x.Rule + " to " + x.Path + x.effect
		case i == 0:
			f.Hint = "write " + x.Rule + x.effect
		default:
			f.Hint += ", or " + x.Rule + x.effect
		}
	}
	return f
}

// pathOf returns a path as findings write it.
func pathOf(path schemapath.Path) string { return schemapath.Place{Path: path}.String() }

// maxInline bounds the text of an example in a diagnostic.
const maxInline = 300

// AuditDiagnostics returns findings as diagnostics, with their examples in the messages.
func AuditDiagnostics(l []Finding) diag.List {
	var out diag.List
	for _, f := range l {
		d := f.Diagnostic
		if f.Example != nil {
			text := report.InlineObject(f.Example.New)
			if f.Between != nil {
				text = report.InlineObject(f.Example.Old) + ", " + report.InlineObject(f.Between) + ", " + text
			}
			if len(text) <= maxInline {
				d.Message += ": " + text
			}
		}
		out = append(out, d)
	}
	return out
}
