package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
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
the API server accepts, and others that it rejects, with its errors: the smallest for
each condition and change, and the same on every run.

In DIR, each CRD has a directory with the objects, their index (index.yaml), and a suite
for each version in the form of OpenShift's API repository (VERSION.testsuite.yaml).
To write the tests of a CRD anew, remove its directory. Keep tests of your own in other
directories; validate --suite runs all tests below a directory.`,
		Example: `  unioncel testdata -o test/unions config/crd

  # In CI: are they still answered like that?
  unioncel validate --crd config/crd --suite test/unions`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return usagef("-o is missing: it names the directory for the tests")
			}
			files, err := collect(cmd.Context(), a, &flags, args, func(f *crdpatch.File, in input) ([]output, diag.List, error) {
				return a.testsOf(cmd.Context(), dir, f, in)
			}, nil)
			if err != nil {
				return err
			}
			return a.writeIn(dir, files)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write to files in this `DIR`")
	return cmd
}

// testsOf returns the files with tests for the CRDs in a file. Their paths are relative to the
// directory for all tests.
func (a *app) testsOf(ctx context.Context, dir string, f *crdpatch.File, in input) ([]output, diag.List, error) {
	_, l := crdpatch.Ask(f, in.options(), (*crdpatch.CRD).Plan)
	if l.HasErrors() {
		return nil, l, nil
	}
	installed, wrong := crdpatch.Install(f, in.options())
	if wrong.HasErrors() {
		return nil, wrong, nil
	}
	var out []output
	for _, crd := range installed {
		if !filepath.IsLocal(crd.Name) || strings.ContainsAny(crd.Name, `/\`) {
			return nil, l, fmt.Errorf("%s: there can be no tests of a CRD with the name %q", in.name, crd.Name)
		}
		var tests []product.Test // empty if the CRD has no unions
		var p *compile.Plan
		if crd.CRD != nil {
			p, _ = crd.CRD.Plan() // errors have been reported
		}
		if p != nil {
			if steps, most := p.Tests(), a.limits.OrDefault().Tests; steps > most {
				l = append(l, diag.New(codes.OverLimit, p.Unions[0].Pos,
					"the unions of the CRD have too many members for tests: these take %d steps, and the limit is %d", steps, most).
					Hinted(yamltext.LimitHint("tests")))
				continue
			}
			var err error
			if tests, err = product.SuiteTests(ctx, *p, crd.CustomResourceDefinition); err != nil {
				return nil, l, err
			}
		}
		files, err := product.SuiteFiles(crd.Name, tests)
		if err != nil {
			return nil, l, fmt.Errorf("%s: %w", filepath.Join(dir, crd.Name), err)
		}
		if there := filepath.Join(dir, crd.Name); len(files) > 0 && exists(there) {
			return nil, l, fmt.Errorf("%s: there are tests already: remove the directory, and testdata writes them anew", there)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			out = append(out, output{filepath.Join(crd.Name, filepath.FromSlash(name)), files[name]})
		}
	}
	return out, l, nil
}

// runSuites runs the tests in files and directories, and prints the failures.
func (a *app) runSuites(ctx context.Context, flags *compilerFlags, output *printing, crds, paths []string) error {
	if len(crds) == 0 {
		return usagef("--crd is missing: it names the CustomResourceDefinitions of the tests")
	}
	tests, found, err := a.testSuites(ctx, flags, crds, paths)
	if err != nil {
		return err
	}
	ran, failures, skipped := 0, 0, 0
	for _, t := range tests {
		switch {
		case t.Skipped != "":
			skipped++
			continue
		case t.Failure != nil:
			found = append(found, *t.Failure)
			failures++
		}
		ran++
	}
	tally := fmt.Sprintf("%s: %d passed, %d failed", plural(ran+skipped, "test"), ran-failures, failures)
	if skipped > 0 {
		tally += fmt.Sprintf(", %d skipped", skipped)
	}
	return a.showAnswers(output, found, tally)
}

// testSuites runs the tests in files and directories. The list has the diagnostics of the CRDs and suites.
func (a *app) testSuites(ctx context.Context, flags *compilerFlags, crds, paths []string) (tests []product.SuiteTest, found diag.List, err error) {
	files, l, err := a.readManifests(ctx, flags, nil, nil, crds)
	if err != nil {
		return nil, nil, err
	}
	found = diagnosticsOf(append(l.files(), resultsOf(files)...))
	// CRDs that define the same kind differently are an error, and none of them is used.
	set, judges := &server.Set{}, map[string]*server.Kind{}
	for _, f := range files {
		for _, d := range f.found.crds {
			if d.crd == nil {
				continue
			}
			if wrong := set.Add(d.kind, d.crd, d.pos); wrong != nil {
				found, judges[d.crd.Name] = append(found, *wrong), nil
			} else if _, known := judges[d.crd.Name]; !known {
				judges[d.crd.Name] = server.NewKind(d.crd)
			}
		}
	}
	inputs, err := a.suiteFiles(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range inputs {
		dir := filepath.Dir(file.name)
		total, most := 0, a.limits.OrDefault().Size
		ran, wrong := product.RunSuite(ctx, file.name, file.found, judges, func(name string) ([]byte, error) {
			src, err := a.readBelow(dir, name)
			// With links and shared objects, the total size can exceed that of the tree.
			if total += len(src); total > most && total > len(src) {
				return nil, fmt.Errorf("the objects that %s names have more bytes than the limit of %d; --limit size=N raises it", file.name, most)
			}
			a.keep(path.Join(dir, name), src)
			return src, err
		}, a.limits)
		if ctx.Err() != nil {
			return nil, nil, errInterrupted
		}
		tests, found = append(tests, ran...), append(found, wrong...)
	}
	return tests, found, nil
}

// readBelow reads a file that another file names. It rejects links and names that lead out of the
// directory.
func (a *app) readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fileError(dir, err)
	}
	defer root.Close()
	if name = path.Clean(name); !fs.ValidPath(name) {
		return nil, fmt.Errorf("%s is not below %s", name, dir)
	}
	src, err := yamltext.ReadFile(root.FS(), name, a.limits)
	if err != nil {
		return nil, fileError(path.Join(dir, name), err)
	}
	return src, nil
}

// suiteFiles returns the files with tests in files and directories.
func (a *app) suiteFiles(ctx context.Context, paths []string) (all []answer[[]byte], err error) {
	for _, root := range paths {
		inputs, err := a.findInputs([]string{root})
		if err != nil {
			return nil, err
		}
		files, err := process(ctx, a, inputs, func(r *result, src []byte) ([]byte, error) {
			r.other = r.walk && !product.IsSuite(src)
			return src, nil
		})
		if err != nil {
			return nil, err
		}
		if files = slices.DeleteFunc(files, func(f answer[[]byte]) bool { return f.other }); len(files) == 0 {
			return nil, errors.New(root + ": no file has tests: neither an index of testdata nor a suite of OpenShift")
		}
		all = append(all, files...)
	}
	return all, nil
}
