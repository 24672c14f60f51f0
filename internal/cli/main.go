package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// Exit codes of every command.
const (
	exitClean    = 0 // done, and nothing to complain about
	exitFindings = 1 // the input has errors, or --check or --diff found a difference
	exitFailure  = 2 // wrong usage, or the world is in the way
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

// Main runs the command given by the arguments, of which the first is the program
// (see invocation), and returns the exit code. When the process is told to end, Main
// removes its temporary files and returns; files are then either all replaced or none.
func Main(args []string, streams Streams) int {
	collectLess()

	// Writing to a closed pipe is an error to report, not the end of the process.
	signal.Ignore(syscall.SIGPIPE)

	// What is ignored, as nohup does, stays ignored.
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

// collectLess has garbage collected half as often as usual, unless GOGC says how often: the
// API server's validation allocates a lot that dies young. Near a limit garbage is collected as
// often as it takes, unless GOMEMLIMIT names another.
func collectLess() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(200)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}

// softMemory is the memory near which garbage is collected more often, in bytes. Live data may
// take more.
const softMemory = 384 << 20

// program is the name of the program, also in messages.
const program = "unioncel"

// invocation takes a command line apart, the name of the program first. The name
// under which the program was started matters:
//
//   - kubectl-unioncel is a plugin of kubectl, and help calls it kubectl unioncel;
//   - unioncel-fn is the command fn, for orchestrators of KRM functions, which run
//     a program without arguments.
func invocation(args []string) (name string, rest []string) {
	if len(args) == 0 {
		return program, nil
	}
	base := args[0][strings.LastIndexAny(args[0], `/`+string(filepath.Separator))+1:]
	switch strings.TrimSuffix(strings.ToLower(base), ".exe") { // Windows does not mind case
	case "kubectl-" + program:
		return "kubectl " + program, args[1:]
	case program + "-fn":
		return program, slices.Concat([]string{"fn"}, args[1:])
	}
	return program, args[1:]
}

// app is one run of the program.
type app struct {
	name      string   // what users type to run it
	args      []string // of the command line
	streams   Streams  // Err is the console
	console   *console
	quiet     bool     // print errors only
	verbose   bool     // print what is done, too
	all       bool     // print all diagnostics of a file
	document  string   // the format of diagnostics that are one document on Err, without notes
	held      []result // the results for it so far
	compile   transform
	decompile transform
	explain   planner
	batch     batch
	limits    limit.Limits
	opened    sync.Map // the names of files that were named on the command line, or found below

	complainOnce sync.Once // about being interrupted
}

func newApp(streams Streams) *app {
	console := newConsole(streams.Err)
	streams.Err = console
	return &app{
		name:      program,
		streams:   streams,
		console:   console,
		compile:   compiled,
		decompile: crdpatch.Decompile,
		explain:   planned,
		batch:     batch{rename: os.Rename},
	}
}

// main runs the command until it ends or ctx does. After release the signals
// that end ctx end the process.
func (a *app) main(ctx context.Context, release func(), args []string) int {
	done := make(chan int, 1)
	go func() { done <- a.execute(ctx, args) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
		release()
		a.console.hush()
		if !a.batch.abandon() {
			return <-done // the files are being replaced: finish
		}
		a.complainOnce.Do(func() { a.fail(errInterrupted) })
		return exitFailure
	}
}
