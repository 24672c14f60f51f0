// Command kustomize is the program of that name, for tests, as far as it builds. (kubectl
// kustomize has not all flags.)
package main

import (
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kustomize/v5/commands/build"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	cmd := build.NewCmdBuild(filesys.MakeFsOnDisk(), build.MakeHelp("kustomize", "build"), os.Stdout)
	build.AddFunctionAlphaEnablementFlags(cmd.Flags())
	root := &cobra.Command{Use: "kustomize"}
	root.AddCommand(cmd)
	if root.Execute() != nil {
		os.Exit(1)
	}
}
