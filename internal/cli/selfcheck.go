package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// selfChecked makes a compilation fail unless its rules are proved to mean what
// the unions say.
func selfChecked(compiled transform) transform {
	return func(f *crdpatch.File) ([]byte, diag.List) {
		out, diags := compiled(f)
		if diags.HasErrors() {
			return out, diags
		}
		annotated := out
		if opts := f.Options(); opts.NoAnnotation {
			opts.NoAnnotation = false // it says what the unions were
			annotated, _ = f.With(opts).Compile()
		}
		sources, _ := f.Declared()
		results, problems := crdpatch.Declared(f.Name(), annotated, crdpatch.Options{Limits: f.Options().Limits})
		for _, d := range results {
			found, err := verifyDeclared(context.Background(), d)
			if err != nil {
				problems = append(problems, diag.Diagnostic{Code: diag.NotProved, Pos: diag.Pos{File: f.Name()}, Message: "the rules cannot be verified: " + err.Error()})
			}
			for _, v := range found {
				problems = append(problems, v.problems(sources)...)
			}
		}
		if problems.HasErrors() {
			return nil, append(diags, problems...).Sort()
		}
		return out, diags
	}
}

// problems are the diagnostics of what is not proved, at the declaration in the
// source.
func (v verified) problems(sources []compile.Declared) diag.List {
	at := diag.Pos{File: v.pos.File}
	for _, d := range sources {
		for _, o := range d.Objects {
			for i, u := range o.Unions {
				if d.Name == v.crd && o.Place.String() == v.path && slices.Equal(u.MemberNames(), v.Union.MemberNames()) {
					at = o.Declarations[i].Pos
				}
			}
		}
	}
	var l diag.List
	report := func(format string, args ...any) {
		l = append(l, diag.Diagnostic{Code: diag.NotProved, Pos: at, Path: v.path, Message: fmt.Sprintf(format, args...),
			Hint: "compile without --verify, and let unioncel verify print the whole result for the compiled file"})
	}
	for _, d := range v.Differences {
		if d.Accepted {
			report("%s: accepted, but the union forbids it: %s", v.label(), d.Words(v.Union))
		} else {
			report("%s: rejected by %s, but the union allows it: %s", v.label(), d.Rule, d.Words(v.Union))
		}
	}
	for _, s := range v.Inconclusive {
		report("%s: inconclusive: %s", v.label(), s)
	}
	return l
}
