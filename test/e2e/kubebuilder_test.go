//go:build exhaustive

package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testprog"
)

const (
	// kubebuilder is the directory of the project, relative to the module root.
	kubebuilder = "examples/kubebuilder"
	bases       = "config/crd/bases"
	samples     = "config/samples"
)

// TestKubebuilder runs a copy of the kubebuilder project through its Makefile, with the real
// controller-gen, and installs the CRDs in the API server.
func TestKubebuilder(t *testing.T) {
	copyProject(t)
	committed := contents(t, ".")

	// Start from scratch, so that no committed file can hide a failure.
	for _, name := range paths(t, ".") {
		if strings.HasPrefix(filepath.Base(name), "zz_generated") || strings.HasPrefix(name, bases) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	generate, manifests, check := recipe(t, "generate"), recipe(t, "manifests"), recipe(t, "check")
	if len(generate) != 1 || len(manifests) != 2 || len(check) != 1 {
		t.Fatalf("the recipes of the Makefile are %q, %q and %q, want one command, two and one", generate, manifests, check)
	}
	run(t, generate[0])
	run(t, manifests[0])
	plain := contents(t, bases)
	run(t, manifests[1])
	hint := "the project is out of date: make -C " + kubebuilder + " generate manifests"
	if diff := cmp.Diff(committed, contents(t, ".")); diff != "" {
		t.Fatalf("%s\n%s", hint, diff)
	}
	run(t, check[0])

	server := servertest.Start(t)
	t.Run("controller-gen alone", func(t *testing.T) { alone(t, server, plain) })
	install := func() {
		for _, name := range paths(t, bases) {
			if err := server.Install(t.Context(), []byte(committed[name])); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	install()
	for _, name := range paths(t, samples) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			_, err := server.Create(t.Context(), []byte(committed[name]))
			wantErrors(t, err, announced(t, name, committed[name]))
		})
	}
	for _, u := range kubebuilderUpdates {
		t.Run(u.sample+": "+u.name, func(t *testing.T) {
			sample := []byte(committed[filepath.ToSlash(filepath.Join(samples, u.sample))])
			_, err := server.Update(t.Context(), u.of(t, sample))
			wantErrors(t, err, u.want)
		})
	}
}

