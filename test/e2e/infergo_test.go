//go:build exhaustive

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/tools/txtar"

	"github.com/unioncel/unioncel/internal/testing/testprog"
)

// TestInferGo migrates projects with hand-written rules: infer writes markers into the Go types, and
// the CRDs that the real controller-gen and unioncel make of them accept the same objects as before.
// With --replace, the suite of a project passes before and after the migration.
func TestInferGo(t *testing.T) {
	files, err := filepath.Glob("testdata/infergo/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := newGoProject(t).migrate(archive)
			want := string(txtar.Format(archive))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// goProject is a project in a temporary directory.
type goProject struct {
	*testing.T
	dir, generator, program string
	env                     []string
}

func newGoProject(t *testing.T) *goProject {
	t.Helper()
	program, err := testprog.Path("unioncel")
	if err != nil {
		t.Fatal(err)
	}
	generator, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "controller-gen").Output()
	if err != nil {
		t.Fatal(err)
	}
	p := &goProject{T: t, dir: t.TempDir(), generator: strings.TrimSpace(string(generator)), program: program}
	env, err := testprog.Module(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range env {
		p.env = append(p.env, name+"="+value)
	}
	return p
}

func (p *goProject) write(name, text string) {
	p.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.Fatal(err)
	}
}

// run runs a program, whose exit code may be any of codes.
func (p *goProject) run(name string, args []string, codes ...int) (stdout, stderr string) {
	p.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(p.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(os.Environ(), p.env...), &out, &errs
	_ = cmd.Run()
	for _, code := range codes {
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == code {
			return out.String(), errs.String()
		}
	}
	p.Fatalf("%s %q: %v\n%s%s", filepath.Base(name), args, cmd.ProcessState, out.String(), errs.String())
	return "", ""
}

func (p *goProject) unioncel(args ...string) { p.run(p.program, args, 0) }

// migrate migrates a project. It returns the archive of the project with the differences of the Go
// files, and the messages. (internal/cli tests infer --go --diff.)
func (p *goProject) migrate(project *txtar.Archive) string {
	out := &txtar.Archive{Comment: project.Comment}
	suite := false
	for _, f := range project.Files {
		if strings.HasPrefix(f.Name, "want") {
			continue
		}
		out.Files = append(out.Files, f)
		suite = suite || f.Name == "suite.yaml"
		p.write(f.Name, string(f.Data))
	}
	_, flags, _ := strings.Cut(strings.TrimSpace(string(project.Comment)), "flags:")
	infer := append([]string{"infer", "--go", "./api/..."}, strings.Fields(flags)...)

	generate := func(dir string) { p.run(p.generator, []string{"crd", "paths=./api/...", "output:crd:dir=" + dir}, 0) }
	generate("before")
	if err := os.CopyFS(filepath.Join(p.dir, "crd"), os.DirFS(filepath.Join(p.dir, "before"))); err != nil {
		p.Fatal(err)
	}
	p.run(p.program, []string{"compile", "--go", "./api/...", "--skip-invalid", "-w", "before"}, 0, 1)
	if suite {
		p.unioncel("validate", "--crd", "before", "--suite", "suite.yaml")
	}
	_, told := p.run(p.program, append(infer, "--write", "crd"), 0, 1)
	var changes []byte
	for _, f := range slices.SortedFunc(slices.Values(out.Files), func(a, b txtar.File) int { return strings.Compare(a.Name, b.Name) }) {
		_, hunks, _ := bytes.Cut(diff.Diff(f.Name, f.Data, f.Name, file(p.T, filepath.Join(p.dir, f.Name))), []byte("\n")) // without "diff a b"
		changes = append(changes, hunks...)
	}
	out.Files = append(out.Files, txtar.File{Name: "want.diff", Data: changes}, txtar.File{Name: "want.stderr", Data: []byte(told)})

	generate("crd")
	p.unioncel("compile", "--go", "./api/...", "-w", "crd")
	compared, _ := p.run(p.program, []string{"diff", "before", "crd"}, 0, 1)
	if !strings.HasSuffix(compared, " same\n") {
		p.Errorf("the CRD has changed:\n%s", compared)
	}
	if suite {
		p.unioncel("validate", "--crd", "crd", "--suite", "suite.yaml")
	}
	again, _ := p.run(p.program, append(infer, "--diff", "crd"), 0, 1)
	if again != "" {
		p.Errorf("infer has more to write:\n%s", again)
	}
	return string(txtar.Format(out))
}

// TestInferGoDocs migrates the struct in docs/handwritten.md.
func TestInferGoDocs(t *testing.T) {
	page := string(file(t, "../../docs/handwritten.md"))
	_, page, _ = strings.Cut(page, "\n### Go types\n")
	page, _, _ = strings.Cut(page, "\n## ")
	blocks := regexp.MustCompile("(?s)```(?:go|sh)\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 3 {
		t.Fatalf("docs/handwritten.md has %d blocks about Go types, want a struct, a command and a struct", len(blocks))
	}
	const before = `// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Route struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec Filter ` + "`json:\"spec\"`" + `
}

type Redirect struct{}

`
	p := newGoProject(t)
	p.write("api/v1/types.go", before+blocks[0][1])
	p.run(p.generator, []string{"crd", "paths=./api/...", "output:crd:dir=config/crd"}, 0)
	p.unioncel(strings.Fields(blocks[1][1])[1:]...)
	got := string(file(t, filepath.Join(p.dir, "api/v1/types.go")))
	if d := cmp.Diff(before+blocks[2][1], got); d != "" {
		t.Error(d)
	}
}
