package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tree returns the files below a directory with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func wantTree(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := tree(t, dir)
	for name, data := range got {
		if w, ok := want[name]; !ok {
			t.Errorf("%s was left behind", name)
		} else if data != w {
			t.Errorf("%s is %q, want %q", name, data, w)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
}

// abc creates a directory with files a, b and c, and outputs for them.
func abc(t *testing.T) (string, []output) {
	t.Helper()
	dir := t.TempDir()
	var outs []output
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old "+name), 0o644); err != nil {
			t.Fatal(err)
		}
		outs = append(outs, output{path: path, data: []byte("new " + name)})
	}
	return dir, outs
}

var errBusy = errors.New("busy")

// renameBut renames all files except those with the given name.
func renameBut(name string) func(from, to string) error {
	return func(from, to string) error {
		if filepath.Base(to) == name {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: errBusy}
		}
		return os.Rename(from, to)
	}
}

func TestBatchReplaces(t *testing.T) {
	dir, outs := abc(t)
	b := batch{rename: os.Rename}
	if err := b.replace(outs); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, map[string]string{"a": "new a", "b": "new b", "c": "new c"})
	if b.abandon() {
		t.Error("abandoned after replacing")
	}
	wantTree(t, dir, map[string]string{"a": "new a", "b": "new b", "c": "new c"})
}

func TestBatchFirstRenameFails(t *testing.T) {
	dir, outs := abc(t)
	b := batch{rename: renameBut("a")}
	err := b.replace(outs)
	if !errors.Is(err, errBusy) {
		t.Fatal(err)
	}
	if got, want := err.Error(), "replace "+outs[0].path+": busy"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	wantTree(t, dir, map[string]string{"a": "old a", "b": "old b", "c": "old c"})
}

func TestBatchLaterRenameFails(t *testing.T) {
	dir, outs := abc(t)
	b := batch{rename: renameBut("b")}
	err := b.replace(outs)
	if !errors.Is(err, errBusy) {
		t.Fatal(err)
	}
	a, bb, c := outs[0].path, outs[1].path, outs[2].path
	want := "replace " + bb + ": busy; already replaced: " + a + "; left as they were: " + bb + ", " + c
	if got := err.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	wantTree(t, dir, map[string]string{"a": "new a", "b": "old b", "c": "old c"})
}

func TestBatchAbandoned(t *testing.T) {
	dir, outs := abc(t)
	outs = append(outs,
		output{path: filepath.Join(dir, "d", "e", "new"), data: []byte("new")},
		output{path: filepath.Join(dir, "d", "f", "new"), data: []byte("new")})
	b := batch{rename: os.Rename}
	for _, out := range outs {
		if err := b.stage(out); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(tree(t, dir)); n != 8 {
		t.Fatalf("%d files while staging", n)
	}
	// Another process starts to use the new directory.
	if err := os.WriteFile(filepath.Join(dir, "d", "f", "other"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !b.abandon() {
		t.Error("too late to abandon")
	}
	wantTree(t, dir, map[string]string{"a": "old a", "b": "old b", "c": "old c", "d/f/other": "other"})
	if _, err := os.Stat(filepath.Join(dir, "d", "e")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory was left behind: %v", err)
	}

	// Later calls fail.
	if err := b.stage(outs[0]); !errors.Is(err, errInterrupted) {
		t.Errorf("stage: %v", err)
	}
	if err := b.commit(); !errors.Is(err, errInterrupted) {
		t.Errorf("commit: %v", err)
	}
	if !b.abandon() {
		t.Error("too late to abandon again")
	}
}

func TestBatchCannotStage(t *testing.T) {
	dir, outs := abc(t)
	// A name that is too long fails when it is resolved; a directory name that is too long fails
	// when the directory is created.
	long := strings.Repeat("x", 300)
	for _, path := range []string{filepath.Join(dir, long), filepath.Join(dir, "new", long, "file")} {
		b := batch{rename: os.Rename}
		err := b.replace(append(slices.Clone(outs), output{path: path}))
		if err == nil || !strings.Contains(err.Error(), long) {
			t.Errorf("%v", err)
		}
		wantTree(t, dir, map[string]string{"a": "old a", "b": "old b", "c": "old c"})
		if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a directory was left behind: %v", err)
		}
	}
}

// Several processes may write into one new directory.
func TestBatchesShareNewDirectories(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes hundreds of files")
	}
	root := t.TempDir()
	want := map[string]string{}
	for i := range 50 {
		var wg sync.WaitGroup
		for j := range 4 {
			name := fmt.Sprintf("%d/dir/%d", i, j)
			want[name] = name
			wg.Go(func() {
				b := batch{rename: os.Rename}
				if err := b.replace([]output{{path: filepath.Join(root, name), data: []byte(name)}}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	wantTree(t, root, want)
}

// A directory may have several names.
func TestBatchTwoNames(t *testing.T) {
	dir, outs := abc(t)
	t.Chdir(dir)
	outs[0].path = "a"
	outs[1].path = filepath.Join("..", filepath.Base(dir), "b")
	b := batch{rename: os.Rename}
	if err := b.replace(outs); err != nil {
		t.Error(err)
	}
	wantTree(t, dir, map[string]string{"a": "new a", "b": "new b", "c": "new c"})
}
