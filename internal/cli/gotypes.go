package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

// goEdit is a found union, or a schema with rules that its declared unions replace, with the result of
// its file.
type goEdit struct {
	*result
	handwritten.Located
}

// leave adds a warning that the edit is left out because of a problem.
func (e goEdit) leave(problem diag.Diagnostic) {
	problem.Code = cmp.Or(problem.Code, codes.LeftUndeclared)
	d := undeclared(e.Located, problem)
	if problem.Pos != (diag.Pos{}) {
		d.Related = []diag.Related{{Pos: problem.Pos, Message: "the Go type"}}
	}
	e.diagnostics = append(e.diagnostics, d)
}

// declareInGo writes markers for the found unions into the Go files that the CRDs are generated from,
// or previews the changes. With --replace, it also deletes the rules that declared unions replace.
// Unions that would not compile, or that markers cannot declare, are left out. With errors in a CRD
// or a package, nothing is written.
func (a *app) declareInGo(flags *inferring, files []answer[inferred]) error {
	var from []goEdit
	var wanted []*markers.Wanted
	for _, r := range files {
		d := a.declaring(flags, r)
		if d.isFaulty() {
			r.diagnostics = slices.DeleteFunc(d.compile(d.found.file, d.opts), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
			ofMarkers(r.diagnostics)
			continue
		}
		_, l := d.declarable(r.found.unions)
		for _, f := range append(l, d.superfluous()...) {
			e := goEdit{r.result, f}
			rules, other := f.Rules(flags.replace)
			if other != "" {
				e.leave(diag.Diagnostic{Message: "its constraint " + other + " is not a rule, so its marker is unknown", Hint: "omit --replace, and delete the constraint by hand"})
				continue
			}
			from = append(from, e)
			wanted = append(wanted, &markers.Wanted{Place: markers.Place{Target: f.Target(), Version: f.Name, Path: f.Path}, Union: f.Union, Rules: rules})
		}
	}
	results := resultsOf(files)
	if anyFailed(results) {
		return a.report(diagnosticsOf(results))
	}
	to := results[0].scope
	edited, diags := markers.Declare(
		markers.Options{Kubebuilder: to.config.Kubebuilder, SkipInvalid: to.config.SkipInvalid, Dir: to.dir}, wanted, to.config.Go...)
	if diags.HasErrors() {
		return a.report(append(diagnosticsOf(results), diags...))
	}
	if len(edited) == 0 && len(unionsIn(files)) == 0 {
		a.note("nothing to declare: no unions found" + flags.that())
	}
	var told, deleted diag.List // a struct can have several schemas
	rejected, kept := false, map[*result][]handwritten.Located{}
	for n, d := range wanted {
		e := from[n]
		if d.Problem != nil {
			e.leave(*d.Problem)
			rejected = true
			continue
		}
		if e.Union == nil {
			deleted = append(deleted, diag.Diagnostic{Pos: d.Pos, Message: fmt.Sprintf("deleted from %s: %s that declared unions replace", d.Struct, plural(d.Deleted, "rule"))})
			continue
		}
		kept[e.result] = append(kept[e.result], e.Located)
		line := fmt.Sprintf("declared in %s: %s", d.Struct, e.Label())
		switch {
		case d.Deleted > 0:
			line += ", in place of " + plural(d.Deleted, "rule")
		case flags.replace && e.Comparison.Verdict == verify.Equivalent:
			line += "; its rules are on an ancestor: delete them by hand"
		}
		told = append(told, diag.Diagnostic{Pos: d.Pos, Message: line})
	}
	for _, r := range files {
		if !rejected || len(kept[r.result]) == 0 {
			continue // these have been compiled together
		}
		if _, _, problem := a.declaring(flags, r).try(kept[r.result]); problem != nil {
			r.diagnostics = append(r.diagnostics, *problem)
		}
	}
	told = told.Sort()
	if err := a.report(append(diagnosticsOf(results), diags...)); err != nil {
		return err
	}
	if err := a.applyEdits(flags.preview, edited); err != nil {
		return err
	}
	if len(edited) > 0 && flags.preview.wanted() {
		return a.wouldChange(flags.preview, len(edited), len(edited), nil)
	}
	for _, d := range slices.Concat(told, deleted.Sort()) {
		a.note(d.Pos.String() + ": " + d.Message)
	}
	if len(edited) > 0 {
		done := ""
		if len(told) > 0 {
			done = fmt.Sprintf("declared %s; ", plural(len(told), "union"))
		}
		a.note(done + "run controller-gen next, then unioncel compile")
	}
	return nil
}

// superfluous returns the schemas with hand-written rules that unions declared in Go replace.
func (d *declaring) superfluous() []handwritten.Located {
	if !d.flags.replace || !d.flags.wanted(verify.Equivalent) {
		return nil
	}
	f := d.found.file
	l, _ := skipping(d.result.scope, d.opts, func(opts crdpatch.Options) (l []handwritten.Located, diags diag.List) {
		crds, _ := f.CRDs(opts)
		for _, c := range crds {
			_, wrong := c.Resolved()
			diags = append(diags, wrong...)
			crd, _ := c.Source()
			if crd == nil {
				continue
			}
			declared := c.Replaced() // compiling removes these
			for _, r := range c.With(replacing(opts.External.Declarations)).Replaced() {
				constraints := slices.DeleteFunc(slices.Clone(r.Constraints), func(k verify.Constraint) bool {
					return slices.ContainsFunc(declared, func(o compile.Removal) bool { return o.Is(r.Place) && slices.Contains(o.Constraints, k) })
				})
				if selected, _ := d.flags.under.Selects(r.Path); selected && len(constraints) > 0 {
					at, _ := c.Schema(r.Place)
					l = append(l, handwritten.Located{Found: handwritten.Found{Place: r.Place, Replaces: constraints, Comparison: verify.Comparison{Verdict: verify.Equivalent}}, CRD: crd, Source: c, Pos: at})
				}
			}
		}
		return l, diags
	})
	return l
}

// replacing returns the declarations, in which those of Go types replace hand-written rules.
func replacing(l []union.External) []union.External {
	l = slices.Clone(l)
	for i, x := range l {
		if x.Struct != "" {
			l[i] = x.Replacing()
		}
	}
	return l
}
