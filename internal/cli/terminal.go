package cli

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// console is a standard stream for people, safe for concurrent use.
type console struct {
	w        io.Writer
	terminal bool // it supports escape sequences
	colour   bool

	mu sync.Mutex
}

// newConsole returns the console that writes to w. It has colours if the terminal supports them,
// unless NO_COLOR is set (https://no-color.org).
func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if file, ok := w.(*os.File); ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())) && understandsEscapes(file) {
		c.terminal = true
		c.colour = os.Getenv("NO_COLOR") == ""
	}
	return c
}

// colors are the values of --color.
var colors = []string{"auto", "always", "never"}

// paint sets whether the console has colours: always, never, or by the terminal ("auto").
func (c *console) paint(when string) *console {
	if when != "auto" {
		c.colour = when == "always"
	}
	return c
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.Write(p)
}
