package cli

import (
	"context"
	"errors"

	"github.com/unioncel/unioncel/pkg/diag"
)

// gathered is what was found in one input.
type gathered[T any] struct {
	name  string // of the input
	items []T
}

// gather finds what the CRDs with unions of all inputs have, in their order, and
// prints the diagnostics together. An input in which nothing is found is named. With
// errSkipped the result is what there is beside the structs that were skipped.
func gather[T any](ctx context.Context, a *app, e outside, args []string, find func(name string, src []byte) ([]T, diag.List, error)) ([]gathered[T], error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, err
	}
	if e.failed() {
		return nil, a.report(e.files, "text")
	}
	l := make([]gathered[T], len(inputs))
	results, err := process(ctx, a, inputs, func(in input, src []byte) (result, error) {
		items, diagnostics, err := find(in.name, src)
		l[in.n] = gathered[T]{in.name, items}
		r := e.resultOf(in, src, diagnostics)
		if items != nil {
			r.skip()
		}
		return r, err
	})
	if err != nil {
		return nil, err
	}
	e.missing(results)
	err = a.report(append(e.files, results...), "text")
	if err != nil && !errors.Is(err, errSkipped) {
		return nil, err
	}
	for i, g := range l {
		if len(g.items) == 0 && !results[i].other {
			a.note(g.name + ": no unions")
		}
	}
	return l, err
}
