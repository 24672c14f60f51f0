//go:build unix && exhaustive

package packaging

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testprog"
)

// TestMain adds unioncel to PATH, under all of its names.
func TestMain(m *testing.M) { testprog.Main(m, "unioncel", "kubectl-unioncel") }

// source is a CRD with a declaration.
var source = testcrd.Read("backend")

// compiled returns the output of the compile command for source, with these arguments.
func compiled(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(write(t, map[string]string{"crd.yaml": source}), "crd.yaml")
	cmd := exec.Command("unioncel", append(append([]string{"compile"}, args...), file)...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// write creates a directory with these files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read returns an existing file.
func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// load reads a YAML file at the root of the repository.
func load(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, "..", "..", name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// zipped creates a zip archive of one file.
func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decodeJSON decodes strict JSON.
func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
}

// run runs a command in a directory and returns its output and its exit code.
func run(t *testing.T, dir string, env []string, name string, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
