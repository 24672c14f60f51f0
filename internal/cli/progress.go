package cli

import (
	"fmt"
	"sync"
	"time"
)

const (
	// progressAfter is when work is long enough to show progress.
	progressAfter = 500 * time.Millisecond
	// progressEvery is how often progress is shown.
	progressEvery = 100 * time.Millisecond
)

// progress tells people how far the work on inputs is: with --verbose a line for
// each when it is done, in the order of the inputs; on a terminal, while it lasts,
// how many are done and which one is worked on.
type progress struct {
	app    *app
	inputs []input
	stop   chan struct{}

	mu       sync.Mutex
	ended    bool
	current  int // the input that was begun last
	finished int
	began    []time.Time
	took     []time.Duration // 0 until it is done
	next     int             // to name with --verbose
}

func (a *app) progress(inputs []input) *progress {
	p := &progress{
		app: a, inputs: inputs, stop: make(chan struct{}),
		began: make([]time.Time, len(inputs)), took: make([]time.Duration, len(inputs)),
	}
	if a.console.terminal != nil && !a.quiet {
		go p.watch()
	}
	return p
}

// watch shows the progress until the end.
func (p *progress) watch() {
	for wait := progressAfter; ; wait = progressEvery {
		select {
		case <-p.stop:
			return
		case <-time.After(wait):
			p.mu.Lock()
			if !p.ended {
				p.app.console.show(fmt.Sprintf("%d of %s: %s", p.finished, plural(len(p.inputs), "file"), p.inputs[p.current].name))
			}
			p.mu.Unlock()
		}
	}
}

// begin says that an input is worked on.
func (p *progress) begin(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = i
	p.began[i] = time.Now()
}

// done says that the work on an input is done.
func (p *progress) done(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	p.took[i] = max(time.Since(p.began[i]), 1)
	for ; p.next < len(p.inputs) && p.took[p.next] > 0; p.next++ {
		p.app.say("%s: %v", p.inputs[p.next].name, p.took[p.next].Round(time.Millisecond))
	}
}

// end says that all work is.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	close(p.stop)
	p.app.console.clear()
}
