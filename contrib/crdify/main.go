// Command crdify is crdify with the validations of package rules.
package main

import (
	"os"

	"sigs.k8s.io/crdify/cli"
	"sigs.k8s.io/crdify/pkg/runner"

	"github.com/unioncel/unioncel/contrib/crdify/rules"
)

func main() {
	rules.Register(runner.DefaultRegistry())
	if err := cli.NewRootCommand().Execute(); err != nil {
		os.Exit(2)
	}
}
