package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fileCalls lists the calls that open, list, write or remove files, by the file that makes them.
// Files named by a manifest, a configuration or a suite are read by yamltext.ReadFile,
// on a file system whose links cannot lead out of it. Results are written by the batch of
// internal/cli. A new call belongs there, or is listed here with a reason.
var fileCalls = map[string][]string{
	"internal/cli/inputs.go":             {"filepath.WalkDir", "os.Open"},                                                // named on the command line, or found below
	"internal/cli/options.go":            {"os.DirFS"},                                                                   // configurations and UnionSets, after a check of links
	"internal/cli/printing.go":           {"os.DirFS"},                                                                   // excerpts of inputs and of Go
	"internal/cli/testdata.go":           {"os.OpenRoot"},                                                                // objects that an index names
	"internal/cli/fn.go":                 {"os.OpenRoot"},                                                                // files of a kustomization
	"internal/cli/git.go":                {"import os/exec"},                                                             // revisions
	"internal/cli/batch.go":              {".Chmod", "os.Mkdir", "os.OpenFile", "os.OpenFile", "os.Remove", "os.Remove"}, // the targets
	"internal/cli/owner_unix.go":         {".Chown", ".Chown", "import syscall"},                                         // of the targets
	"internal/cli/main.go":               {"import syscall", "os.Rename"},                                                // signals; for the batch
	"internal/cli/terminal_windows.go":   {"import golang.org/x/sys/windows"},                                            // colours
	"internal/product/krm_files.go":      {"fs.WalkDir"},                                                                 // in an os.Root
	"internal/yamltext/source_config.go": {".Open"},                                                                      // ReadFile
	// Go packages, imports of their ignored files, and files with edits that are not written yet.
	"pkg/markers/load.go": {"import golang.org/x/tools/go/packages", "loader.LoadRootsWithConfig", "os.ReadFile"},
	// Tests name their CRDs and suites, and suites the files of their objects.
	"pkg/uniontest/parity.go": {"os.ReadFile"},
	"pkg/uniontest/suite.go":  {".ReadFile", "filepath.WalkDir", "os.OpenRoot", "os.ReadFile"},
	// Methods with the same name that do not access files.
	"internal/product/suite_requests.go":    {".Create"},
	"internal/server/write.go":              {".Create"},
	"internal/handwritten/audit_version.go": {".Create"},
	"internal/product/normalize.go":         {".Remove", ".Remove"},
	"pkg/union/lookup.go":                   {".Remove"},
	"internal/declared/config_parser.go":    {".Open"},
	"internal/declared/unionset.go":         {".Open"},
}

// opens lists the functions that access files, by package path.
var opens = map[string][]string{
	"os":            {"Chdir", "Chmod", "Chown", "CopyFS", "Create", "CreateTemp", "DirFS", "Link", "Mkdir", "MkdirAll", "MkdirTemp", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile"},
	"io/fs":         {"Glob", "ReadDir", "ReadFile", "WalkDir"},
	"io/ioutil":     {"ReadAll", "ReadDir", "ReadFile", "TempDir", "TempFile", "WriteFile"},
	"path/filepath": {"Glob", "Walk", "WalkDir"},
	"go/parser":     {"ParseDir", "ParseFile"},
	"sigs.k8s.io/controller-tools/pkg/loader": {"LoadRoots", "LoadRootsWithConfig"},
}

// reaching are packages that access files or start programs: importing one is enough.
var reaching = []string{"os/exec", "plugin", "syscall", "golang.org/x/sys", "golang.org/x/tools/go/packages", "github.com/google/renameio", "github.com/spf13/afero"}

// TestFileCalls compares the calls in the code with fileCalls.
func TestFileCalls(t *testing.T) {
	got := map[string][]string{}
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../../..", dir), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel("../../..", path)
			name = filepath.ToSlash(name)
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), "test") || slices.Contains([]string{"servertest", "schematest", "archtest"}, entry.Name())):
				return fs.SkipDir
			case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
				return nil
			}
			if calls := callsIn(t, path, nil); len(calls) > 0 {
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

// callsIn returns, sorted, the calls in a Go file that may access files: functions with their
// package path, methods with the names of such functions (as file systems and os.Root have them),
// and imports of packages that access files or start programs.
func callsIn(t *testing.T, path string, src any) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	imported := map[string]string{}
	for _, spec := range file.Imports {
		from, _ := strconv.Unquote(spec.Path.Value)
		name := pathpkg.Base(from)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = from
		if name == "." && opens[from] != nil || slices.ContainsFunc(reaching, func(p string) bool { return from == p || strings.HasPrefix(from, p+"/") }) {
			calls = append(calls, "import "+from)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := s.X.(*ast.Ident)
		if of != nil && imported[of.Name] != "" {
			if from := imported[of.Name]; slices.Contains(opens[from], s.Sel.Name) {
				calls = append(calls, pathpkg.Base(from)+"."+s.Sel.Name)
			}
		} else if slices.Contains(opens["os"], s.Sel.Name) {
			calls = append(calls, "."+s.Sel.Name)
		}
		return true
	})
	slices.Sort(calls)
	return calls
}

// callsIn finds a call however it is written.
func TestPlantedCalls(t *testing.T) {
	for _, tt := range []struct{ imports, code, want string }{
		{`"os"`, `os.ReadFile("x")`, "os.ReadFile"},
		{`other "os"`, `other.Open("x")`, "os.Open"},
		{`. "os"`, `ReadFile("x")`, "import os"},
		{`"os"`, `read := os.ReadFile; read("x")`, "os.ReadFile"},
		{`"os"`, `os.DirFS(".").Open("x")`, ".Open os.DirFS"},
		{`"io/fs"`, `var tree fs.FS; tree.Open("x")`, ".Open"},
		{`"os"`, `var r *os.Root; r.WriteFile("x", nil, 0)`, ".WriteFile"},
		{`"path/filepath"; "io/fs"`, `filepath.Walk(".", nil); fs.ReadFile(nil, "x")`, "filepath.Walk fs.ReadFile"},
		{`"io/ioutil"`, `ioutil.WriteFile("x", nil, 0)`, "ioutil.WriteFile"},
		{`"os"`, `os.CreateTemp("", ""); os.Rename("a", "b"); os.Symlink("a", "b"); os.Remove("a")`, "os.CreateTemp os.Remove os.Rename os.Symlink"},
		{`"github.com/google/renameio/v2"`, `renameio.WriteFile("x", nil, 0)`, ".WriteFile import github.com/google/renameio/v2"},
		{`"golang.org/x/sys/unix"`, `unix.Open("x", 0, 0)`, "import golang.org/x/sys/unix"},
		{`"os/exec"`, `exec.Command("cat")`, "import os/exec"},
		{`"go/parser"`, `parser.ParseFile(nil, "x", nil, 0)`, "parser.ParseFile"},
		{`"sigs.k8s.io/controller-tools/pkg/loader"`, `loader.LoadRoots("x")`, "loader.LoadRoots"},
		{`"os"`, `os.Getenv("x")`, ""},
	} {
		got := strings.Join(callsIn(t, "planted.go", "package p\nimport ("+tt.imports+")\nfunc f() { "+tt.code+" }\n"), " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.code, got, tt.want)
		}
	}
}
