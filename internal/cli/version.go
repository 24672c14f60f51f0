package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/compile"
)

// kubernetesModule is the library whose version identifies the Kubernetes release that rules are
// checked against. Test binaries lack this information.
const kubernetesModule = "k8s.io/apiextensions-apiserver"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of unioncel and its libraries",
		Long: `Version prints the version of unioncel, the version of Kubernetes whose code
checks the rules and estimates their cost, and the version of Go.`,
		Example: `  unioncel version`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.print([]byte(linkedVersions().text())) },
	}
}

// versionFlag adds the flag --version to root. It prints the first line of the command version.
func versionFlag(root *cobra.Command) {
	root.Version = linkedVersions().Unioncel
	root.SetVersionTemplate(program + " {{.Version}}\n")
	// Defined here, because cobra would add a shorthand of its own choice.
	root.Flags().Bool("version", false, "print the version")
}

// versions are the versions of the program and of the components it is built with.
type versions struct{ Unioncel, Kubernetes, Go, Platform string }

func linkedVersions() versions {
	info, _ := debug.ReadBuildInfo()
	return versionsOf(info)
}

// versionsOf reads the build information, which may be nil. Go knows the version of the main module
// if it was installed by version, or built from a git tag.
func versionsOf(info *debug.BuildInfo) versions {
	v := versions{
		Unioncel:   "(unknown)",
		Kubernetes: "v" + compile.Linked(),
		Go:         strings.TrimPrefix(runtime.Version(), "go"),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info == nil {
		return v
	}
	if info.Main.Version != "" {
		v.Unioncel = info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == kubernetesModule {
			// Library v0.37.2 belongs to Kubernetes v1.37.2.
			v.Kubernetes = "v1." + strings.TrimPrefix(dep.Version, "v0.")
		}
	}
	return v
}

func (v versions) text() string {
	return fmt.Sprintf("%s %s\nkubernetes %s\ngo %s %s\n", program, v.Unioncel, v.Kubernetes, v.Go, v.Platform)
}
