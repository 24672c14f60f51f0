package yamltext

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Panic is the error of an item whose work panicked.
type Panic struct {
	Cause any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v", p.Cause) }

// Diagnostic returns the panic as a diagnostic about the given file.
func (p *Panic) Diagnostic(file string) diag.Diagnostic {
	return diag.New(codes.Unproved, diag.Pos{File: file}, "%v", p).Hinted("please report this file, with the output of -v")
}

// EachInOrder calls work for the items, on as many goroutines as there are processors, and calls take for
// the results, one at a time and in the order of the items. Up to ahead results wait for an earlier
// item. A panic in work becomes the error of its item, a [Panic].
func EachInOrder[T, R any](items iter.Seq[T], ahead int, work func(T) (R, error), take func(T, R, error)) {
	type pending struct {
		item   T
		result R
		err    error
		done   chan struct{}
	}
	order := make(chan *pending, ahead)
	var taking sync.WaitGroup
	taking.Go(func() {
		for p := range order {
			<-p.done
			take(p.item, p.result, p.err)
		}
	})
	var working errgroup.Group
	working.SetLimit(runtime.GOMAXPROCS(0))
	for item := range items {
		p := &pending{item: item, done: make(chan struct{})}
		order <- p
		working.Go(func() error {
			defer close(p.done)
			defer func() {
				if cause := recover(); cause != nil {
					p.err = &Panic{cause, debug.Stack()}
				}
			}()
			p.result, p.err = work(item)
			return nil
		})
	}
	close(order)
	taking.Wait()
}
