package cli

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// console is a stream that is safe for concurrent use.
type console struct {
	w  io.Writer
	mu sync.Mutex
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.Write(p)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	if c, ok := w.(*console); ok {
		w = c.w
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
