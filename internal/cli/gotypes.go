package cli

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/declared/infer"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/verify"
)

// inferredUnion is a found union with the result of its file.
type inferredUnion struct {
	*result
	infer.Located
}

// declareInGo writes markers for the found unions into the Go files that the CRDs are generated from,
// or previews the changes. Unions that would not compile, or that markers cannot declare, are left
// out.
func (a *app) declareInGo(flags *inferring, results []result, found [][]infer.Located) error {
	var from []inferredUnion
	var wanted []markers.Wanted
	for i := range results {
		if len(found[i]) == 0 {
			continue
		}
		_, l := a.declarable(flags, &results[i], found[i])
		for _, f := range l {
			o := inferredUnion{&results[i], f}
			rules, other := f.Rules(flags.replace)
			if other != "" {
				o.diagnostics = append(o.diagnostics, undeclared(f, diag.Diagnostic{Code: codes.LeftUndeclared,
					Message: "its constraint " + other + " is not a rule, so its marker is unknown", Hint: "omit --replace, and delete the constraint by hand"}))
				continue
			}
			from = append(from, o)
			wanted = append(wanted, markers.Wanted{Target: f.Target(), Version: f.Name, Path: f.Path, Union: f.Union, Rules: rules})
		}
	}
	if len(wanted) == 0 {
		if len(slices.Concat(found...)) == 0 {
			a.note("nothing to declare: no unions found" + flags.that())
		}
		return a.report(results, "text")
	}
	to := results[0].scope.externalFlags
	declared, files, diags := markers.Declare(
		markers.Options{Kubebuilder: to.kubebuilder, SkipInvalid: to.listed, Dir: to.dir}, wanted, to.packages...)
	types := result{diagnostics: diags}
	if declared == nil {
		return a.report(append(results, types), "text")
	}
	types.skip()       // errors in other structs
	var told diag.List // a struct can have several schemas
	for n, d := range declared {
		if p := d.Problem; p != nil {
			left := undeclared(from[n].Located, *p)
			if p.Pos != (diag.Pos{}) {
				left.Related = []diag.Related{{Pos: p.Pos, Message: "the Go type"}}
			}
			from[n].diagnostics = append(from[n].diagnostics, left)
			continue
		}
		line := fmt.Sprintf("declared in %s: %s", d.Struct, from[n].Label())
		switch {
		case len(d.Deleted) > 0:
			line += ", in place of " + plural(len(d.Deleted), "rule")
		case flags.replace && from[n].Comparison.Verdict == verify.Equivalent:
			line += "; its rules are on an ancestor: delete them by hand"
		}
		told = append(told, diag.Diagnostic{Pos: d.Pos, Message: line})
	}
	told = told.Sort()
	if err := a.report(results, "text"); err != nil {
		return err
	}
	if len(files) > 0 && flags.preview.wanted() {
		return a.previewGo(flags.preview, files)
	}
	var outs []output
	for _, f := range files {
		outs = append(outs, output{path: f.Name, data: f.New})
	}
	if err := a.batch.replace(outs); err != nil {
		return err
	}
	for _, d := range told {
		a.note(d.Pos.String() + ": " + d.Message)
	}
	if len(files) > 0 {
		a.note(fmt.Sprintf("declared %s; run controller-gen next, then unioncel compile", plural(len(told), "union")))
	}
	return a.report([]result{types}, "text")
}

// previewGo shows the changes of Go files.
func (a *app) previewGo(p preview, files []markers.Edited) error {
	var shown [][]byte
	var changed []result
	for _, f := range files {
		shown = append(shown, p.difference(f.Name, f.Old, f.New))
		changed = append(changed, result{input: input{name: f.Name, path: f.Name}, changed: true})
	}
	if err := a.printAll(shown); err != nil {
		return err
	}
	return a.wouldChange(p, changed)
}