// alone creates the samples under the CRDs of controller-gen. These enforce only the union with
// controller-gen's own marker. Hence the bad samples have no other errors, and every other
// rejection under the compiled CRDs comes from unioncel.
func alone(t *testing.T, server *servertest.Server, crds map[string]string) {
	for name, crd := range crds {
		if strings.Contains(crd, "unioncel") {
			t.Errorf("%s mentions unioncel", name)
		}
		if err := server.Install(t.Context(), []byte(crd)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, text := range contents(t, samples) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var want []string
			if filepath.Base(name) == "bad-alert-condition.yaml" {
				want = []string{"spec.condition: Invalid value: exactly one of the fields in [threshold absence expression] must be set"}
			}
			_, err := server.Create(t.Context(), []byte(text))
			wantErrors(t, err, want)
		})
	}
	for _, crd := range crds {
		var manifest struct {
			Metadata struct{ Name string }
		}
		if err := sigsyaml.Unmarshal([]byte(crd), &manifest); err != nil {
			t.Fatal(err)
		}
		if err := server.Remove(t.Context(), manifest.Metadata.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKubebuilderReadme compares the project's README with its Makefile, its configuration, and the
// errors that TestKubebuilder expects.
func TestKubebuilderReadme(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", kubebuilder))
	readme := file(t, "README.md")
	want := []string{"```yaml\n" + string(file(t, ".unioncel.yaml")) + "```\n"}
	for _, target := range []string{"manifests", "check"} {
		_, lines, _ := strings.Cut(string(file(t, "Makefile")), "\n"+target+": ")
		_, lines, _ = strings.Cut(lines, "\n")
		lines, _, _ = strings.Cut(lines, "\n\n")
		want = append(want, "```make\n"+target+":\n"+strings.TrimSuffix(lines, "\n")+"\n```\n")
	}
	for _, block := range want {
		if !strings.Contains(string(readme), block) {
			t.Errorf("README.md does not have\n%s", block)
		}
	}
	var seen []string
	for name, text := range contents(t, samples) {
		seen = append(seen, announced(t, name, text)...)
	}
	for _, u := range kubebuilderUpdates {
		seen = append(seen, u.want...)
	}
	errors := 0
	for line := range strings.Lines(string(readme)) {
		if e, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "* "); ok {
			if errors++; !slices.Contains(seen, e) {
				t.Errorf("README.md has an error that no sample has: %s", e)
			}
		}
	}
	if errors == 0 {
		t.Error("README.md has no errors")
	}
	if _, err := os.Stat("../../cmd/unioncel/main.go"); err != nil {
		t.Errorf("UNIONCEL in the Makefile: %v", err)
	}
}

// kubebuilderUpdates are tried in this order.
var kubebuilderUpdates = []struct {
	sample string
	exampleUpdate
}{
	{"good-contact.yaml", exampleUpdate{
		name: "another type leaves its member behind",
		set:  map[string]any{"spec.type": "Chat"},
		want: []string{
			"spec.email: Invalid value: email is required when type is 'Email', and forbidden otherwise",
			"spec.type: Invalid value: when type changes, the member of its old value must be cleared",
		},
	}},
	{"good-contact.yaml", exampleUpdate{
		name: "the older version bypasses nothing",
		set: map[string]any{
			"apiVersion":       "notify.example.com/v1alpha1",
			"spec.displayName": nil,
			"spec.type":        "Webhook",
			"spec.webhook":     map[string]any{"url": "https://hooks.example.com"},
		},
		want: []string{
			"spec.email: Invalid value: email is required when type is 'Email', and forbidden otherwise",
			"spec.type: Invalid value: when type changes, the member of its old value must be cleared",
		},
	}},
	{"good-contact.yaml", exampleUpdate{
		name: "another type with its member, which is optional, cleared",
		set:  map[string]any{"spec.type": "Chat", "spec.email": nil},
	}},
	{"good-alert.yaml", exampleUpdate{
		name: "an item of a list, and a union in its member",
		set: map[string]any{"spec.receivers": []any{
			map[string]any{"name": "on-call", "type": "Email", "email": map[string]any{"to": "on-call@example.com"}},
			map[string]any{"name": "tickets", "type": "Webhook", "webhook": map[string]any{
				"url": "https://tickets.example.com/hook", "authType": "Bearer",
				"basic": map[string]any{"secretName": "tickets"}, "bearer": map[string]any{"secretName": "token"},
			}},
		}},
		want: []string{
			"spec.receivers[1].webhook.authType: Invalid value: when authType changes, the member of its old value must be cleared",
			"spec.receivers[1].webhook.basic: Invalid value: basic is required when authType is 'Basic', and forbidden otherwise",
		},
	}},
	{"good-alert.yaml", exampleUpdate{
		name: "a value without a member leaves one behind",
		set:  map[string]any{"spec.escalation.policy": "Never"},
		want: []string{
			"spec.escalation.policy: Invalid value: when policy changes, the member of its old value must be cleared",
			"spec.escalation.repeat: Invalid value: repeat is required when policy is 'Repeat', and forbidden otherwise",
		},
	}},
	{"good-alert.yaml", exampleUpdate{
		name: "unions without a discriminator",
		set: map[string]any{
			"spec.condition.expression": "vector(1)",
			"spec.selector":             map[string]any{},
			"spec.mutedUntil":           "2030-01-01T00:00:00Z",
		},
		want: []string{
			"spec.condition: Invalid value: exactly one of threshold, absence, expression must be set",
			"spec: Invalid value: mute: at most one of mutedUntil, mutedBy may be set",
			"spec: Invalid value: target: exactly one of services, selector must be set",
		},
	}},
	{"good-alert.yaml", exampleUpdate{
		name: "an empty list and an empty string count as cleared",
		set: map[string]any{
			"spec.services":   []any{},
			"spec.selector":   map[string]any{},
			"spec.mutedUntil": "2030-01-01T00:00:00Z",
			"spec.mutedBy":    "",
		},
	}},
}

// copyProject copies the project into a module with the dependencies and tools of this module, and
// makes the copy the working directory.
func copyProject(t *testing.T) {
	t.Helper()
	root, module := filepath.Join("..", ".."), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(module, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(module, kubebuilder)
	if err := os.CopyFS(project, os.DirFS(filepath.Join(root, kubebuilder))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
}

// recipe returns the commands of a target of the Makefile as words, with variables replaced by
// their defaults.
func recipe(t *testing.T, target string) [][]string {
	t.Helper()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var commands [][]string
	var variables []string
	inside := false
	for line := range strings.Lines(string(makefile)) {
		line = strings.TrimSuffix(line, "\n")
		command, indented := strings.CutPrefix(line, "\t")
		if !indented {
			inside = strings.HasPrefix(line, target+":")
		} else if inside {
			commands = append(commands, strings.Fields(strings.NewReplacer(variables...).Replace(command)))
		}
		if name, value, ok := strings.Cut(line, " ?= "); ok {
			variables = append(variables, "$("+name+")", value)
		}
	}
	return commands
}

// run runs a command of the Makefile, which must succeed. It uses the cached build of unioncel.
func run(t *testing.T, command []string) {
	t.Helper()
	t.Logf("%s", strings.Join(command, " "))
	if unioncel := []string{"go", "run", "../../cmd/unioncel"}; len(command) > 3 && slices.Equal(command[:3], unioncel) {
		path, err := testprog.Path("unioncel")
		if err != nil {
			t.Fatal(err)
		}
		command = append([]string{path}, command[3:]...)
	}
	if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// announced returns the server's errors listed in the comment at the top of a bad sample.
func announced(t *testing.T, name, text string) []string {
	t.Helper()
	var l []string
	if comment, ok := strings.CutPrefix(text, "# The API server says:\n"); ok {
		for line := range strings.Lines(comment) {
			says, ok := strings.CutPrefix(line, "#   ")
			if !ok {
				break
			}
			l = append(l, strings.TrimSuffix(says, "\n"))
		}
	}
	if bad := strings.HasPrefix(filepath.Base(name), "bad-"); bad != (len(l) > 0) {
		t.Fatalf("%s announces the errors %q", name, l)
	}
	return l
}

// contents returns the files below a directory by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, name := range paths(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = string(data)
	}
	return m
}

// paths returns the sorted paths of the files below a directory, with slashes.
func paths(t *testing.T, dir string) []string {
	t.Helper()
	var l []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			l = append(l, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil || len(l) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	return l
}
