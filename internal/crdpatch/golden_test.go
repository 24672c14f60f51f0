package crdpatch

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/diag"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference as code")

// golden is a directory of testdata: in.yaml or in.json, the compiled file (want.yaml or
// want.json; absent if compiling fails), and the diagnostics (want.diag; absent if there are
// none).
type golden struct {
	name  string
	ext   string
	in    []byte
	out   []byte // see compilable
	opts  Options
	again bool // compiled with other options, too
}

func goldens(tb testing.TB) []golden {
	tb.Helper()
	files, err := filepath.Glob("testdata/*/in.*")
	if err != nil || len(files) == 0 {
		tb.Fatal("no goldens", err)
	}
	var l []golden
	for _, f := range files {
		in, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		g := golden{name: filepath.Base(filepath.Dir(f)), ext: filepath.Ext(f), in: in}
		l = append(l, g)
	}
	return l
}

func (g golden) file(name string) string { return filepath.Join("testdata", g.name, name) }

func TestGolden(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			out, diags := Compile(open("in"+g.ext, g.in), g.opts)
			if diags.HasErrors() != (out == nil) {
				t.Errorf("errors: %t, output: %t", diags.HasErrors(), out != nil)
			}
			compareFile(t, g.file("want"+g.ext), out)
			compareFile(t, g.file("want.diag"), []byte(textOfDiags(diags)))
		})
	}
}

// compareFile compares got with a golden file. The file is absent if got is empty.
func compareFile(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		err := os.Remove(name)
		if len(got) > 0 {
			err = os.WriteFile(name, got, 0o644)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// textOfDiags returns the diagnostics with all fields that tests compare.
func textOfDiags(l diag.List) string {
	var b strings.Builder
	for _, d := range l {
		fmt.Fprintln(&b, d)
		if d.Path != "" {
			fmt.Fprintln(&b, "  path:", d.Path)
		}
		if d.Hint != "" {
			fmt.Fprintln(&b, "  hint:", strings.ReplaceAll(d.Hint, "\n", "\n        "))
		}
	}
	return b.String()
}
