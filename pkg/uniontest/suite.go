package uniontest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Suite runs the tests in a file or directory, each as a subtest. crds is a file or directory with
// their CRDs. The tests are those that unioncel testdata writes, or suites in the format of
// OpenShift's API repository; both are recognized by their content (docs/testdata.md). Tests that
// cannot run are skipped, and counted in the log.
func Suite(t *testing.T, crds, tests string) {
	t.Helper()
	kinds := map[string]*server.Kind{}
	each(t, crds, func(name string, src []byte) {
		l, wrong := crd.Open(name, src, crd.Options{}).CRDs()
		report(t, wrong)
		for _, crd := range l {
			kinds[crd.Name] = server.NewKind(crd)
		}
	})
	ran, skipped := 0, 0
	each(t, tests, func(name string, src []byte) {
		if !product.IsSuite(src) {
			return
		}
		dir, err := os.OpenRoot(filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		l, wrong := product.RunSuite(t.Context(), name, src, kinds, dir.ReadFile, yamltext.Limits{})
		report(t, wrong)
		for _, test := range l {
			ran++
			t.Run(filepath.ToSlash(test.File)+"/"+test.Name, func(t *testing.T) {
				switch {
				case test.Skipped != "":
					skipped++
					t.Skip(test.Skipped)
				case test.Failure != nil:
					t.Error(test.Failure)
				}
			})
		}
	})
	if t.Logf("%d tests, %d of them skipped", ran, skipped); ran == 0 {
		t.Errorf("%s has no tests", tests)
	}
}

// each calls a function for a file, or for each manifest in a directory.
func each(t *testing.T, root string, visit func(name string, src []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name != root && !yamltext.IsManifestName(filepath.ToSlash(name)) {
			return err
		}
		src, err := os.ReadFile(name)
		if err == nil {
			visit(name, src)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// report reports diagnostics: errors fail the test.
func report(t *testing.T, l diag.List) {
	t.Helper()
	for _, d := range l {
		if d.Severity == diag.Error {
			t.Error(d)
		} else {
			t.Log(d)
		}
	}
}
