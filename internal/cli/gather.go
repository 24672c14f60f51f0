package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// planner returns the compilation plans of the CRDs with unions in a file.
type planner func(f *crdfile.File, opts crdfile.Options) ([]crdpatch.Explanation, diag.List)

// load runs work on each input, parsed as a file with CRDs. It returns no results if a
// configuration has errors, or a file that a configuration or a flag names.
func (a *app) load(ctx context.Context, inputs []input, scope func([]input) (scopes, error), work func(in input, f *crdfile.File) (result, error)) (scopes, []result, error) {
	l, err := scope(inputs)
	if err != nil {
		return nil, nil, err
	}
	if a.announce(l); l.failed() {
		return l, nil, nil
	}
	results, err := a.process(ctx, inputs, func(in input, src []byte) (result, error) {
		return work(in, crdfile.Open(in.name, src).WithLimits(a.limits))
	})
	if err != nil {
		return nil, nil, err
	}
	a.sayWithheld(results)
	return l, results, nil
}

// find runs work on each input, parsed as a file with CRDs, and returns the answers in the order of
// the inputs. It reports the errors of configurations, and of files that a configuration or a flag
// names.
func find[T any](ctx context.Context, a *app, inputs []input, scope func([]input) (scopes, error), work func(f *crdfile.File, in input) (T, diag.List, error)) ([]T, scopes, []result, error) {
	found := make([]T, len(inputs))
	l, results, err := a.load(ctx, inputs, scope, func(in input, f *crdfile.File) (r result, err error) {
		var diagnostics diag.List
		found[in.n], diagnostics, err = work(f, in)
		return in.scope.resultOf(in, f, diagnostics), err
	})
	if err == nil && l.failed() {
		err = a.report(l.files(), "text")
	}
	return found, l, results, err
}

// gathered holds the items found in one input.
type gathered[T any] struct {
	name  string // of the input
	items []T
}

// gather collects items of all inputs, in order, and prints the diagnostics. With errFindings or
// errSkipped the result has the items of the inputs without errors, without the skipped structs. It
// is nil if all inputs have errors.
func gather[T any](ctx context.Context, a *app, scope func([]input) (scopes, error), args []string, work func(f *crdfile.File, in input) ([]T, diag.List, error)) ([]gathered[T], error) {
	l, finish, err := collect(ctx, a, scope, args, work)
	if err != nil {
		return nil, err
	}
	return l, finish()
}

// collect collects items of all inputs, in order. The result is nil if all inputs have errors.
// Callers print it before they call finish, which prints the diagnostics and returns errFindings or
// errSkipped for errors: those of one file do not hide the results of the others.
func collect[T any](ctx context.Context, a *app, scope func([]input) (scopes, error), args []string, work func(f *crdfile.File, in input) ([]T, diag.List, error)) (items []gathered[T], finish func() error, err error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, nil, err
	}
	found, g, results, err := find(ctx, a, inputs, scope, work)
	if err != nil {
		return nil, nil, err
	}
	l := make([]gathered[T], len(inputs))
	for i := range results {
		if found[i] != nil {
			results[i].skip()
		}
		if !results[i].failed() {
			l[i] = gathered[T]{results[i].name, found[i]}
		}
	}
	g.missing(results)
	if !slices.ContainsFunc(results, func(r result) bool { return !r.failed() }) {
		l = nil
	}
	return l, func() error {
		err := a.report(append(g.files(), results...), "text")
		if err == nil || errors.Is(err, errSkipped) {
			if none := a.tally(g, results, "text"); none != nil {
				return none
			}
			a.lacking(results, func(i int) string {
				if len(l[i].items) > 0 || results[i].walk && g[0].gate && !a.verbose { // which the tally says
					return ""
				}
				return "no unions"
			})
		}
		return err
	}, nil
}

// lacking prints a note for each input that lacks something, unless what returns "". Files in
// directories share one note, printed if all of them lack it; with --verbose each has its own.
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
