// Command kustomize runs the build command of kustomize, for tests. (kubectl kustomize lacks some
// flags.)
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
