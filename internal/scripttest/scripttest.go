// Package scripttest has the commands that scripts of several tests need.
package scripttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Module is a command of scripts: it makes the working directory a Go module with the
// dependencies and tools of this one. Tests run it two directories below the root of
// this module.
func Module(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: module")
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		ts.Check(err)
		data = bytes.Replace(data, []byte("module github.com/unioncel/unioncel\n"), []byte("module example.com/project\n"), 1)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o644))
	}
	// What the Go tools take from the home directory, which scripts have none of.
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		value, err := exec.Command("go", "env", name).Output()
		ts.Check(err)
		ts.Setenv(name, strings.TrimSpace(string(value)))
	}
	ts.Setenv("GOFLAGS", "-mod=mod")
	ts.Setenv("GOPROXY", "off")
}
