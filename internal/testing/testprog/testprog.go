// Package testprog finds the programs that tests run: unioncel itself, and besides it apiserver,
// kubectl and kustomize, which are in directories of their own here. They are tools of this
// module, which the go command builds once and keeps in its cache; to link them into tests
// would take several seconds whenever anything else in these changes.
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

// start is where the test began, which is in this module.
var start, _ = os.Getwd()

// Path returns the file of a program, which is built unless the go command has it.
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

// remembered is the file that says where a program is: to ask the go command takes almost as
// long as to link a small test. It is in the directory of the go command that runs this
// test, which it removes after the last one; empty when a test runs by itself.
func remembered(name string) string {
	dir := filepath.Dir(filepath.Dir(os.Args[0]))
	if !strings.HasPrefix(filepath.Base(dir), "go-build") {
		return ""
	}
	return filepath.Join(dir, "testprog-"+name)
}

// remember writes a file at once: another test may be looking for it.
func remember(file, text string) error {
	f, err := os.CreateTemp(filepath.Dir(file), "testprog")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close(), os.Rename(f.Name(), file))
}

// Main runs tests with programs where they and what they start find them.
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

// Add puts programs where a test and what it starts find them.
func Add(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	if err := link(dir, names); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", withPath(dir))
}

// link puts programs into a directory, by their names. Those with unioncel in it are
// unioncel, which does other things by other names.
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
