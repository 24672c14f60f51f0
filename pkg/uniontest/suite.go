package uniontest

import (
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/cli"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Suite runs the tests in a file or directory, each as a subtest. crds is a file or directory with
// their CRDs. The tests are those that unioncel testdata writes, or suites in the format of
// OpenShift's API repository; both are recognized by their content (docs/testdata.md). Tests that
// cannot run are skipped, and counted in the log.
func Suite(t *testing.T, crds, tests string) {
	t.Helper()
	l, err := cli.RunSuites(t.Context(), []string{crds}, []string{tests})
	if err != nil {
		t.Fatal(err)
	}
	report(t, l.Problems)
	skipped := 0
	for _, test := range l.Tests {
		if test.Skipped != "" {
			skipped++
		}
		t.Run(filepath.ToSlash(test.File)+"/"+test.Name, func(t *testing.T) {
			switch {
			case test.Skipped != "":
				t.Skip(test.Skipped)
			case test.Failure != nil:
				t.Error(test.Failure)
			}
		})
	}
	if t.Logf("%d tests, %d of them skipped", len(l.Tests), skipped); len(l.Tests) == 0 {
		t.Errorf("%s has no tests", tests)
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
