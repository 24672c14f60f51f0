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

// onTerminal runs a program with a terminal for standard error and a pipe for standard input. It
// closes standard input when the awaited text appears, and returns all output on the terminal once
// the program has ended.
func onTerminal(t *testing.T, await string, env []string, args ...string) string {
	t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unioncel", args...)
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "NO_COLOR=")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = terminal
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	buf := make([]byte, 1<<10)
	for closed := false; ; {
		if !closed && strings.Contains(shown.String(), await) {
			_, _ = io.WriteString(stdin, "kind: ConfigMap\n")
			_ = stdin.Close()
			closed = true
		}
		n, err := master.Read(buf)
		shown.Write(buf[:n])
		if err != nil { // Linux returns EIO when the program has ended
			break
		}
	}
	_ = cmd.Wait()
	return shown.String()
}

func TestProgress(t *testing.T) {
	got := onTerminal(t, "of 2", nil, "compile", "testdata/input/plain.yaml", "-")
	line := "1 of 2 files: <stdin>"
	if !strings.Contains(got, line) || !strings.HasSuffix(got, line+eraseLine+"unioncel: 0 CRDs, 0 unions\r\n") {
		t.Errorf("shown: %q", got)
	}
}

func TestProgressQuiet(t *testing.T) {
	if got := onTerminal(t, "", nil, "compile", "--quiet", "testdata/input/plain.yaml"); got != "" {
		t.Errorf("shown: %q", got)
	}
}

// The tally on a terminal shows files without unions, as when the Go types were omitted.
func TestTallyOnTerminal(t *testing.T) {
	got := onTerminal(t, "", nil, "compile", "-o", t.TempDir(), "testdata/input/plain.yaml")
	if want := "unioncel: 0 CRDs, 0 unions\r\nunioncel: 0 of 1 file changed\r\n"; !strings.HasSuffix(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
}

func TestColours(t *testing.T) {
	args := []string{"compile", "testdata/input/broken.yaml"}
	if got := onTerminal(t, "", nil, args...); !strings.Contains(got, "\x1b[1;31merror: UC203\x1b[0m: member") {
		t.Errorf("no colours: %q", got)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if got := onTerminal(t, "", []string{env}, args...); strings.Contains(got, "\x1b") || !strings.Contains(got, ": error: UC203: member") {
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

func TestProgressFits(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 10}); err != nil {
		t.Fatal(err)
	}
	c := newConsole(terminal)
	c.terminal = terminal // independent of TERM
	c.show("0123456789")
	c.show("\x1b[2J")
	c.hush()
	c.show("nothing any more")
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(master)
	if want := "01234567…" + eraseLine + "?[2J" + eraseLine; string(got) != want {
		t.Errorf("shown: %q, want %q", got, want)
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
