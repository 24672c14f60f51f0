package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// console is a standard stream for people. Several goroutines may write to it. On a
// terminal it can show a line of progress, which goes away when something else is
// written.
type console struct {
	w        io.Writer
	terminal *os.File // nil unless it is one that understands escape sequences
	colour   bool

	mu     sync.Mutex
	shown  bool // the line of progress
	closed bool // to progress
}

// newConsole returns the console that writes to w. It has colours where it can show
// them, unless NO_COLOR says otherwise (https://no-color.org).
func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if file, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())) && understandsEscapes(file) {
		c.terminal = file
		c.colour = os.Getenv("NO_COLOR") == ""
	}
	return c
}

const eraseLine = "\r\x1b[K"

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	return c.w.Write(p)
}

// clear makes the line of progress go away.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
}

// hush is clear for good.
func (c *console) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	c.closed = true
}

func (c *console) erase() {
	if c.shown {
		c.shown = false
		_, _ = io.WriteString(c.w, eraseLine) // a terminal; nothing is lost
	}
}

// show shows a line of progress in the place of the one before, cut to fit. It is
// only for a terminal.
func (c *console) show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	width, _, err := term.GetSize(int(c.terminal.Fd()))
	if err != nil || width < 2 {
		width = 80
	}
	c.erase()
	c.shown = true
	_, _ = io.WriteString(c.w, fitting(line, width-1))
}

// fitting cuts a line to a number of cells of a terminal, and leaves out what is more
// than a character. What is not ASCII is taken to have two cells, the most it may take.
func fitting(line string, cells int) string {
	var fit strings.Builder
	for _, r := range line {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		if cells--; r >= utf8.RuneSelf {
			cells--
		}
		if cells < 1 {
			fit.WriteRune('…')
			break
		}
		fit.WriteRune(r)
	}
	return fit.String()
}

const (
	// progressAfter is when work is long enough to show progress.
	progressAfter = 500 * time.Millisecond
	// progressEvery is how often progress is shown.
	progressEvery = 100 * time.Millisecond
)

// progress tells people how far work on several things is, files mostly: with --verbose a
// line for each when it is done, in their order; on a terminal, while it lasts, how many are
// done and which one is worked on.
type progress struct {
	app   *app
	kind  string // of the things, as a noun
	names []string
	stop  chan struct{}

	mu       sync.Mutex
	ended    bool
	current  int // the one that was begun last
	finished int
	began    []time.Time
	took     []time.Duration // 0 until it is done
	next     int             // to name with --verbose
}

func (a *app) progress(kind string, names []string) *progress {
	p := &progress{
		app: a, kind: kind, names: names, stop: make(chan struct{}),
		began: make([]time.Time, len(names)), took: make([]time.Duration, len(names)),
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
				p.app.console.show(fmt.Sprintf("%d of %s: %s", p.finished, plural(len(p.names), p.kind), p.names[p.current]))
			}
			p.mu.Unlock()
		}
	}
}

// begin says that one is worked on.
func (p *progress) begin(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = max(p.current, i) // they begin in no order when they begin together
	p.began[i] = time.Now()
}

// done says that the work on one is done.
func (p *progress) done(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	p.took[i] = max(time.Since(p.began[i]), 1)
	for ; p.next < len(p.names) && p.took[p.next] > 0; p.next++ {
		p.app.say("%s: %v", p.names[p.next], p.took[p.next].Round(time.Millisecond))
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
