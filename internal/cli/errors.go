package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errFindings ends a command with exitFindings; what was found has been
// printed already.
var errFindings = errors.New("findings")

// errWait ends a command with exitWait; why has been printed already.
var errWait = errors.New("wait")

// errSkipped ends a command with exitFindings that has done its work without the unions
// of structs in Go that have errors.
var errSkipped = fmt.Errorf("%w: skipped structs", errFindings)

// errInterrupted ends a command that was told to end.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// fileError is an error about a file under the name the user knows it by. Of
// the operating system's error only the reason is kept: neither the name of
// the system call nor that of a temporary file helps anybody.
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
