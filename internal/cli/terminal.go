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

// console is a standard stream for people, safe for concurrent use. On a terminal it can show a
// progress line, which disappears when something else is written.
type console struct {
	w        io.Writer
	terminal *os.File // nil unless it supports escape sequences
	colour   bool

	mu     sync.Mutex
	shown  bool // the progress line is shown
	closed bool // for progress
}

// newConsole returns the console that writes to w. It has colours if the terminal supports them,
// unless NO_COLOR is set (https://no-color.org).
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

// clear erases the progress line.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
}

// hush erases the progress line and prevents new ones.
func (c *console) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	c.closed = true
}

func (c *console) erase() {
	if c.shown {
		c.shown = false
		_, _ = io.WriteString(c.w, eraseLine) // write errors on a terminal are ignored
	}
}

// show replaces the progress line, cut to fit. The console must be a terminal.
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

// fitting cuts a line to a number of terminal cells, and replaces unprintable characters. It counts
// two cells, the maximum, for each non-ASCII character.
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
	// progressAfter is the delay before progress is shown.
	progressAfter = 500 * time.Millisecond
	// progressEvery is the interval between updates.
	progressEvery = 100 * time.Millisecond
)

// progress shows the progress of work on several items, mostly files: with --verbose a line for
// each completed item, in order; on a terminal, during the work, the number of completed items and
// a current one.
type progress struct {
	app   *app
	kind  string // of the items, as a noun
	names []string
	stop  chan struct{}

	mu       sync.Mutex
	ended    bool
	current  int // the last item begun
	finished int
	began    []time.Time
	took     []time.Duration // 0 until it is done
	next     int             // next item to name with --verbose
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

// watch updates the progress line until the end.
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

// begin records the start of an item.
func (p *progress) begin(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = max(p.current, i) // concurrent items begin in any order
	p.began[i] = time.Now()
}

// done records the completion of an item.
func (p *progress) done(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	p.took[i] = max(time.Since(p.began[i]), 1)
	for ; p.next < len(p.names) && p.took[p.next] > 0; p.next++ {
		p.app.say("%s: %v", p.names[p.next], p.took[p.next].Round(time.Millisecond))
	}
}

// end ends the progress display.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	close(p.stop)
	p.app.console.clear()
}
