//go:build unix && exhaustive

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// shown returns the block of docs/install.md with this name.
func shown(t *testing.T, name string) string {
	t.Helper()
	return shownIn(t, "install.md", name)
}

func shownIn(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)<!-- test: " + name + " -->\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(read(t, "..", "..", "docs", page))
	if m == nil {
		t.Fatalf("docs/%s has no block %q", page, name)
	}
	return m[1]
}

// TestInstallPlugin runs the commands on the page with a kubectl that finds plugins by name in
// PATH, like the real one.
func TestInstallPlugin(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".local", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"kubectl": `#!/bin/sh
plugin="kubectl-$1"
shift
exec "$plugin" "$@"
`,
		"kubectl_complete-unioncel": shown(t, "plugin completion"),
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
	output, code := run(t, home, env, "bash", "-euo", "pipefail", "-c", shown(t, "plugin"))
	if code != 0 || !strings.HasPrefix(output, "unioncel ") {
		t.Errorf("exit code %d: %s", code, output)
	}
	output, code = run(t, home, env, "kubectl", "unioncel", "compile", "--help")
	if code != 0 || !strings.Contains(output, "\n  kubectl unioncel compile [FILE|DIR|-]...") || !strings.Contains(output, "\n  kubectl unioncel compile crd.yaml\n") {
		t.Errorf("exit code %d, and help does not say kubectl unioncel: %s", code, output)
	}
	output, code = run(t, home, env, filepath.Join(bin, "kubectl_complete-unioncel"), "comp")
	if code != 0 || !strings.HasPrefix(output, "compile\t") {
		t.Errorf("completion, exit code %d: %s", code, output)
	}
}

// TestInstallCompletion runs the commands that print completion scripts. Only bash loads its
// script.
func TestInstallCompletion(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "fish", "completions"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(shown(t, "completion"), "| Out-String | Invoke-Expression", "> powershell", 1)
	output, code := run(t, home, append(os.Environ(), "HOME="+home), "bash", "-euo", "pipefail", "-c", "fpath=(. .)\n"+script+"complete -p unioncel")
	if code != 0 || !strings.Contains(output, "__start_unioncel unioncel") {
		t.Errorf("exit code %d: %s", code, output)
	}
	for _, name := range []string{"_unioncel", ".config/fish/completions/unioncel.fish", "powershell"} {
		if read(t, home, name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

// TestInstallHooks checks that the hooks on the page exist, and runs the local one.
func TestInstallHooks(t *testing.T) {
	type configuration struct{ Repos []struct{ Hooks []hook } }
	parse := func(name string) configuration {
		var c configuration
		if err := yaml.Unmarshal([]byte(shown(t, name)), &c); err != nil || len(c.Repos) != 1 || len(c.Repos[0].Hooks) == 0 {
			t.Fatalf("%s: %v, %+v", name, err, c)
		}
		return c
	}
	var known []hook
	load(t, ".pre-commit-hooks.yaml", &known)
	ids := map[string]bool{}
	for _, h := range known {
		ids[h.ID] = true
	}
	for _, h := range parse("pre-commit").Repos[0].Hooks {
		if !ids[h.ID] {
			t.Errorf("there is no hook %s", h.ID)
		}
	}

	head, declaration, _ := strings.Cut(source, "            x-kubernetes-unions:\n")
	declaration, properties, _ := strings.Cut(declaration, "            properties:\n")
	bare := head + "            properties:\n" + properties
	dir := write(t, map[string]string{"config/crd/crd.yaml": bare,
		"unions.yaml": "apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\nschemas:\n- crd: backends.example.com\n  path: spec\n  x-kubernetes-unions:\n" + declaration})
	config := "apiVersion: unioncel.dev/v1alpha1\nkind: Config\nunions: [unions.yaml]\n"
	if err := os.WriteFile(filepath.Join(dir, ".unioncel.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pre-commit sources", "pre-commit local"} {
		h := parse(name).Repos[0].Hooks[0]
		entry := h.Entry
		if at := slices.IndexFunc(known, func(k hook) bool { return k.ID == h.ID }); entry == "" && at >= 0 {
			entry = known[at].Entry
		}
		if err := os.WriteFile(filepath.Join(dir, "config/crd/crd.yaml"), []byte(bare), 0o644); err != nil {
			t.Fatal(err)
		}
		output, code := run(t, dir, os.Environ(), "bash", "-c", entry+" "+strings.Join(h.Args, " "))
		if got := read(t, dir, "config/crd/crd.yaml"); code != 0 || !strings.Contains(got, "x-kubernetes-validations") {
			t.Errorf("%s: exit code %d: %s\n%s", name, code, output, got)
		}
		// A change of any declaration runs the hook, on inputs that did not change.
		if h.PassFilenames == nil || *h.PassFilenames || (len(h.TypesOr) > 0 && !slices.Contains(h.TypesOr, "go")) {
			t.Errorf("%s: a change of a Go type does not run %+v", name, h)
		}
		files := regexp.MustCompile(h.Files)
		for file, want := range map[string]bool{
			"api/v1/types.go": true, "unions.yaml": true, ".unioncel.yaml": true, "config/crd/crd.yaml": true,
			"cmd/main.go": false, "go.mod": false, "config/manager/manager.yaml": false, "docs/unions.yaml": false,
		} {
			if files.MatchString(file) != want {
				t.Errorf("%s: whether a change of %s runs it is %t, want %t: %s", name, file, !want, want, h.Files)
			}
		}
	}
}

// TestInstallAction checks the inputs on the page against action.yml.
func TestInstallAction(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(shown(t, "action")), &workflow); err != nil {
		t.Fatal(err)
	}
	inputs, seen := newRunner(t, nil).Inputs, 0
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if !strings.HasPrefix(s.Uses, "unioncel/unioncel@") {
				continue
			}
			for name := range s.With {
				seen++
				if _, ok := inputs[name]; !ok {
					t.Errorf("the action has no input %s", name)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("the page shows no input")
	}
}

// TestInstallPath checks that the package in the page's go install command exists.
func TestInstallPath(t *testing.T) {
	const module = "github.com/unioncel/unioncel/cmd/unioncel"
	out, err := exec.Command("go", "list", "../../cmd/unioncel").Output()
	if err != nil || strings.TrimSpace(string(out)) != module || !strings.Contains(read(t, "..", "..", "docs", "install.md"), "go install "+module+"@latest\n") {
		t.Errorf("the page does not install %s: %v", out, err)
	}
}
