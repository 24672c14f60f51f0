//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyUnions creates a directory of files to compile, and returns their contents before and after.
func manyUnions(t *testing.T, n int) (dir string, before, after map[string]string) {
	t.Helper()
	src, err := os.ReadFile("../../testdata/crds/backend.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := exec.Command("unioncel", "compile", "../../testdata/crds/backend.yaml").Output()
	if err != nil || bytes.Equal(src, compiled) {
		t.Fatal("cannot compile the input", err)
	}
	dir = t.TempDir()
	before, after = map[string]string{}, map[string]string{}
	for i := range n {
		name := fmt.Sprintf("%d/%02d.yaml", i%3, i)
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, src, 0o644); err != nil {
			t.Fatal(err)
		}
		before[name], after[name] = string(src), string(compiled)
	}
	return dir, before, after
}

// wait waits until a condition is true or the process has ended.
func wait(t *testing.T, ended <-chan error, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); {
		if len(ended) > 0 {
			return // it was faster; the assertions hold anyway
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing happened in a minute")
		}
		time.Sleep(time.Millisecond)
	}
}

func temporaries(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "*", ".unioncel-*.tmp"))
	return len(files)
}

// moments are the times at which a run over a directory is ended.
var moments = []struct {
	name string
	come func(dir, compiled string) bool
}{
	{"at once", func(string, string) bool { return true }},
	{"with the first temporary file", func(dir, _ string) bool { return temporaries(dir) >= 1 }},
	{"with many", func(dir, _ string) bool { return temporaries(dir) >= 16 }},
	{"when files are replaced", func(dir, compiled string) bool {
		data, err := os.ReadFile(filepath.Join(dir, "0", "00.yaml"))
		return err == nil && string(data) == compiled
	}},
}

// end runs compile -w over a directory, sends it a signal at a moment, and returns its result.
func end(t *testing.T, dir, compiled string, come func(dir, compiled string) bool, sig os.Signal) error {
	t.Helper()
	heeded(t, sig)
	cmd := exec.Command("unioncel", "compile", "-w", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	wait(t, ended, func() bool { return come(dir, compiled) })
	_ = cmd.Process.Signal(sig) // if it is still running
	return <-ended
}

// Whenever a process is killed, every file is the old or the new one, and the next run
// completes the work.
func TestKilledWhileWriting(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	for _, moment := range moments {
		t.Run(moment.name, func(t *testing.T) {
			dir, before, after := manyUnions(t, 24)
			if err := end(t, dir, after["0/00.yaml"], moment.come, os.Kill); err == nil {
				t.Log("it was faster")
			}
			for name, data := range tree(t, dir) {
				if strings.HasPrefix(filepath.Base(name), ".unioncel-") {
					_ = os.Remove(filepath.Join(dir, name))
				} else if before[name] != data && after[name] != data {
					t.Errorf("%s is neither old nor new", name)
				}
			}
			if out, err := exec.Command("unioncel", "compile", "-w", dir).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			wantTree(t, dir, after)
		})
	}
}

// An interrupted process replaces all files or none, and cleans up.
func TestInterruptedWhileWriting(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	for _, moment := range moments[1:] {
		t.Run(moment.name, func(t *testing.T) {
			dir, before, after := manyUnions(t, 24)
			err := end(t, dir, after["0/00.yaml"], moment.come, syscall.SIGINT)
			// The signal may also arrive after all files are replaced, just before the process
			// exits.
			if err == nil || maps.Equal(tree(t, dir), after) {
				wantTree(t, dir, after)
			} else {
				wantTree(t, dir, before)
			}
		})
	}
}

// Processes that write into the same directories keep each other's temporary files.
func TestProcessesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	dir, _, after := manyUnions(t, 12)
	var running []*exec.Cmd
	for range 4 {
		cmd := exec.Command("unioncel", "compile", "-w", dir)
		cmd.Stderr = new(strings.Builder)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", err, cmd.Stderr)
		}
	}
	wantTree(t, dir, after)
}
