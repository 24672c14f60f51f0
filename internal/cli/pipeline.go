package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

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
	var withheld []string
	for _, r := range answers {
		if r.other {
			a.say("%s: skipped: it cannot be read, and does not mention CustomResourceDefinition", r.name)
		}
		if r.withheld != "" {
			withheld = append(withheld, fmt.Sprintf("%s (%s)", r.name, r.withheld))
		}
	}
	if len(withheld) > 0 {
		a.note("used as they are, without declarations outside the CRDs: " + few(withheld))
	}
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
		err = a.report(diagnosticsOf(l.files()))
	}
	return answers, l, err
}

// collect returns the items of all inputs. Unless all inputs have errors, it shows the items, and
// prints the diagnostics after that: errors in one file do not hide the results of the others.
func collect[T any](ctx context.Context, a *app, flags *compilerFlags, args []string, work func(f *crdpatch.File, in input) ([]T, diag.List, error), show func([]T) error) ([]T, error) {
	inputs, err := a.findInputs(args)
	if err != nil {
		return nil, err
	}
	answers, l, err := ask(ctx, a, inputs, flags, work)
	if err != nil {
		return nil, err
	}
	read := false
	items := []T{}
	for _, r := range answers {
		r.partial = r.found != nil
		read = read || !r.failed()
		items = append(items, r.found...)
	}
	results := resultsOf(answers)
	l.missing(results)
	if read && show != nil {
		if err := show(items); err != nil {
			return nil, err
		}
	}
	all := append(l.files(), results...)
	err = a.report(diagnosticsOf(all))
	switch {
	case anyFailed(all):
	case l.count():
		err = cmp.Or(a.tally(l, results), err)
	case len(items) == 0:
		a.note("no unions in " + plural(len(answers), "file"))
	}
	return items, err
}
