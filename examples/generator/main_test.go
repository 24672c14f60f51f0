//go:build exhaustive

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun asserts that the files are the same as from controller-gen and unioncel compile -w, apart
// from the version of controller-gen: it is that of the main module.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	if err := run(dir, "./examples/kubebuilder/api/..."); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("examples/kubebuilder/config/crd/bases/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		got = bytes.Replace(got, []byte("controller-gen.kubebuilder.io/version: (devel)"), []byte("controller-gen.kubebuilder.io/version: v0.23.0"), 1)
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestErrors asserts that controller-gen fails, and writes no file, if the unions have errors.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, "./testdata/faulty"); err == nil {
		t.Error("no error")
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("wrote %v", files)
	}
}
