//go:build unix && exhaustive

package packaging

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// release contains the fields of .goreleaser.yaml that the tests use.
type release struct {
	Builds []struct {
		Main, Binary        string
		Goos, Goarch        []string
		Flags, Ldflags, Env []string
		ModTimestamp        string `json:"mod_timestamp"`
	}
	Archives []struct {
		Formats         []string
		FormatOverrides []struct {
			Goos    string
			Formats []string
		} `json:"format_overrides"`
		NameTemplate string `json:"name_template"`
		Files        []struct{ Src string }
	}
	Checksum struct {
		NameTemplate string `json:"name_template"`
	}
	ProjectName string `json:"project_name"`
}

func loadRelease(t *testing.T) release {
	t.Helper()
	var r release
	load(t, ".goreleaser.yaml", &r)
	if len(r.Builds) != 1 || len(r.Archives) != 1 {
		t.Fatalf("there are %d builds and %d archives; krew takes archives with one program", len(r.Builds), len(r.Archives))
	}
	return r
}

// archive returns the name of the archive for a platform.
func (r release) archive(goos, goarch string) string {
	format := r.Archives[0].Formats[0]
	for _, o := range r.Archives[0].FormatOverrides {
		if o.Goos == goos {
			format = o.Formats[0]
		}
	}
	name := strings.NewReplacer("{{ .ProjectName }}", r.ProjectName, "{{ .Os }}", goos, "{{ .Arch }}", goarch).Replace(r.Archives[0].NameTemplate)
	return name + "." + format
}

