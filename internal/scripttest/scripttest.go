// Package scripttest has what several scripts of tests need: other programs, as they
// are, and Go modules.
package scripttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Kustomize runs the arguments of the process as kustomize does, as far as it builds,
// and returns the exit code. (kubectl kustomize has not all flags.)
func Kustomize() int {
	cmd := build.NewCmdBuild(filesys.MakeFsOnDisk(), build.MakeHelp("kustomize", "build"), os.Stdout)
	build.AddFunctionAlphaEnablementFlags(cmd.Flags())
	root := &cobra.Command{Use: "kustomize"}
	root.AddCommand(cmd)
	if root.Execute() != nil {
		return 1
	}
	return 0
}

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
