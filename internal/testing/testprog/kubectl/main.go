// Command kubectl is the program of that name, for tests.
package main

import (
	"os"

	kubectl "k8s.io/kubectl/pkg/cmd"

	_ "github.com/unioncel/unioncel/internal/testing/testprog/english"
)

func main() {
	if kubectl.NewDefaultKubectlCommand().Execute() != nil {
		os.Exit(1)
	}
}