// TestReleaseFiles checks that the files named by the release exist.
func TestReleaseFiles(t *testing.T) {
	r := loadRelease(t)
	names := []string{r.Builds[0].Main + "/main.go"}
	for _, f := range r.Archives[0].Files {
		names = append(names, f.Src)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestActionDownload runs the action for every archive of a release. A fake gh copies the archives
// from a directory.
func TestActionDownload(t *testing.T) {
	r := loadRelease(t)
	runners := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows", "amd64": "X64", "arm64": "ARM64"}
	for _, goos := range r.Builds[0].Goos {
		for _, goarch := range r.Builds[0].Goarch {
			t.Run(goos+" "+goarch, func(t *testing.T) {
				archive := r.archive(goos, goarch)
				packed := pack(t, archive)
				sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(packed), archive)
				for _, test := range []struct {
					name, checksums, attested string
					code                      int
				}{
					{"right", "0000  other.tar.gz\n" + sum, archive, 0},
					{"wrong", strings.Replace(sum, sum[:4], "0000", 1), archive, 1},
					{"missing", strings.Replace(sum, archive, "x"+archive, 1), archive, 1},
					{"none", "", archive, 1},
					{"not attested", sum, "other.tar.gz", 1},
				} {
					a := newRunner(t, nil)
					a.environ["RUNNER_OS"], a.environ["RUNNER_ARCH"] = runners[goos], runners[goarch]
					a.environ["RELEASE"] = write(t, map[string]string{archive: string(packed), r.Checksum.NameTemplate: test.checksums})
					a.environ["ATTESTED"] = test.attested
					a.environ["PATH"] = fakeGH(t) + ":" + a.environ["PATH"]
					output, code := a.step(t, downloadStep, map[string]string{"version": "v1.2.3", "token": "secret"})
					if code != test.code {
						t.Fatalf("%s: exit code %d, want %d: %s", test.name, code, test.code, output)
					}
					path, err := os.ReadFile(a.environ["GITHUB_PATH"])
					if test.code != 0 {
						if err == nil || len(commands(output)) != 1 {
							t.Errorf("%s: the program is on PATH (%s), or nothing says why not: %s", test.name, path, output)
						}
						continue
					}
					if got := read(t, strings.TrimSpace(string(path)), "unioncel"); got != "the program" {
						t.Errorf("on PATH is %q", got)
					}
				}
			})
		}
	}
}

// pack creates an archive that contains the program.
func pack(t *testing.T, name string) []byte {
	t.Helper()
	dir := write(t, map[string]string{"unioncel": "the program"})
	if strings.HasSuffix(name, ".zip") {
		return zipped(t, "unioncel", "the program")
	}
	if output, code := run(t, dir, nil, "tar", "-czf", name, "unioncel"); code != 0 {
		t.Fatal(output)
	}
	return []byte(read(t, dir, name))
}

// TestActionUnreleased runs the action on platforms without a release.
func TestActionUnreleased(t *testing.T) {
	for _, arch := range []string{"X86", "ARM", "RISCV64", ""} {
		a := newRunner(t, nil)
		a.environ["RUNNER_ARCH"] = arch
		output, code := a.step(t, downloadStep, map[string]string{"version": "v1.2.3", "token": "secret"})
		want := "::error title=unioncel::There is no release for " + arch + ". Leave version empty to build it."
		if l := commands(output); code != 1 || len(l) != 1 || l[0] != want {
			t.Errorf("%s: exit code %d: %s", arch, code, output)
		}
	}
}

// fakeGH creates a gh that downloads the release v1.2.3 from the directory RELEASE, and verifies
// the archive ATTESTED.
func fakeGH(t *testing.T) string {
	t.Helper()
	dir := write(t, map[string]string{"gh": `#!/bin/bash
[[ "$GH_TOKEN $*" != "secret attestation verify $ATTESTED --repo unioncel/unioncel" ]] || exit 0
[[ "$GH_TOKEN $*" == 'secret release download v1.2.3 --repo unioncel/unioncel '* ]] || exit 9
while (($#)); do
  [[ $1 != --pattern ]] || cp "$RELEASE/$2" .
  shift
done
`})
	if err := os.Chmod(filepath.Join(dir, "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDockerfile compares the image with the repository and the release.
func TestDockerfile(t *testing.T) {
	r := loadRelease(t)
	text := read(t, "..", "..", "Dockerfile")
	instruction := func(prefix string) string {
		t.Helper()
		_, rest, ok := strings.Cut(strings.ReplaceAll(text, "\\\n", ""), "\n"+prefix+" ")
		if !ok {
			t.Fatalf("there is no %s", prefix)
		}
		line, _, _ := strings.Cut(rest, "\n")
		return strings.Join(strings.Fields(line), " ")
	}

	// The program is built with the same flags as in the archives.
	build := "go build " + strings.Join(r.Builds[0].Flags, " ") + ` -ldflags="` + strings.Join(r.Builds[0].Ldflags, " ") + `" -o /out/unioncel ` + r.Builds[0].Main
	if line := instruction("RUN"); !strings.Contains(line, build) || !strings.Contains(line, r.Builds[0].Env[0]) {
		t.Errorf("built by %s, want %s %s", line, r.Builds[0].Env[0], build)
	}

	// The version of Go is the version in go.mod.
	mod, err := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	version := strings.Split(strings.TrimSpace(string(mod)), ".")
	if from := instruction("FROM"); !strings.Contains(from, " golang:"+version[0]+"."+version[1]+".") {
		t.Errorf("built from %s, go.mod wants Go %s", from, mod)
	}

	// The copied program is the entry point, and is a KRM function by default.
	copied := strings.Fields(instruction("COPY --from=build"))
	if len(copied) != 2 || copied[0] != "/out/unioncel" || instruction("ENTRYPOINT") != `["`+copied[1]+`"]` {
		t.Errorf("copies %s, runs %s", copied, instruction("ENTRYPOINT"))
	}
	var command []string
	decodeJSON(t, instruction("CMD"), &command)
	cmd := exec.Command("unioncel", command...)
	cmd.Stdin = strings.NewReader("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "kind: ResourceList") {
		t.Errorf("CMD %s is no KRM function: %v, %s%s", command, err, out, &errs)
	}
}

// CI and .ci/run build for the platforms of the release. A fake go records its arguments.
func TestCrossCompiled(t *testing.T) {
	var ci struct {
		Jobs map[string]struct{ Steps []step }
	}
	load(t, ".github/workflows/ci.yaml", &ci)
	var script string
	for _, s := range ci.Jobs["cross"].Steps {
		script += s.Run
	}
	var all, systems []string
	for _, goos := range loadRelease(t).Builds[0].Goos {
		if goos != "linux" {
			systems = append(systems, goos)
		}
		for _, goarch := range loadRelease(t).Builds[0].Goarch {
			if goos != "linux" || goarch != "amd64" { // the job check builds this one
				all = append(all, goos+"/"+goarch)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(systems)
	if built := platforms(t, "bash", "-e", "-c", script); !slices.Equal(built, all) {
		t.Errorf("CI builds for %q, the release for %q", built, all)
	}
	var local []string
	for _, platform := range platforms(t, ".ci/run", "cross") {
		goos, _, _ := strings.Cut(platform, "/")
		if local = append(local, goos); !slices.Contains(all, platform) {
			t.Errorf(".ci/run builds for %s, which the release does not", platform)
		}
	}
	if !slices.Equal(local, systems) {
		t.Errorf(".ci/run builds for %q, the release for %q", local, systems)
	}
}

// The jobs of CI run all stages of .ci/run.
func TestStages(t *testing.T) {
	var ci struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Stages []string } }
		}
	}
	load(t, ".github/workflows/ci.yaml", &ci)
	_, stages, _ := strings.Cut(read(t, "../../.ci/run"), "\nreadonly default_stages=(")
	stages, _, _ = strings.Cut(stages, ")")
	if got := strings.Join(ci.Jobs["check"].Strategy.Matrix.Stages, " "); got != stages || got == "" {
		t.Errorf("CI runs %q, and .ci/run %q", got, stages)
	}
}

// platforms returns, sorted, the platforms for which a command builds the program when it is run at
// the root of the repository.
func platforms(t *testing.T, name string, args ...string) []string {
	t.Helper()
	dir := write(t, map[string]string{"go": `#!/bin/bash
[[ $* != 'build -o /dev/null ./cmd/unioncel' || $CGO_ENABLED != 0 ]] || echo "$GOOS/$GOARCH" >> "$BUILT"
`})
	if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "built")
	output, code := run(t, filepath.Join("..", ".."), append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BUILT="+built), name, args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d: %s", name, code, output)
	}
	return slices.Sorted(slices.Values(strings.Fields(read(t, built))))
}

// TestWorkflows checks settings that are easily forgotten in workflows.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflows", err)
	}
	var steps []step
	for _, file := range files {
		var w struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Steps []step
			}
		}
		load(t, strings.TrimPrefix(file, "../../"), &w)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: every job may do %v", file, w.Permissions)
		}
		for _, job := range w.Jobs {
			steps = append(steps, job.Steps...)
		}
	}
	steps = append(steps, newRunner(t, nil).Runs.Steps...)
	ours := []string{"./"}
	for _, s := range steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("an expression becomes part of a script, hand it on through the environment:\n%s", s.Run)
		}
		if _, version, _ := strings.Cut(s.Uses, "@v"); s.Uses != "" && !slices.Contains(ours, s.Uses) && version == "" {
			t.Errorf("%s: which version?", s.Uses)
		}
	}
}
