// Package kustomize is the program kustomize, for tests. It is a package of its own as it
// takes long to link.
package kustomize

import (
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build runs the arguments of the process as kustomize does, as far as it builds,
// and returns the exit code. (kubectl kustomize has not all flags.)
func Build() int {
	cmd := build.NewCmdBuild(filesys.MakeFsOnDisk(), build.MakeHelp("kustomize", "build"), os.Stdout)
	build.AddFunctionAlphaEnablementFlags(cmd.Flags())
	root := &cobra.Command{Use: "kustomize"}
	root.AddCommand(cmd)
	if root.Execute() != nil {
		return 1
	}
	return 0
}
