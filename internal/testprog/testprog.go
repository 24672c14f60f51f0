// Package testprog finds the programs that tests run besides unioncel: apiserver, kubectl and
// kustomize, which are in directories of their own here. They are tools of this module, which
// the go command builds once and keeps in its cache; to link them into tests would take
// several seconds whenever anything else in these changes.
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

// Path returns the file of a program, which is built unless the go command has it.
func Path(name string) (string, error) {
	out, err := exec.Command("go", "tool", "-n", name).Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("go tool -n %s: %w\n%s", name, err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// Add puts programs where a test and what it starts find them, by their names.
func Add(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path, err := Path(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, filepath.Base(path)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
