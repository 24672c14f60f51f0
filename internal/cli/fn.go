package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/product"
)

func (a *app) fnCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fn",
		Short: "Compile unions and normalize objects as a KRM function, for kustomize",
		Long: `Fn is run by kustomize and other orchestrators of KRM functions, not by people: it reads
a ResourceList from standard input and writes one to standard output. Orchestrators run
programs without arguments, so unioncel runs this command when it is called unioncel-fn.

The kinds of functionConfig are

  UnionCompiler    compiles the CRDs among the items, with options of the command compile
  UnionNormalizer  clears the members of the objects among the items that their unions
                   exclude, as when patches have been merged into them

Diagnostics go to the results of the list and to standard error. If there is an error, the
items are those of the input and the exit code is 1. docs/pipelines.md has examples.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("fn takes no arguments, since kustomize and others run it; for files, use %s compile", a.name)
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return a.fn() },
	}
}

// fn runs the KRM function.
func (a *app) fn() error {
	in, err := a.limits.Read(a.streams.In)
	if err != nil {
		return fileError(stdinName, err)
	}
	// os.Root rejects symbolic links that lead out of the directory.
	dir, err := os.OpenRoot(".")
	if err != nil {
		return fileError("the working directory", err)
	}
	defer dir.Close()
	report, err := product.RunFunction(in, product.Host{Files: dir.FS(), Limits: a.limits})
	if err != nil {
		return err
	}
	for name, src := range report.Sources {
		a.keep(name, src)
	}
	findings := a.report(report.Diagnostics)
	if err := a.print(report.Output); err != nil {
		return err
	}
	return findings
}
