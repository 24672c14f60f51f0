package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
)

// process reads inputs and works on each, as many at a time as there are
// processors, and returns what came of them in the order of the inputs. No more
// files are held in memory than are worked on. All errors, of reading and of the
// work, are reported together; when ctx ends, the error is errInterrupted.
func process[T any](ctx context.Context, a *app, inputs []input, work func(in input, src []byte) (T, error)) ([]T, error) {
	results := make([]T, len(inputs))
	progress := a.progress(inputs)
	defer progress.end()
	errs := make([]error, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				progress.begin(i)
				src, err := a.open(inputs[i])
				if err == nil {
					results[i], err = work(inputs[i], src)
				}
				errs[i] = err
				progress.done(i)
			}
		})
	}
	for i := range inputs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return results, joinDistinct(errs)
}

// joinDistinct joins errors that say different things: a full disk concerns all files
// alike.
func joinDistinct(errs []error) error {
	said := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := err != nil && said[err.Error()]
		if err != nil {
			said[err.Error()] = true
		}
		return again
	})...)
}

// open reads an input, or as much of it as tells that it is over the limit.
func (a *app) open(in input) (src []byte, err error) {
	if in.path == "" {
		src, err = a.limits.Read(a.streams.In)
	} else {
		src, err = a.readFile(in.path)
	}
	if err != nil {
		return nil, fileError(in.name, err)
	}
	return src, nil
}

func (a *app) readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return a.limits.Read(file)
}
