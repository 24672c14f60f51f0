package handwritten

import (
	"fmt"
	"strings"

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
	// Fix is the rule to write in the place of this one, if the hint has a single one; or empty.
	Fix string `json:"fix,omitempty"`
	// Guard is a rule to add, or nil.
	Guard *Guard `json:"guard,omitempty"`
	// Example is an object that shows the mistake, or an update if Old is not nil. Response is the
	// error of the API server, or empty if it accepts the example. They are zero for costs
	// and for rules that do not compile.
	Example *verify.Example `json:"example,omitempty"`
	// Between, unless nil, is the object after the first of two updates: Example.New is the one after the second.
	Between  map[string]any `json:"between,omitempty"`
	Response string         `json:"response,omitempty"`
	// Without is the number of rules that the API server's answer leaves out. Related names them.
	Without int `json:"-"`

	fixes []fix // of the hint
	of    rule
}

// Guard is a rule to add to the schema at a path.
type Guard struct {
	Path string `json:"path"`
	Rule string `json:"rule"`

	at     schemapath.Path
	effect string // continues a sentence
}

// finding returns a finding about a rule. Example may be nil.
func (v *version) finding(code diag.Code, r rule, e *prove.Example, response, format string, args ...any) Finding {
	place := schemapath.Place{Version: v.index, Name: v.name, Path: r.path}
	at := v.source.Constraint(place, verify.Constraint{Key: "x-kubernetes-validations", Index: r.Index})
	f := AuditError(diag.New(code, at, format, args...).In(place))
	f.CRD, f.Version, f.Rule, f.Response, f.of = v.source.Target().Name, v.name, r.Text, response, r
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
func (f Finding) fixed(fixes []fix, hint string) Finding {
	if len(fixes) == 0 {
		return f.hinted("%s", hint)
	}
	var l []string
	for _, fix := range fixes {
		l = append(l, fix.rule+fix.effect)
	}
	if f.fixes = fixes; len(fixes) == 1 {
		f.Fix = fixes[0].rule
	}
	return f.hinted("write %s", strings.Join(l, ", or "))
}

// fix is a rule to write, with its effect, which continues a sentence.
type fix struct{ rule, effect string }

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
