package cli

import (
	"context"

	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// planner returns the compilation plans of the CRDs with unions in a file.
type planner func(f *crdpatch.File, opts crdpatch.Options) ([]crdpatch.Explanation, diag.List)

// load runs work on each input, opened as a file with CRDs. It returns no answers if a
// configuration has errors, or a file that a configuration or a flag names.
func load[T any](ctx context.Context, a *app, inputs []input, flags *compilerFlags, work func(f *crdpatch.File, r *result) (T, error)) (scopes, []answer[T], error) {
	l, err := a.scope(inputs, flags)
	if err != nil {
		return nil, nil, err
	}
	if a.announce(l); l.failed() {
		return l, nil, nil
	}
	answers, err := process(ctx, a, inputs, func(r *result, src []byte) (T, error) {
		return work(crdpatch.Open(r.name, src).WithLimits(a.limits), r)
	})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range answers {
		if r.other {
			a.say("%s: skipped: it cannot be read, and does not mention CustomResourceDefinition", r.name)
		}
	}
	a.sayWithheld(resultsOf(answers))
	return l, answers, nil
}

// ask runs work on each input, opened as a file with CRDs. It reports the errors of
// configurations, and of files that a configuration or a flag names.
func ask[T any](ctx context.Context, a *app, inputs []input, flags *compilerFlags, work func(f *crdpatch.File, in input) (T, diag.List, error)) ([]answer[T], scopes, error) {
	l, answers, err := load(ctx, a, inputs, flags, func(f *crdpatch.File, r *result) (T, error) {
		found, diagnostics, err := work(f, r.input)
		a.inspect(r, f, diagnostics)
		return found, err
	})
	if err == nil && l.failed() {
		err = a.report(diagnosticsOf(l.files()), "text")
	}
	return answers, l, err
}

// collect returns the items of all inputs. Unless all inputs have errors, it shows the items, and
// prints the diagnostics after that: errors in one file do not hide the results of the others.
func collect[T any](ctx context.Context, a *app, flags *compilerFlags, args []string, work func(f *crdpatch.File, in input) ([]T, diag.List, error), show func([]T) error) ([]answer[[]T], error) {
	inputs, err := a.findInputs(args)
	if err != nil {
		return nil, err
	}
	answers, l, err := ask(ctx, a, inputs, flags, work)
	if err != nil {
		return nil, err
	}
	read := false
	for _, r := range answers {
		r.partial = r.found != nil
		read = read || !r.failed()
	}
	results := resultsOf(answers)
	l.missing(results)
	if read && show != nil {
		if err := show(itemsOf(answers)); err != nil {
			return nil, err
		}
	}
	all := append(l.files(), results...)
	err = a.report(diagnosticsOf(all), "text")
	if !anyFailed(all) {
		if none := a.tally(l, results, "text"); none != nil {
			return nil, none
		}
		quiet := l[0].flags.gate && !a.verbose
		lacking(a, answers, func(r answer[[]T]) string {
			if len(r.found) > 0 || quiet && (r.walk || len(answers) == 1) { // which the tally says
				return ""
			}
			return "no unions"
		})
	}
	return answers, err
}

// itemsOf returns the items of all answers, not nil.
func itemsOf[T any](answers []answer[[]T]) []T {
	l := []T{}
	for _, r := range answers {
		l = append(l, r.found...)
	}
	return l
}

// lacking prints a note for each input that lacks something, unless what returns "". Files in
// directories share one note, printed if all of them lack it; with --verbose each has its own.
func lacking[T any](a *app, answers []answer[T], what func(answer[T]) string) {
	together, files, found := "", 0, false
	for _, r := range answers {
		switch said := what(r); {
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
