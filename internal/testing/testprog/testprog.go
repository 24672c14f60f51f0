// Package testprog finds the programs that tests run: unioncel itself, and apiserver, kubectl and
// kustomize, which are subdirectories of this package. They are tools of this module, which the go
// command builds once and caches. Linking them into tests would take several seconds after every
// change.
package testprog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// start is the directory of the test, which is in this module.
var start, _ = os.Getwd()

// Path returns the path of a program's executable, and builds it if it is not cached.
func Path(name string) (string, error) {
	known := remembered(name)
	if path, err := os.ReadFile(known); err == nil {
		return string(path), nil
	}
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = start
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("go tool -n %s: %w\n%s", name, err, failed.Stderr)
	}
	path := strings.TrimSpace(string(out))
	if err == nil && known != "" {
		err = remember(known, path)
	}
	return path, err
}

// remembered returns the file that caches the path of a program, because running the go command
// takes almost as long as linking a small test. The file is in the work directory of the go command
// that runs the test, which is removed after the last test. The result is "" if the test runs
// without go test.
func remembered(name string) string {
	dir := filepath.Dir(filepath.Dir(os.Args[0]))
	if !strings.HasPrefix(filepath.Base(dir), "go-build") {
		return ""
	}
	return filepath.Join(dir, "testprog-"+name)
}

// remember writes a file atomically: another test may read it.
func remember(file, text string) error {
	f, err := os.CreateTemp(filepath.Dir(file), "testprog")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close(), os.Rename(f.Name(), file))
}

// Main runs tests with the programs in PATH.
func Main(m *testing.M, names ...string) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "testprog")
		if err == nil {
			defer os.RemoveAll(dir)
			err = link(dir, names)
		}
		if err == nil {
			err = os.Setenv("PATH", withPath(dir))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// Add adds programs to PATH for a test and the programs that it starts.
func Add(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	if err := link(dir, names); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", withPath(dir))
}

// link links programs into a directory under the given names. A name that contains unioncel links
// unioncel, which behaves differently under other names.
func link(dir string, names []string) error {
	for _, name := range names {
		program := name
		if strings.Contains(name, "unioncel") {
			program = "unioncel"
		}
		path, err := Path(program)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name+filepath.Ext(path)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func withPath(dir string) string { return dir + string(os.PathListSeparator) + os.Getenv("PATH") }
