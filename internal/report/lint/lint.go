package lint

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// File lints the CRDs of a file: those with unions, and those that were compiled and
// remember theirs. It returns every diagnostic of compiling the file, errors, warnings
// and notes, and advice. Advice is there even when the rules do not fit, but not when a
// declaration is wrong. Comments in the file switch findings off. The options say how the unions
// would be compiled.
//
// The list is sorted, and nil when there is nothing to say. The caller owns it.
func File(f *crdfile.File, opts crdfile.Options) diag.List {
	crds, wrong := f.CRDs(opts)
	l := slices.Clone(wrong)
	plans := make([]*compile.Plan, len(crds))
	for i, c := range crds {
		plan, more := c.Plan()
		plans[i], l = plan, append(l, more...)
	}
	planned := slices.ContainsFunc(plans, func(p *compile.Plan) bool { return p != nil })
	if l.HasErrors() {
		plans = nil
	}
	if planned {
		// A plan leaves out the diagnostics about the output, and is made with recorded options.
		opts.AsRecorded = true
		_, more := crdpatch.Compile(f, opts)
		l = append(l, more...)
	}
	declared := resolved(crds, wrong)
	for i, d := range declared {
		if d == nil {
			continue
		}
		for _, s := range subjects(f.Name(), d) {
			for _, rule := range adviceOn(s) {
				l = append(l, rule(s)...)
			}
			l = failing(s, l)
		}
		if plans != nil && plans[i] != nil {
			l = append(l, costly(plans[i], d.CRD)...)
			l = append(l, slow(crds[i], plans[i], d.CRD)...)
		}
	}
	if slices.ContainsFunc(declared, func(d *compile.Declared) bool { return d != nil }) {
		comments := commentsOfFile(f, declared)
		l = comments.Apply(l)
		l = append(l, comments.Useless()...)
	}
	return l.Sort()
}

// resolved are the unions of each CRD, nil for one without. With errors there are none.
func resolved(crds []*crdfile.CRD, wrong diag.List) []*compile.Declared {
	var l []*compile.Declared
	for _, c := range crds {
		d, more := c.Resolved()
		l, wrong = append(l, d), append(wrong, more...)
	}
	if wrong.HasErrors() {
		return nil
	}
	return l
}

// advice are the rules, each of which looks at one union.
var advice = []func(*subject) diag.List{
	noEnum, valueWithoutMember, sharedValue, requiredChildren, emptyMember, undiscriminated, unusedDiscriminator, versionBypass, tableBypass, neverUnchanged,
}

// adviceOn are those that apply to a union: items of a list have no schemas of their own.
func adviceOn(s *subject) []func(*subject) diag.List {
	if s.OfItems() {
		return []func(*subject) diag.List{versionBypass, tableBypass, neverUnchanged}
	}
	return advice
}

// Codes returns the codes of what can be switched off, in ascending order.
func Codes() []diag.Code {
	var l []diag.Code
	for _, info := range diag.Codes {
		if info.Severity != diag.Error {
			l = append(l, info.Code)
		}
	}
	return slices.Clip(l)
}
