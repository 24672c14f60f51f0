package lint

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// File lints the CRDs of a file: those with unions, and those that were compiled and
// remember theirs. It returns every diagnostic of compiling the file, errors, warnings
// and notes, and advice. Advice is there even when the rules do not fit, but not when a
// declaration is wrong. What comments in the file switch off is left out. Of the options
// with which it was opened those count that say how the unions would be compiled.
//
// The list is sorted, and nil when there is nothing to say. The caller owns it.
func File(f *crdpatch.File) diag.List {
	l, plans := compiled(f)
	declared, _ := f.Resolved() // what is wrong is in l
	for i := range declared {
		for _, s := range subjects(f.Name(), &declared[i]) {
			for _, rule := range adviceOn(s) {
				l = append(l, rule(s)...)
			}
			l = failing(s, l)
		}
	}
	for _, p := range plans {
		l = append(l, costly(p, declared)...)
		l = append(l, slow(p, declared, explainIn(f))...)
	}
	if len(declared) > 0 {
		comments := commentsOfFile(f, declared)
		l = comments.Apply(l)
		l = append(l, comments.Useless()...)
	}
	return l.Sort()
}

// compiled returns what compiling the file would say, and how it would be done.
func compiled(f *crdpatch.File) (diag.List, []crdpatch.Explanation) {
	plans, l := f.Explain()
	if l.HasErrors() || len(plans) == 0 {
		return l, nil
	}
	// Explain leaves out what is said of the output.
	o := f.Options()
	if o.Encoding == compile.Auto {
		o.Encoding = recorded(plans)
	}
	_, more := f.With(o).Compile()
	return append(l, more...), plans
}

// recorded is the encoding that unions must have been compiled with before, since
// nothing else leads to it.
func recorded(plans []crdpatch.Explanation) compile.Encoding {
	for _, p := range plans {
		for _, u := range p.Unions {
			if e := compile.Encoding(u.Encoding); e == compile.OpenAPI || e == compile.Terse {
				return e
			}
		}
	}
	return compile.Auto
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
