package cli

import (
	"context"

	"github.com/unioncel/unioncel/pkg/diag"
)

// gathered is what was found in one input.
type gathered[T any] struct {
	name  string // of the input
	items []T
}

// gather finds what the CRDs with unions of all inputs have, in their order, and
// prints the diagnostics together. An input in which nothing is found is named.
func gather[T any](ctx context.Context, a *app, e outside, args []string, find func(name string, src []byte) ([]T, diag.List)) ([]gathered[T], error) {
	inputs, err := findInputs(args, "")
	if err != nil {
		return nil, err
	}
	results, err := a.read(inputs)
	if err != nil {
		return nil, err
	}
	l := make([]gathered[T], len(results))
	e.missing(results)
	for i, r := range results {
		if e.failed() {
			break
		}
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		l[i].name = r.name
		l[i].items, results[i].diagnostics = find(r.name, r.src)
		ofMarkers(results[i].diagnostics)
	}
	if err := a.report(append(e.files, results...), "text"); err != nil {
		return nil, err
	}
	for _, g := range l {
		if len(g.items) == 0 {
			a.complain(g.name + ": no unions")
		}
	}
	return l, nil
}
