package cli

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

// declare writes the declarations of the found unions, into the files or a UnionSet, or previews
// the changes. Unions that would not compile are left out. A preview may be partial: other inputs
// have errors.
func (a *app) declare(flags *inferring, files []answer[inferred], partial bool) error {
	var edited []markers.Edited
	var all []union.External
	var told []string
	done := "declared"
	if flags.preview.wanted() {
		done = "would be declared"
	}
	for _, r := range files {
		if len(r.found.unions) == 0 {
			continue
		}
		if flags.write && flags.set == "" && r.path == "" {
			return usagef("--write replaces files, and %s is not one", r.stream())
		}
		out, l := a.declaring(flags, r).declarable(r.found.unions)
		all = append(all, declarations(l, flags.replace)...)
		if flags.write && flags.set == "" {
			l = relocated(l, r.found.file.WithBytes(out))
		}
		for _, f := range l {
			told = append(told, f.Told(done, flags.replace))
		}
		if len(l) > 0 && flags.set == "" {
			edited = append(edited, markers.Edited{Name: r.name, Old: r.found.file.Bytes(), New: out})
		}
	}
	results := resultsOf(files)
	if err := a.report(diagnosticsOf(results)); err != nil {
		return err
	}
	if len(all) == 0 {
		if len(unionsIn(files)) == 0 && !partial {
			a.note("nothing to declare: no unions found" + flags.that())
		}
		return nil
	}
	if flags.set != "" {
		all = distinct(all)
		text, err := declared.FormatUnionSet(all)
		if err != nil {
			return err
		}
		edited = []markers.Edited{{Name: flags.set, New: text}}
	}
	if err := a.applyEdits(flags.preview, edited); err != nil {
		return err
	}
	for _, line := range told {
		a.note(line)
	}
	switch {
	case flags.preview.wanted() && partial:
		return nil
	case flags.preview.wanted():
		return a.wouldChange(flags.preview, len(edited), len(files), results)
	}
	a.note(fmt.Sprintf("declared %s", plural(len(all), "union")))
	if slices.ContainsFunc(unionsIn(files), func(f handwritten.Located) bool { return f.Comparison.Verdict == verify.Equivalent }) {
		a.note("equivalent rules accept the same objects; stored objects that are invalid today may violate the new rules: see rollout --objects")
	}
	return nil
}

// applyEdits replaces the files that get declarations, or shows the changes.
func (a *app) applyEdits(p preview, files []markers.Edited) error {
	var outs []output
	var shown [][]byte
	for _, f := range files {
		outs = append(outs, output{path: f.Name, data: f.New})
		shown = append(shown, p.difference(f.Name, f.Old, f.New))
	}
	if p.wanted() {
		return a.printAll(shown)
	}
	return a.batch.replace(outs)
}

// declarable returns the unions of the input that compile, and the input with their declarations. It
// adds a warning for each of the other unions.
func (d *declaring) declarable(found []handwritten.Located) ([]byte, []handwritten.Located) {
	out, diags, problem := d.try(found)
	if problem == nil {
		d.diagnostics = append(d.diagnostics, diags...)
		return out, found
	}
	var fit []handwritten.Located
	var warnings diag.List
	out = nil
	for _, f := range found {
		next, diags, problem := d.try(append(slices.Clip(fit), f))
		if problem == nil {
			out, fit, warnings = next, append(fit, f), diags
			continue
		}
		d.diagnostics = append(d.diagnostics, undeclared(f, *problem))
	}
	d.diagnostics = append(d.diagnostics, warnings...)
	return out, fit
}

// undeclared returns the warning that a union is left undeclared because of a problem, or that the
// rules of declared unions are not deleted.
func undeclared(f handwritten.Located, problem diag.Diagnostic) diag.Diagnostic {
	why := problem.Message
	if problem.Code != codes.LeftUndeclared {
		why = fmt.Sprintf("%s: %s", problem.Code, why)
	}
	left := "the rules here that declared unions replace are not deleted"
	if f.Union != nil {
		left = fmt.Sprintf("the union found here (%s) is not declared", f.Label())
	}
	return diag.New(codes.LeftUndeclared, f.Pos, "%s: %s", left, why).In(f.Place).Hinted(problem.Hint)
}

// relocated returns unions with their positions in a file that has their declarations.
func relocated(l []handwritten.Located, f *crdpatch.File) []handwritten.Located {
	l = slices.Clone(l)
	for i := range l {
		if c := l[i].Source.In(f); c != nil {
			l[i].Source = c
			l[i].Pos, _ = c.Schema(l[i].Place)
		}
	}
	return l
}

// declaring tries declarations on one input.
type declaring struct {
	*app
	answer[inferred]
	flags *inferring
	opts  crdpatch.Options // the options for compiling the result
	// faulty, if known, reports that the input itself does not compile.
	faulty, known bool
}

func (a *app) declaring(flags *inferring, r answer[inferred]) *declaring {
	d := &declaring{app: a, flags: flags, answer: r, opts: r.scope.opts}
	d.opts.InUse = nil // declarations apply to the input whatever its origin
	return d
}

// try returns the input with the declarations and their diagnostics. The problem is the first error
// of declaring or compiling them, or nil.
func (d *declaring) try(l []handwritten.Located) (out []byte, said diag.List, problem *diag.Diagnostic) {
	f, opts := d.found.file, d.opts
	if d.flags.inGo() && d.flags.replace {
		opts.External.Declarations = replacing(opts.External.Declarations)
	}
	if d.flags.set != "" || d.flags.inGo() {
		opts.External.Declarations = slices.Concat(opts.External.Declarations, distinct(declarations(l, d.flags.replace)))
	} else {
		out, said = crdpatch.Declare(f, func(c *crdpatch.CRD) []union.External {
			return declarations(slices.DeleteFunc(slices.Clone(l), func(i handwritten.Located) bool { return !c.Is(i.Source) }), d.flags.replace)
		})
		if e := firstError(said); e != nil {
			return nil, nil, e
		}
		f = f.WithBytes(out)
	}
	if e := firstError(d.compile(f, opts)); e != nil && !d.isFaulty() {
		return nil, nil, e
	}
	return out, said, nil
}

func declarations(l []handwritten.Located, replace bool) (out []union.External) {
	for _, i := range l {
		out = append(out, i.Declaration(replace))
	}
	return out
}

// distinct returns declarations without repetitions: CRDs of one name may have the same union.
func distinct(l []union.External) []union.External {
	var out []union.External
	text := func(x union.External) string { return yamltext.JSONOnOneLine(yamltext.PlainNode(x.Value)) }
	for _, x := range l {
		if !slices.ContainsFunc(out, func(o union.External) bool {
			return o.Target == x.Target && o.Version == x.Version && o.Path.Equal(x.Path) && text(o) == text(x)
		}) {
			out = append(out, x)
		}
	}
	return out
}

// compile returns the diagnostics of compiling a file, without the structs that may have errors.
func (d *declaring) compile(f *crdpatch.File, opts crdpatch.Options) diag.List {
	_, diags := skipping(d.result.scope, opts, func(opts crdpatch.Options) ([]struct{}, diag.List) {
		_, l := crdpatch.Compile(f, opts)
		return nil, l
	})
	return diags
}

func (d *declaring) isFaulty() bool {
	if !d.known {
		d.faulty, d.known = d.compile(d.found.file, d.opts).HasErrors(), true
	}
	return d.faulty
}

func firstError(l diag.List) *diag.Diagnostic {
	i := slices.IndexFunc(l, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	if i < 0 {
		return nil
	}
	return &l[i]
}
