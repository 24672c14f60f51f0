package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/suite"
	"github.com/unioncel/unioncel/pkg/validate"
)

func (a *app) testdataCommand() *cobra.Command {
	var (
		flags = compilerFlags{judges: true}
		dir   string
	)
	cmd := &cobra.Command{
		Use:   "testdata -o DIR [FILE|DIR|-]...",
		Short: "Write objects to test the unions of CRDs with",
		Long: `Testdata writes, for each union of CustomResourceDefinitions, objects and updates that
the API server accepts, and others that it refuses, with its errors: the smallest for
each condition and change, and the same on every run. CRDs that declare unions are
compiled first, in memory, with the options of compile.

In DIR, each CRD has a directory with the objects, their index (index.yaml), and a suite
for each version in the form of OpenShift's API repository (VERSION.testsuite.yaml).
Edit them as you like: validate --suite runs what is there.

` + inputHelp,
		Example: `  unioncel testdata -o test/unions config/crd

  # In CI: are they still answered like that?
  unioncel validate --crd config/crd --suite test/unions`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return usagef("-o is missing: it names the directory for the tests")
			}
			found, err := gather(cmd.Context(), a, a.scope(cmd, &flags, false), args, func(f *crdpatch.File, in input) ([]output, diag.List, error) {
				return testFiles(cmd.Context(), f, in)
			})
			if err != nil {
				return err
			}
			var all []output
			for _, g := range found {
				all = append(all, g.items...)
			}
			return a.writeIn(dir, all, func(path string) error {
				return fmt.Errorf("two CRDs have tests in %s: give only one of them", filepath.Dir(path))
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write to files in this `DIR`")
	return cmd
}

// testFiles are the tests of the CRDs in a file.
func testFiles(ctx context.Context, f *crdpatch.File, in input) ([]output, diag.List, error) {
	plans, l := f.Explain()
	if l.HasErrors() {
		return nil, l, nil
	}
	compiled, wrong := f.Installed()
	if wrong.HasErrors() {
		return nil, wrong, nil
	}
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	sources, _ := crdpatch.Open(in.name, compiled, crdpatch.Options{Limits: in.scope.opts.Limits}).Declared()
	for _, s := range sources {
		crds[s.Name] = s.CRD
	}
	var out []output
	for _, p := range plans {
		crd := crds[p.Name]
		if crd == nil || !filepath.IsLocal(p.Name) || strings.ContainsAny(p.Name, `/\`) {
			return nil, l, fmt.Errorf("%s: there can be no tests of a CRD with the name %q", in.name, p.Name)
		}
		tests, err := suite.Tests(ctx, p.Plan, crd)
		if err != nil {
			return nil, l, err
		}
		files, err := suite.Files(crd.Name, tests)
		if err != nil {
			return nil, l, err
		}
		for name, data := range files {
			out = append(out, output{filepath.Join(crd.Name, filepath.FromSlash(name)), data})
		}
	}
	slices.SortFunc(out, func(a, b output) int { return strings.Compare(a.path, b.path) })
	return out, l, nil
}

// runSuites runs the tests in files and directories.
func (a *app) runSuites(ctx context.Context, scope func([]input) (scopes, error), output *printing, crds, paths []string) error {
	if len(crds) == 0 {
		return usagef("--crd is missing: it names the CustomResourceDefinitions of the tests")
	}
	files, l, err := a.readManifests(ctx, scope, nil, nil, crds)
	if err != nil {
		return err
	}
	results := append(l.files(), resultsOf(files)...)
	found := diagnosticsOf(results)
	judges := map[string]*validate.Kind{}
	for _, f := range files {
		for _, d := range f.crds {
			if d.crd != nil {
				judges[d.crd.Name] = validate.New(d.crd)
			}
		}
	}
	names, err := suiteFiles(paths)
	if err != nil {
		return err
	}
	ran, failures := 0, 0
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			return fileError("read", err)
		}
		s, wrong := suite.Read(name, src, func(path string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(name), filepath.FromSlash(path)))
		}, a.limits)
		found = append(found, wrong...)
		if s == nil {
			continue
		}
		judge := judges[s.CRD]
		if judge == nil {
			found = append(found, diag.Diagnostic{Code: diag.NoCRD, Pos: s.Pos, Message: "there is no CRD " + s.CRD + " for these tests", Hint: "give it with --crd"})
			continue
		}
		for _, t := range s.Tests {
			if ctx.Err() != nil {
				return errInterrupted
			}
			ran++
			if d := t.Run(ctx, judge); d != nil {
				found = append(found, *d)
				failures++
			}
		}
	}
	return a.showAnswers(output, found, results, fmt.Sprintf("%s: %d passed, %d failed", plural(ran, "test"), ran-failures, failures))
}

// suiteFiles are the files with tests in files and directories.
func suiteFiles(paths []string) ([]string, error) {
	var names []string
	for _, root := range paths {
		n := len(names)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (path == root || suite.IsSuite(filepath.ToSlash(path))) {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, fileError("read", err)
		}
		if len(names) == n {
			return nil, errors.New(root + ": there are no tests: no index.yaml, and no *" + suite.SuiteSuffix)
		}
	}
	return names, nil
}
