package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/unioncel/unioncel/internal/report/explain"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// planner returns how the CRDs of a file that have unions are compiled.
type planner func(f *crdfile.File, opts crdfile.Options) ([]explain.Input, diag.List)

// load works on inputs as files with CRDs. It returns no results when a configuration has
// errors, or a file that a configuration or a flag names.
func (a *app) load(ctx context.Context, inputs []input, scope func([]input) (scopes, error), work func(in input, f *crdfile.File) (result, error)) (scopes, []result, error) {
	l, err := scope(inputs)
	if err != nil {
		return nil, nil, err
	}
	if a.announce(l); l.failed() {
		return l, nil, nil
	}
	results, err := process(ctx, a, inputs, func(in input, src []byte) (result, error) {
		return work(in, crdfile.Open(in.name, src).WithLimits(a.limits))
	})
	if err != nil {
		return nil, nil, err
	}
	a.sayWithheld(results)
	return l, results, nil
}

// gathered is what was found in one input.
type gathered[T any] struct {
	name  string // of the input
	items []T
}

// gather finds what the CRDs with unions of all inputs have, in their order, and
// prints the diagnostics together. Where nothing is found is said. With
// errFindings and errSkipped the result is what there is in inputs without errors, and
// besides the structs that were skipped; it is nil when all inputs have errors.
func gather[T any](ctx context.Context, a *app, scope func([]input) (scopes, error), args []string, find func(f *crdfile.File, in input) ([]T, diag.List, error)) ([]gathered[T], error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, err
	}
	l := make([]gathered[T], len(inputs))
	g, results, err := a.load(ctx, inputs, scope, func(in input, f *crdfile.File) (result, error) {
		items, diagnostics, err := find(f, in)
		r := in.scope.resultOf(in, f, diagnostics)
		if items != nil {
			r.skip()
		}
		if !r.diagnostics.HasErrors() {
			l[in.n] = gathered[T]{in.name, items}
		}
		return r, err
	})
	if err != nil {
		return nil, err
	}
	if g.failed() {
		return nil, a.report(g.files(), "text")
	}
	g.missing(results)
	err = a.report(append(g.files(), results...), "text")
	if err == nil || errors.Is(err, errSkipped) {
		if none := a.tally(g, results, "text"); none != nil {
			return nil, none
		}
	}
	if err != nil && !errors.Is(err, errFindings) && !errors.Is(err, errSkipped) {
		return nil, err
	}
	if !errors.Is(err, errFindings) {
		a.lacking(results, func(i int) string {
			if len(l[i].items) > 0 || results[i].walk && g[0].gate && !a.verbose { // which the tally says
				return ""
			}
			return "no unions"
		})
	}
	if !slices.ContainsFunc(results, func(r result) bool { return !r.diagnostics.HasErrors() }) {
		return nil, err
	}
	return l, err
}

// lacking says what the inputs lack, unless that is "": of each that was named, and
// of those in directories when all do, of each of them with --verbose.
func (a *app) lacking(results []result, what func(i int) string) {
	together, files, found := "", 0, false
	for i, r := range results {
		switch said := what(i); {
		case r.other:
		case said == "":
			found = true
		case r.walk && !a.verbose:
			together = said
			files++
		default:
			a.note(r.name + ": " + said)
		}
	}
	if files > 0 && !found {
		a.note(together + " in " + plural(files, "file"))
	}
}
