//go:build unix && exhaustive

package packaging

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Workflows, action and image pin third-party images and actions by digest, or docs/trust.md lists
// them. Go programs are pinned by an exact version, which the checksum database verifies.
func TestPinned(t *testing.T) {
	workflows, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(workflows) == 0 {
		t.Fatal("no workflows", err)
	}
	digest := regexp.MustCompile(`@(sha256:[0-9a-f]{64}|[0-9a-f]{40})$`)
	loose := map[string]bool{}
	goVersions := map[string]bool{}
	for _, file := range append(workflows, "../../action.yml", "../../Dockerfile") {
		text := read(t, file)
		for _, m := range regexp.MustCompile(`(?m)(?:\buses: |^FROM (?:--\S+ )?|\bimage=)(\S+:\S+|\S+@\S+)`).FindAllStringSubmatch(text, -1) {
			if !digest.MatchString(m[1]) {
				loose[m[1]] = true
			}
		}
		for _, m := range regexp.MustCompile(`\bgo (?:install|run) (\S+@\S+)`).FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`@v\d+\.\d+\.\d+$`).MatchString(m[1]) {
				t.Errorf("%s: %s is no exact version", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`(?:\bgo-version: |\bgolang:)(\d\S*)`).FindAllStringSubmatch(text, -1) {
			goVersions[m[1]] = true
		}
	}
	_, list, ok := strings.Cut(read(t, "../../docs/trust.md"), "\n## Not pinned\n")
	if !ok {
		t.Fatal("docs/trust.md does not list the references that are not pinned")
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(list, -1) {
		listed[m[1]] = true
	}
	if !maps.Equal(loose, listed) {
		t.Errorf("not pinned are\n%q, docs/trust.md lists\n%q", slices.Sorted(maps.Keys(loose)), slices.Sorted(maps.Keys(listed)))
	}
	if len(goVersions) != 1 {
		t.Errorf("a release is built with Go %q", slices.Sorted(maps.Keys(goVersions)))
	}
}

// TestReleasePermissions checks the permissions of the jobs of a release. No step that runs
// third-party code gets a token.
func TestReleasePermissions(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Permissions map[string]string
			Steps       []step
		}
	}
	load(t, ".github/workflows/release.yaml", &w)
	want := map[string]map[string]string{
		"archives": {"contents": "read"},
		"publish":  {"contents": "write", "id-token": "write", "attestations": "write"},
		"image":    {"contents": "read", "packages": "write"},
	}
	for name, job := range w.Jobs {
		if !maps.Equal(job.Permissions, want[name]) {
			t.Errorf("%s may do %v", name, job.Permissions)
		}
		for _, s := range job.Steps {
			if job.Permissions["id-token"] != "" && (strings.Contains(s.Uses, "checkout") || strings.Contains(s.Run, "go install")) {
				t.Errorf("%s may sign, and runs code:\n%s%s", name, s.Uses, s.Run)
			}
			for _, value := range s.Env {
				if strings.Contains(value, "token") && !strings.HasPrefix(s.Run, "docker login ") && !strings.Contains(s.Run, "gh release create ") {
					t.Errorf("%s: this gets a token:\n%s", name, s.Run)
				}
			}
		}
	}
}

// TestReleaseSteps runs the scripts of the release with fake programs that record their arguments.
func TestReleaseSteps(t *testing.T) {
	var w struct {
		Jobs map[string]struct{ Steps []step }
	}
	load(t, ".github/workflows/release.yaml", &w)
	for tag, want := range map[string][]string{
		"v1.2.3": {"gh release create v1.2.3 --verify-tag --notes-file dist/CHANGELOG.md dist/a.tar.gz dist/a.zip dist/a.sbom.json dist/checksums.txt dist/krew.yaml",
			"--tag ghcr.io/unioncel/unioncel:v1.2.3 --tag ghcr.io/unioncel/unioncel:v1.2 --label"},
		"v1.2.3-rc.1": {"--prerelease dist/a.tar.gz", "--tag ghcr.io/unioncel/unioncel:v1.2.3-rc.1 --label"},
	} {
		dir := write(t, map[string]string{
			"bin/tool": "#!/bin/bash\necho \"${0##*/} $*\" >> asked\n", "asked": "",
			"dist/a.tar.gz": "", "dist/a.zip": "", "dist/a.sbom.json": "", "dist/checksums.txt": "", "dist/krew/unioncel.yaml": "",
		})
		if err := os.Chmod(filepath.Join(dir, "bin/tool"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"go", "goreleaser", "gh", "docker"} {
			if err := os.Symlink("tool", filepath.Join(dir, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
		env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
			"GITHUB_REF_NAME="+tag, "GITHUB_SHA=0", "GITHUB_ACTOR=a", "TOKEN=secret", "GH_TOKEN=secret")
		for _, job := range []string{"archives", "publish", "image"} {
			for _, s := range w.Jobs[job].Steps {
				if s.Run == "" {
					continue
				}
				if output, code := run(t, dir, env, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.Run); code != 0 {
					t.Fatalf("exit code %d: %s", code, output)
				}
			}
		}
		asked := read(t, dir, "asked")
		for _, text := range want {
			if !strings.Contains(asked, text) {
				t.Errorf("%s: nothing is asked for %q:\n%s", tag, text, asked)
			}
		}
		if strings.Contains(asked, "secret") {
			t.Errorf("a token is an argument:\n%s", asked)
		}
	}
}

// TestUntrusted checks the workflow for pull requests from forks in docs/trust.md.
func TestUntrusted(t *testing.T) {
	var w struct {
		On          string
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct {
				Uses, Run string
				With      map[string]any
			}
		}
	}
	// The key on is a boolean in YAML 1.1, the version that sigs.k8s.io/yaml reads.
	text := strings.Replace(shownIn(t, "trust.md", "pull request"), "\non: ", "\n\"on\": ", 1)
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	if w.On != "pull_request" || len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
		t.Errorf("on %s, with %v", w.On, w.Permissions)
	}
	inputs := newRunner(t, nil).Inputs
	for name, job := range w.Jobs {
		if job.Permissions != nil {
			t.Errorf("%s has permissions of its own", name)
		}
		for _, s := range job.Steps {
			switch {
			case strings.HasPrefix(s.Uses, "actions/checkout@"):
				if s.With["persist-credentials"] != false {
					t.Error("the token stays in the checkout")
				}
			case strings.HasPrefix(s.Uses, "unioncel/unioncel@"):
				for input := range s.With {
					if _, ok := inputs[input]; !ok {
						t.Errorf("the action has no input %s", input)
					}
				}
				if s.With["config"] != "none" {
					t.Error("the pull request configures its own check")
				}
			default:
				t.Errorf("this may run what a stranger wrote: %+v", s)
			}
		}
	}

	dir := write(t, map[string]string{"config/crd/crd.yaml": compiled(t), ".unioncel.yaml": "apiVersion: unioncel.dev/v1alpha1\nkind: nonsense\n"})
	output, code := run(t, dir, os.Environ(), "bash", "-euo", "pipefail", "-c", shownIn(t, "trust.md", "pull request by hand"))
	if code != 0 {
		t.Errorf("exit code %d: %s", code, output)
	}
}
