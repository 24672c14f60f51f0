package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// errFindings ends a command with exitFindings; the findings have been printed.
var errFindings = errors.New("findings")

// errWait ends a command with exitWait; the reason has been printed.
var errWait = errors.New("wait")

// errInterrupted ends a command that was interrupted.
var errInterrupted = errors.New("interrupted")

// stopped is the cause of the end of a command that took longer than --timeout.
type stopped time.Duration

func (d stopped) Error() string { return fmt.Sprintf("stopped by --timeout %v", time.Duration(d)) }

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// fileError is an error about a file, under the name that the user gave. It keeps only the reason
// of an operating system error: the names of the system call and of a temporary file would not help
// the user.
func fileError(name string, err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
