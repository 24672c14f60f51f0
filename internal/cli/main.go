package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Exit codes of every command.
const (
	exitClean    = 0 // done, without findings
	exitFindings = 1 // the input has errors, or --check or --diff found a difference
	exitFailure  = 2 // wrong usage, or an I/O error
	exitWait     = 3 // rollout: not yet
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// OSStreams returns the standard streams of the process.
func OSStreams() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
}

// Main runs the command given by the arguments, the first of which is the program (see invocation),
// and returns the exit code. On a signal to terminate, Main removes its temporary files and
// returns; either all files have been replaced or none.
func Main(args []string, streams Streams) int {
	collectLess()

	// A write to a closed pipe is an error to report; it must not end the process.
	signal.Ignore(syscall.SIGPIPE)

	// Signals that are ignored stay ignored, as with nohup.
	ending := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	ctx, release := context.WithCancel(context.Background())
	if len(ending) > 0 {
		ctx, release = signal.NotifyContext(context.Background(), ending...)
	}
	defer release()
	a := newApp(streams)
	a.name, args = invocation(args)
	return a.main(ctx, release, args)
}

// collectLess halves the frequency of garbage collection, unless GOGC is set: the API server's
// validation allocates many short-lived objects. Near softMemory, or GOMEMLIMIT if set, collection
// becomes as frequent as necessary.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(200)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}

// softMemory is the size in bytes near which garbage collection becomes more frequent. Live data
// may exceed it.
const softMemory = 384 << 20

// program is the name of the program, also in messages.
const program = "unioncel"

// invocation splits a command line into the name of the program and the arguments. The executable's
// name matters:
//
//   - kubectl-unioncel is a plugin of kubectl, and help calls it kubectl unioncel;
//   - unioncel-fn is the command fn, for orchestrators of KRM functions, which run a program without arguments.
func invocation(args []string) (name string, rest []string) {
	if len(args) == 0 {
		return program, nil
	}
	base := args[0][strings.LastIndexAny(args[0], `/`+string(filepath.Separator))+1:]
	switch strings.TrimSuffix(strings.ToLower(base), ".exe") { // Windows ignores case
	case "kubectl-" + program:
		return "kubectl " + program, args[1:]
	case program + "-fn":
		return program, slices.Concat([]string{"fn"}, args[1:])
	}
	return program, args[1:]
}

// app is one run of the program.
type app struct {
	name    string  // of the command line
	reader  string  // the command, if it reads standard input
	streams Streams // Err is the console
	console *console
	quiet   bool        // print errors only
	verbose bool        // print the work done, too
	all     bool        // print all diagnostics of a file
	color   string      // auto, always or never
	format  string      // of diagnostics on Err
	held    []diag.List // for a document
	compile func(*crdpatch.File, crdpatch.Options) ([]byte, diag.List)
	batch   batch
	limits  yamltext.Limits
	timeout time.Duration
	taken   map[string]bool         // the inputs that can be read once only, by name
	stop    context.CancelCauseFunc // ends the context of the command
	texts   sync.Map                // by the names of files that were opened: texts for excerpts, nil if they can be read again

	complainOnce sync.Once // for the message about an interrupt
}

func newApp(streams Streams) *app {
	console := newConsole(streams.Err)
	streams.Err = console
	return &app{
		name:    program,
		streams: streams,
		stop:    func(error) {},
		console: console,
		taken:   map[string]bool{},
		format:  "text",
		compile: crdpatch.Compile,
		batch:   batch{rename: os.Rename},
	}
}

// main runs the command until it completes or ctx ends. Once release is called, the signals that
// end ctx terminate the process.
func (a *app) main(ctx context.Context, release func(), args []string) int {
	ctx, a.stop = context.WithCancelCause(ctx)
	done := make(chan int, 1)
	go func() { done <- a.execute(ctx, args) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
		release()
		if !a.batch.abandon() {
			return <-done // the files are being replaced: finish
		}
		a.complainStopped(ctx)
		return exitFailure
	}
}

// complainStopped prints once why ctx ended.
func (a *app) complainStopped(ctx context.Context) {
	a.complainOnce.Do(func() {
		err := errInterrupted
		if late := stopped(0); errors.As(context.Cause(ctx), &late) {
			err = late
		}
		a.fail(err)
	})
}

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
