package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/compile"
)

// kubernetesModule is the library whose version says exactly which Kubernetes
// rules are checked against. Test binaries do not know it.
const kubernetesModule = "k8s.io/apiextensions-apiserver"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of unioncel and of what it is built with",
		Long: `Version prints the version of unioncel, the version of Kubernetes whose code
checks the rules and estimates their cost, and the version of Go.`,
		Example: `  unioncel version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			return a.print([]byte(versionText(info)))
		},
	}
}

func versionText(info *debug.BuildInfo) string {
	version := "(unknown)"
	kubernetes := "v" + compile.Linked()
	if info != nil {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, dep := range info.Deps {
			if dep.Path == kubernetesModule {
				// Libraries are v0.37.2 where Kubernetes is v1.37.2.
				kubernetes = "v1." + strings.TrimPrefix(dep.Version, "v0.")
			}
		}
	}
	return fmt.Sprintf("unioncel %s\nkubernetes %s\ngo %s %s/%s\n",
		version, kubernetes, strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
}
