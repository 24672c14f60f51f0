package audit

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/report/proof"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Finding is a mistake in a rule.
type Finding struct {
	Code     diag.Code
	Severity diag.Severity
	CRD      string
	Place    schemapath.Place
	Pos      diag.Pos // of the rule
	Rule     string
	Message  string
	Hint     string // the fix
	Fix      string // a rule to write in the place of this one, as in Hint; or empty
	rest     string // the sentence of Hint after Fix
	Related  []diag.Related
	// Example is an object that shows the mistake, or an update if Old is not nil. Response is the
	// error of the API server, or empty if it accepts the example. They are zero for costs
	// and for rules that do not compile.
	Example  verify.Example
	Response string
	// Without is the number of rules that the API server's answer leaves out. Related names them.
	Without int

	of rule
}

// finding returns a finding about a rule. Example may be nil.
func (v *version) finding(code diag.Code, r rule, e *prove.Example, response, format string, args ...any) Finding {
	place := schemapath.Place{Version: v.index, Name: v.name, Path: r.path}
	info, _ := code.Info()
	f := Finding{Code: code, Severity: info.Severity, CRD: v.source.Target().Name, Place: place,
		Pos:  v.source.Constraint(place, verify.Constraint{Key: "x-kubernetes-validations", Index: r.Index}),
		Rule: r.Text, Message: fmt.Sprintf(format, args...), Response: response, of: r}
	if e != nil {
		f.Example = verify.Example{Old: e.Old, New: e.New}
	}
	return f
}

// hinted returns the finding with a fix.
func (f Finding) hinted(format string, args ...any) Finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// fixed returns the finding with a rule to write, and the rest of the sentence; without such a rule,
// with a hint.
func (f Finding) fixed(fix, rest string) Finding {
	if fix == "" {
		return f.hinted("%s", rest)
	}
	f.Fix, f.rest = fix, rest
	return f.hinted("write %s%s", fix, rest)
}

// maxInline bounds the text of an example in a diagnostic.
const maxInline = 300

// Diagnostics returns findings as diagnostics, with their examples in the messages.
func Diagnostics(l []Finding) diag.List {
	var out diag.List
	for _, f := range l {
		d := diag.New(f.Code, f.Pos, "%s", f.Message).In(f.Place).As(f.Severity).Hinted(f.Hint).
			With(f.Related...)
		if text := proof.Inline(f.Example.New); text != "" && len(text) <= maxInline {
			d.Message += ": " + text
		}
		out = append(out, d)
	}
	return out
}
