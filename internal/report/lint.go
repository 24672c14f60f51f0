package report

import (
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Lint lints the CRDs of a file that have unions, and compiled CRDs that record their unions in the
// annotation. It returns all diagnostics of compiling the file, and advice. There is advice even if
// the rules exceed a budget, but not if a declaration is invalid. The options are the options of
// compiling.
//
// The list is sorted, and nil if there are no findings. The caller owns it.
func Lint(f *crdpatch.File, opts crdpatch.Options) diag.List {
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
		// A plan has no diagnostics about the output. Like the plan, compile with the recorded
		// options.
		_, more := crdpatch.Compile(f, opts.AsCompiled())
		l = append(l, slices.DeleteFunc(more, func(d diag.Diagnostic) bool { return d.Code == codes.RuleRemoved })...)
	}
	for i, d := range resolved(crds, wrong) {
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
		}
	}
	return l.Sort()
}

// resolved returns the unions of each CRD, or nil for a CRD without unions. If there are errors,
// the result is empty.
func resolved(crds []*crdpatch.CRD, wrong diag.List) []*compile.Declared {
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

// advice are the checks of a single union.
var advice = []func(*lintedUnion) diag.List{
	noEnum, valueWithoutMember, sharedValue, requiredChildren, emptyMember, undiscriminated, unusedDiscriminator, versionBypass, tableBypass, neverUnchanged,
}

// adviceOn returns the checks for a union. Items of a list have no schemas of their own to check.
func adviceOn(s *lintedUnion) []func(*lintedUnion) diag.List {
	if s.OfItems() {
		return []func(*lintedUnion) diag.List{versionBypass, tableBypass, neverUnchanged}
	}
	return advice
}
