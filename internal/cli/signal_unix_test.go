//go:build unix

package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// reading starts a program that reads standard input, and returns once it reads: it writes more
// than a pipe holds.
func reading(t *testing.T, cmd *exec.Cmd) (stdin io.WriteCloser, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, errs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := stdin.Write(bytes.Repeat([]byte("# comment\n"), 1<<17)); err != nil {
		t.Fatal(err)
	}
	return stdin, out, errs
}

// heeded ensures that programs started by a test receive a signal that is ignored here, as under
// nohup or in the background of a shell: they would inherit that.
func heeded(t *testing.T, sig os.Signal) {
	t.Helper()
	if signal.Ignored(sig) {
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, sig)
		t.Cleanup(func() { signal.Stop(caught) })
	}
}

func TestSignalEndsProcess(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			heeded(t, sig)
			cmd := exec.Command("unioncel", "compile")
			_, out, errs := reading(t, cmd)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
				t.Errorf("ended with %v", err)
			}
			if out.Len() > 0 || errs.String() != "unioncel: interrupted\n" {
				t.Errorf("printed %q and %q", out, errs)
			}
		})
	}
}

func TestIgnoredSignalStaysIgnored(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap '' HUP; exec unioncel compile")
	stdin, out, errs := reading(t, cmd)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("kind: ConfigMap\n")); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || errs.String() != none || !bytes.HasSuffix(out.Bytes(), []byte("kind: ConfigMap\n")) {
		t.Errorf("ended with %v, printed %d bytes and %q", err, out.Len(), errs)
	}
}

func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.Command("unioncel", "version")
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailure {
		t.Errorf("ended with %v", err)
	}
	if got, want := errs.String(), "unioncel: write standard output: broken pipe\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
