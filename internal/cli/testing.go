package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// forTests returns the state and the flags of a command without arguments, for packages that test CRDs.
func forTests() (*app, *compilerFlags) {
	flags := &compilerFlags{judges: true, loud: true}
	flags.register(&cobra.Command{Use: "test"})
	return newApp(Streams{Out: io.Discard, Err: io.Discard}), flags
}

// RunSuites runs the tests in files and directories, as validate --suite does with the options of the
// project.
func RunSuites(ctx context.Context, crds, suites []string) (Suites, error) {
	a, flags := forTests()
	return a.testSuites(ctx, flags, crds, suites)
}

// Install returns the CRDs in files and directories as they are sent to an API server: compiled
// with the options of the project. The list has the diagnostics that validate prints.
func Install(ctx context.Context, paths ...string) ([]crdpatch.Installed, diag.List, error) {
	a, flags := forTests()
	files, l, err := a.readManifests(ctx, flags, nil, nil, paths)
	if err != nil {
		return nil, nil, err
	}
	found := diagnosticsOf(append(l.files(), resultsOf(files)...))
	var crds []crdpatch.Installed
	for _, f := range files {
		crds = append(crds, f.found.installed...)
	}
	return crds, found, nil
}
