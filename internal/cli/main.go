package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// Exit codes of every command.
const (
	exitClean    = 0 // done, and nothing to complain about
	exitFindings = 1 // the input has errors, or --check or --diff found a difference
	exitFailure  = 2 // wrong usage, or the world is in the way
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

// Main runs the command given by the arguments, without the program's name,
// and returns the exit code. When the process is told to end, Main removes its
// temporary files and returns; files are then either all replaced or none.
func Main(args []string, streams Streams) int {
	// Writing to a closed pipe is an error to report, not the end of the process.
	signal.Ignore(syscall.SIGPIPE)

	// What is ignored, as nohup does, stays ignored.
	ending := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	ctx, release := context.WithCancel(context.Background())
	if len(ending) > 0 {
		ctx, release = signal.NotifyContext(context.Background(), ending...)
	}
	defer release()
	return newApp(streams).main(ctx, release, args)
}

// app is one run of the program.
type app struct {
	streams   Streams
	compile   func(crdpatch.Options) transform
	decompile transform
	explain   func(crdpatch.Options) planner
	batch     batch

	complainOnce sync.Once // about being interrupted
}

func newApp(streams Streams) *app {
	streams.Err = &lockedWriter{w: streams.Err}
	return &app{
		streams:   streams,
		compile:   compiler,
		decompile: crdpatch.Decompile,
		explain:   plans,
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
		if !a.batch.abandon() {
			return <-done // the files are being replaced: finish
		}
		a.complainOnce.Do(func() { a.complain(errInterrupted.Error()) })
		return exitFailure
	}
}

// lockedWriter lets the interruption be reported while a command is writing.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
