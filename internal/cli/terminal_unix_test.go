//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal runs a program with a terminal for standard error, and returns its output there.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	cmd := exec.Command("unioncel", args...)
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "NO_COLOR=")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(master) // Linux returns EIO when the program has ended
	_ = cmd.Wait()
	return string(shown)
}

// The tally on a terminal shows files without unions, as when the Go types were omitted.
func TestTallyOnTerminal(t *testing.T) {
	got := onTerminal(t, nil, "compile", "-o", t.TempDir(), "testdata/input/plain.yaml")
	if want := "unioncel: 0 CRDs, 0 unions; no input has a CustomResourceDefinition\r\nunioncel: 0 of 1 file changed\r\n"; !strings.HasSuffix(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
}

func TestColours(t *testing.T) {
	args := []string{"compile", "testdata/input/broken.yaml"}
	if got := onTerminal(t, nil, args...); !strings.Contains(got, "\x1b[1;31merror: UC203\x1b[0m: member") {
		t.Errorf("no colours: %q", got)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if got := onTerminal(t, []string{env}, args...); strings.Contains(got, "\x1b") || !strings.Contains(got, ": error: UC203: member") {
			t.Errorf("%s: %q", env, got)
		}
	}
}

// Results on standard output have colours on a terminal, too.
func TestColoursOfLint(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	cmd := exec.Command("unioncel", "lint", "testdata/input/broken.yaml")
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "NO_COLOR=")
	cmd.Stdout = terminal
	if err := cmd.Run(); err == nil {
		t.Error("no findings")
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(master); !strings.Contains(string(got), "\x1b[1;31merror: UC203\x1b[0m: member") {
		t.Errorf("no colours: %q", got)
	}
}

// A terminal shows escaped differences; a pipe gets the exact bytes that patch needs.
func TestDiffOnTerminal(t *testing.T) {
	src, err := os.ReadFile("../../testdata/crds/backend.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(name, bytes.ReplaceAll(src, []byte("\n"), []byte(" # \u202e##[x]\r\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unioncel", "compile", "--diff", name)
	cmd.Env = append(cmd.Environ(), "TERM=xterm")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	shown, _ := io.ReadAll(terminal) // Linux returns EIO when the program has ended
	_ = cmd.Wait()
	if text := string(shown); !strings.Contains(text, `# \u202e\u0023#[x]`+"\r\n") || strings.Contains(text, "\u202e") {
		t.Errorf("shown: %q", text)
	}
}
