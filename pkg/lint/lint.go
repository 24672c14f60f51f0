package lint

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options say how the unions would be compiled; the zero value is the default.
type Options struct {
	// KubeVersion and Encoding are those of [compile.Options]. Where they are not
	// given, those that a compiled CRD was compiled with count.
	KubeVersion string
	Encoding    compile.Encoding
	// Elsewhere are declarations that do not stand in the CRDs.
	Elsewhere union.Elsewhere
	// Limits bound what a file may ask for.
	Limits limit.Limits
}

// compiler are the options as the compiler takes them.
func (o Options) compiler() crdpatch.Options {
	return crdpatch.Options{KubeVersion: o.KubeVersion, Encoding: o.Encoding, Elsewhere: o.Elsewhere, Limits: o.Limits}
}

// File lints the CRDs of a file: those with unions, and those that were compiled and
// remember theirs. name is the file's name in what it returns: every diagnostic of
// compiling the file, errors, warnings and notes, and advice. Advice is there even
// when the rules do not fit, but not when a declaration is wrong. What comments in
// src switch off is left out.
//
// The list is sorted, and nil when there is nothing to say. The caller owns it; src is
// not changed.
func File(name string, src []byte, opts Options) diag.List {
	l, plans := compiled(name, src, opts)
	declared, _ := crdpatch.Declared(name, src, opts.compiler()) // what is wrong is in l
	for i := range declared {
		for _, s := range subjects(name, &declared[i]) {
			for _, rule := range advice {
				l = append(l, rule(s)...)
			}
		}
	}
	for _, p := range plans {
		l = append(l, costly(p, declared)...)
		l = append(l, slow(p, declared, explainIn(name, src, opts))...)
	}
	if len(declared) > 0 {
		comments := commentsOfFile(name, src, declared)
		l = comments.Apply(l)
		l = append(l, comments.Useless()...)
	}
	return l.Sort()
}

// compiled returns what compiling the file would say, and how it would be done.
func compiled(name string, src []byte, opts Options) (diag.List, []crdpatch.Explanation) {
	o := opts.compiler()
	plans, l := crdpatch.Explain(name, src, o)
	if l.HasErrors() || len(plans) == 0 {
		return l, nil
	}
	// Explain leaves out what is said of the output.
	if o.Encoding == compile.Auto {
		o.Encoding = recorded(plans)
	}
	_, more := crdpatch.Compile(name, src, o)
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
	noEnum, valueWithoutMember, requiredChildren, emptyMember, undiscriminated, unusedDiscriminator, versionBypass, tableBypass, neverUnchanged,
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
