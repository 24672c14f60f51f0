package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/source"
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
the API server accepts, and others that it rejects, with its errors: the smallest for
each condition and change, and the same on every run. CRDs that declare unions are
compiled first, in memory, with the options of compile.

In DIR, each CRD has a directory with the objects, their index (index.yaml), and a suite
for each version in the form of OpenShift's API repository (VERSION.testsuite.yaml).
Entries that people have added to the index stay, and so do files of theirs; files that
an earlier run wrote are replaced or removed. validate --suite runs them all.

` + inputHelp,
		Example: `  unioncel testdata -o test/unions config/crd

  # In CI: are they still answered like that?
  unioncel validate --crd config/crd --suite test/unions`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return usagef("-o is missing: it names the directory for the tests")
			}
			found, err := gather(cmd.Context(), a, a.scope(cmd, &flags, false), args, func(f *crdpatch.File, in input) ([]crdTests, diag.List, error) {
				return testsOf(cmd.Context(), dir, f, in)
			})
			if err != nil {
				return err
			}
			var all []output
			var stale []string
			for _, g := range found {
				for _, tests := range g.items {
					all, stale = append(all, tests.files...), append(stale, tests.stale...)
				}
			}
			if err := a.writeIn(dir, all, func(path string) error {
				return fmt.Errorf("two CRDs have tests in %s: give only one of them", filepath.Dir(path))
			}); err != nil {
				return err
			}
			return removeStale(dir, stale)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write to files in this `DIR`")
	return cmd
}

// crdTests are the tests of a CRD. Their paths are below the directory for the tests of all.
type crdTests struct {
	files []output
	stale []string // files of an earlier run
}

// testsOf returns the tests of the CRDs in a file, to be written to a directory.
func testsOf(ctx context.Context, dir string, f *crdpatch.File, in input) ([]crdTests, diag.List, error) {
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
	var out []crdTests
	for _, p := range plans {
		crd := crds[p.Name]
		if crd == nil || !filepath.IsLocal(p.Name) || strings.ContainsAny(p.Name, `/\`) {
			return nil, l, fmt.Errorf("%s: there can be no tests of a CRD with the name %q", in.name, p.Name)
		}
		tests, err := suite.Tests(ctx, p.Plan, crd)
		if err != nil {
			return nil, l, err
		}
		existing, err := existingTests(filepath.Join(dir, p.Name))
		if err != nil {
			return nil, l, err
		}
		files, err := suite.Files(crd.Name, tests, existing)
		if err != nil {
			return nil, l, fmt.Errorf("%s: %w", filepath.Join(dir, p.Name), err)
		}
		var o crdTests
		for _, name := range slices.Sorted(maps.Keys(files)) {
			o.files = append(o.files, output{filepath.Join(crd.Name, filepath.FromSlash(name)), files[name]})
		}
		for _, name := range existing.Stale(files) {
			o.stale = append(o.stale, filepath.Join(crd.Name, filepath.FromSlash(name)))
		}
		out = append(out, o)
	}
	return out, l, nil
}

// existingTests are those that a directory has.
func existingTests(dir string) (*suite.Existing, error) {
	index := filepath.Join(dir, suite.IndexName)
	src, err := os.ReadFile(index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fileError("read", err)
	}
	existing, err := suite.ReadExisting(src, reader(dir))
	if err != nil {
		return nil, fmt.Errorf("%s is no index of tests, and would be overwritten: %w", index, err)
	}
	return existing, nil
}

// removeStale removes files of an earlier run, and directories that become empty.
func removeStale(dir string, files []string) error {
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			return fileError("remove", err)
		}
		_ = os.Remove(filepath.Dir(path)) // not if something is in it
	}
	return nil
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
	// Of two CRDs with a name, which is an error, neither is used.
	set, judges := &validate.Set{}, map[string]*validate.Kind{}
	for _, f := range files {
		for _, d := range f.crds {
			if d.crd == nil {
				continue
			}
			judges[d.crd.Name] = validate.New(d.crd)
			if wrong := set.Add(d.crd, d.pos); wrong != nil {
				found, judges[d.crd.Name] = append(found, *wrong), nil
			}
		}
	}
	suites, err := suiteFiles(paths)
	if err != nil {
		return err
	}
	ran, failures, skipped := 0, 0, 0
	for _, file := range suites {
		s, wrong := suite.Read(file.path, file.data, reader(filepath.Dir(file.path)), a.limits)
		found = append(found, wrong...)
		if s == nil {
			continue
		}
		skipped += s.Skipped
		judge, known := judges[s.CRD]
		if !known {
			found = append(found, diag.Diagnostic{Code: diag.NoCRD, Pos: s.Pos, Message: "there is no CRD " + s.CRD + " for these tests", Hint: "give it with --crd"})
		}
		if judge == nil {
			skipped += len(s.Tests)
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
	tally := fmt.Sprintf("%s: %d passed, %d failed", plural(ran+skipped, "test"), ran-failures, failures)
	if skipped > 0 {
		tally += fmt.Sprintf(", %d skipped", skipped)
	}
	return a.showAnswers(output, found, results, tally)
}

// reader returns a function that reads the files of a directory.
func reader(dir string) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(path))) }
}

// suiteFiles are the files with tests in files and directories.
func suiteFiles(paths []string) ([]output, error) {
	var files []output
	for _, root := range paths {
		n := len(files)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path != root && !source.IsManifestName(path) {
				return err
			}
			src, err := os.ReadFile(path)
			if err == nil && (path == root || suite.IsSuite(src)) {
				files = append(files, output{path, src})
			}
			return err
		})
		if err != nil {
			return nil, fileError("read", err)
		}
		if len(files) == n {
			return nil, errors.New(root + ": no file has tests: neither an index of testdata nor a suite of OpenShift")
		}
	}
	return files, nil
}
