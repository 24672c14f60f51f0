package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileCalls lists the calls that open, list, write or remove files, by the file that makes them.
// Whatever a manifest, a configuration or a suite names goes through internal/source.ReadFile, on
// a file system that links do not lead out of; results go through the batch of internal/cli. A
// new call belongs there, or here with a reason.
var fileCalls = map[string][]string{
	"internal/cli/inputs.go":    {"filepath.WalkDir", "os.Open"},                       // named on the command line, or found below
	"internal/cli/options.go":   {"os.DirFS"},                                          // configurations and UnionSets, after a check of links
	"internal/cli/printing.go":  {"os.DirFS"},                                          // excerpts of inputs and of Go
	"internal/cli/testdata.go":  {"os.OpenRoot", "os.OpenRoot"},                        // objects that an index names
	"internal/cli/fn.go":        {"os.OpenRoot"},                                       // files of a kustomization
	"internal/cli/buffer.go":    {"os.CreateTemp", "os.Remove", "os.Remove"},           // large output, before it is printed
	"internal/cli/staging.go":   {"os.OpenFile", "os.ReadDir", "os.Remove"},            // temporary files beside their targets
	"internal/cli/batch.go":     {"os.Mkdir", "os.OpenFile", "os.Remove", "os.Remove"}, // the targets
	"internal/cli/main.go":      {"os.Rename"},                                         // for the batch
	"pkg/krm/files.go":          {"fs.WalkDir"},                                        // in an os.Root
	"pkg/markers/places.go":     {"os.ReadFile"},                                       // Go files that the go command has listed
	"internal/source/config.go": {"fsys.Open"},
}

// opens are the functions of the standard library that reach files.
var opens = map[string][]string{
	"os":       {"Chdir", "Chmod", "Chown", "CopyFS", "Create", "CreateTemp", "DirFS", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile"},
	"fs":       {"Glob", "ReadDir", "ReadFile", "WalkDir"},
	"ioutil":   {"ReadAll", "ReadDir", "ReadFile", "TempDir", "TempFile", "WriteFile"},
	"filepath": {"Glob", "Walk", "WalkDir"},
	"fsys":     {"Open"},
}

// TestFileCalls compares the calls with the list.
func TestFileCalls(t *testing.T) {
	got := map[string][]string{}
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel("../..", path)
			name = filepath.ToSlash(name)
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), "test") || slices.Contains([]string{"servertest", "schematest", "archtest"}, entry.Name())):
				return fs.SkipDir
			case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
				return nil
			}
			if calls := callsIn(t, path); len(calls) > 0 {
				got[name] = calls
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want := fileCalls[name]; !slices.Equal(got[name], want) {
			t.Errorf("%s calls %q, listed are %q", name, got[name], want)
		}
	}
	for name := range fileCalls {
		if got[name] == nil {
			t.Errorf("%s is listed, and reaches no file", name)
		}
	}
}

// callsIn returns the functions that a Go file uses to reach files, sorted.
func callsIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok && slices.Contains(opens[of.Name], s.Sel.Name) {
				calls = append(calls, of.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	slices.Sort(calls)
	return calls
}
