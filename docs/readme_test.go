package docs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/markers"
)

// marked returns the fenced block that follows an HTML comment in the README, and the argument
// after the keyword of the comment.
func marked(t *testing.T, readme, keyword string) (argument, block string) {
	t.Helper()
	m := regexp.MustCompile("(?s)<!-- " + keyword + ": ([^\n]*) -->\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(readme)
	if m == nil {
		t.Fatalf("README.md has no block marked %q", keyword)
	}
	return m[1], m[2]
}

// The first screen of the README matches the output of the tool and of a real API server.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	name, crd := marked(t, readme, "file")
	compiled, diags := crdpatch.Compile(crdpatch.Open(name, []byte(crd)), crdpatch.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if _, rules := marked(t, readme, "output"); !strings.HasSuffix(string(compiled), rules) {
		t.Errorf("the compiled file does not end with the rules of the README:\n%s", compiled)
	}

	if fromGo := compiledFromGo(t, readme, crd); !bytes.Equal(withoutAnnotation(fromGo), withoutAnnotation(compiled)) {
		t.Errorf("the Go type of the README compiles to\n%s", fromGo)
	}

	server := servertest.Start(t)
	if err := server.Install(t.Context(), compiled); err != nil {
		t.Fatal(err)
	}
	change, want := marked(t, readme, "server")
	m := regexp.MustCompile(`^update (\{.*\}) to (\{.*\})$`).FindStringSubmatch(change)
	if m == nil {
		t.Fatalf("cannot read %q", change)
	}
	object := func(spec string) []byte {
		return []byte("apiVersion: example.com/v1\nkind: Probe\nmetadata: {name: web}\nspec: " + spec + "\n")
	}
	if _, err := server.Create(t.Context(), object(m[1])); err != nil {
		t.Fatal(err)
	}
	_, err = server.Update(t.Context(), object(m[2]))
	if err == nil || err.Error() != strings.TrimSpace(want) {
		t.Errorf("the server says\n%v\nthe README\n%s", err, want)
	}
}

// compiledFromGo compiles the unions of the Go type in the README into the CRD there, without its
// declaration.
func compiledFromGo(t *testing.T, readme, crd string) []byte {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	env, err := testprog.Module(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	name, types := marked(t, readme, "go")
	write(name, `// +groupName=example.com
// +versionName=v1
package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Probe struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`

	Spec ProbeSpec `+"`json:\"spec,omitempty\"`"+`
}

type HTTPProbe struct{}

type TCPProbe struct{}

`+types)
	set, diags := markers.Load(markers.Options{CRDs: true, Dir: dir}, "./api/...")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	bare, _, _ := strings.Cut(crd, "            x-kubernetes-unions:\n")
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(bare)), crdpatch.Options{External: *set})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return compiled
}

func withoutAnnotation(text []byte) []byte {
	return regexp.MustCompile("(?m)^    "+regexp.QuoteMeta(crdpatch.Annotation)+": .*$").ReplaceAll(text, nil)
}

// The command to try in a checkout compiles an example. Without [unioncases.Exhaustive], the go
// command does not build the program.
func TestReadmeRun(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```\n").FindStringSubmatch(string(data))
	if m == nil {
		t.Fatal("README.md has no command to run")
	}
	command, found := strings.CutPrefix(m[1], "go run ./cmd/unioncel ")
	if !found {
		t.Fatalf("%q does not run unioncel", m[1])
	}
	if command = "unioncel " + command; unioncases.Exhaustive {
		command = m[1]
	}
	var out, errs bytes.Buffer
	if code := sh(t, "..", command, &out, &errs); code != 0 || !strings.Contains(out.String(), "x-kubernetes-validations:") {
		t.Errorf("exit code %d\n%s", code, &errs)
	}
}
