//go:build unix && exhaustive

package packaging

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// action contains the fields of action.yml that the tests use.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []step }
}

// step is a step of an action or of a workflow.
type step struct {
	Name, ID, If, Uses, Run, Shell string
	Env                            map[string]string
	WorkingDirectory               string `json:"working-directory"`
}

// runner runs steps of the action like GitHub does.
type runner struct {
	action
	workspace string
	temp      string
	environ   map[string]string
}

func newRunner(t *testing.T, files map[string]string) *runner {
	t.Helper()
	r := &runner{workspace: write(t, files), temp: t.TempDir()}
	load(t, "action.yml", &r.action)
	r.environ = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": r.temp, "CI": "true", "GOGC": os.Getenv("GOGC"), // see testgc
		"RUNNER_TEMP": r.temp, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
		"GITHUB_WORKSPACE": r.workspace,
		"GITHUB_PATH":      filepath.Join(r.temp, "path"), "GITHUB_OUTPUT": filepath.Join(r.temp, "output"),
	}
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *([a-z._-]+) *\}\}`)

// step runs the script of one step with these inputs, and the defaults of the others. It returns
// the output and the exit code.
func (r *runner) step(t *testing.T, name string, inputs map[string]string) (output string, code int) {
	t.Helper()
	value := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			context, input, _ := strings.Cut(expression.FindStringSubmatch(e)[1], ".")
			in, ok := r.Inputs[input]
			if context != "inputs" || !ok {
				t.Fatalf("%s: %s is no input", name, e)
			}
			if v, ok := inputs[input]; ok {
				return v
			}
			return in.Default
		})
	}
	for _, s := range r.Runs.Steps {
		if s.Name != name {
			continue
		}
		env := maps.Clone(r.environ)
		for k, v := range s.Env {
			env[k] = value(v)
		}
		var environ []string
		for k, v := range env {
			environ = append(environ, k+"="+v)
		}
		script := filepath.Join(r.temp, "step.sh")
		if err := os.WriteFile(script, []byte(s.Run), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(r.workspace, value(s.WorkingDirectory))
		return run(t, dir, environ, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	}
	t.Fatalf("action.yml has no step %q", name)
	return "", 0
}

// commands returns the lines that the runner interprets as commands, which are none between
// stop-commands and its token.
func commands(output string) []string {
	var l []string
	var token string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		switch {
		case token != "":
			if line == "::"+token+"::" {
				token = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			token = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::"):
			l = append(l, line)
		}
	}
	return l
}

const (
	checkStep    = "Check that unions are compiled"
	lintStep     = "Lint unions"
	sarifStep    = "Write SARIF"
	downloadStep = "Download unioncel"
)

// head is the beginning of a configuration.
const head = "apiVersion: unioncel.dev/v1alpha1\nkind: Config\n"

func TestActionCheck(t *testing.T) {
	done, old := compiled(t), compiled(t, "--kube-version", "1.26")
	for _, test := range []struct {
		name   string
		files  map[string]string
		inputs map[string]string
		code   int
		output string
	}{
		{"clean", map[string]string{"crds/a.yaml": done}, nil, 0, ""},
		{"nothing to do", map[string]string{"a.yaml": "a: 1\n"}, nil, 0, ""},
		{"not compiled", map[string]string{"crds/a.yaml": source}, nil, 1, "-            x-kubernetes-unions:\n"},
		{"elsewhere", map[string]string{"crds/a.yaml": source, "ok/a.yaml": done}, map[string]string{"paths": "ok"}, 0, ""},
		{"several paths", map[string]string{"a b/a.yaml": done, "c.yaml": source, "d.yaml": source},
			map[string]string{"paths": "a b\nc.yaml\n"}, 1, "c.yaml"},
		{"directory", map[string]string{"sub/a.yaml": source}, map[string]string{"working-directory": "sub"}, 1, "a.yaml"},
		{"same arguments", map[string]string{"a.yaml": old}, map[string]string{"compile-arguments": "--kube-version=1.26"}, 0, ""},
		{"no arguments", map[string]string{"a.yaml": old}, nil, 1, "+            - fieldPath: .type\n"},
		{"other arguments", map[string]string{"a.yaml": old}, map[string]string{"compile-arguments": "--kube-version=1.37"}, 1, "+            - fieldPath: .type\n"},
		{"configuration", map[string]string{"a.yaml": old, ".unioncel.yaml": head}, nil, 1, "+            - fieldPath: .type\n"},
		{"no configuration", map[string]string{"a.yaml": old, ".unioncel.yaml": head}, map[string]string{"config": "none", "compile-arguments": "--kube-version=1.26"}, 0, ""},
		{"another configuration", map[string]string{"a.yaml": old, ".unioncel.yaml": head, "other": head + "kubeVersion: \"1.26\"\n"}, map[string]string{"config": "other"}, 0, ""},
		{"error", map[string]string{"a.yaml": strings.Replace(source, "tcp: TCP", "tpc: TCP", 1)}, nil, 1, "a.yaml:25:17: error: UC203: "},
		{"no such file", nil, map[string]string{"paths": "missing.yaml"}, 2, "missing.yaml"},
		{"wrong argument", nil, map[string]string{"compile-arguments": "--wrong"}, 2, "unknown flag: --wrong"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t, test.files)
			output, code := r.step(t, checkStep, test.inputs)
			if code != test.code || !strings.Contains(output, test.output) {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, test.code, test.output, output)
			}
			var want []string
			if test.code == 1 {
				want = []string{"::error title=unioncel::Unions are not compiled, or have errors. Run 'unioncel compile -w' and commit what it writes."}
			}
			if got := commands(output); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("commands %q, want %q", got, want)
			}
			for name, text := range test.files {
				if read(t, r.workspace, name) != text {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

// Inputs and files never become commands.
func TestActionHostile(t *testing.T) {
	crd := strings.Replace(source, "            x-kubernetes-unions:\n", "            description: |\n              ::error::obeyed\n            x-kubernetes-unions:\n", 1)
	r := newRunner(t, map[string]string{"$(touch obeyed).yaml": crd, "`touch obeyed`": "", "; touch obeyed": ""})
	for _, name := range []string{checkStep, lintStep, sarifStep} {
		output, _ := r.step(t, name, map[string]string{
			"paths":             "$(touch obeyed).yaml\n`touch obeyed`\n; touch obeyed\n\"; touch obeyed; \"",
			"compile-arguments": "--kube-version=$(touch obeyed)",
			"lint-arguments":    "--kube-version=$(touch obeyed)",
			"fail-on":           "$(touch obeyed)",
		})
		if _, err := os.Lstat(filepath.Join(r.workspace, "obeyed")); err == nil {
			t.Errorf("%s: an input was run", name)
		}
		if strings.Contains(output, "syntax error") {
			t.Errorf("%s: an input became part of the script:\n%s", name, output)
		}
	}
	output, code := r.step(t, checkStep, map[string]string{"paths": "$(touch obeyed).yaml"})
	if code != 1 || !strings.Contains(output, "::error::obeyed") {
		t.Fatalf("exit code %d, and the line is not shown:\n%s", code, output)
	}
	for _, c := range commands(output) {
		if strings.Contains(c, "obeyed") {
			t.Errorf("a line of a file is a command: %s", c)
		}
	}
}

func TestActionLint(t *testing.T) {
	bad := strings.Replace(source, "tcp: TCP", "tpc: TCP", 1)
	noEnum := strings.Replace(source, "enum: [HTTP, TCP]", "", 1)
	for _, test := range []struct {
		name   string
		text   string
		inputs map[string]string
		code   int
		want   string // in a command
	}{
		{"clean", source, nil, 0, ""},
		{"compiled", compiled(t), nil, 0, ""},
		{"error", bad, nil, 1, "::error file=crds/a.yaml,line=25,"},
		{"never", bad, map[string]string{"fail-on": "never"}, 0, "::error file=crds/a.yaml,line=25,"},
		{"wrong severity", source, map[string]string{"fail-on": "sometimes"}, 2, ""},
		{"arguments", source, map[string]string{"lint-arguments": "--kube-version=1.2"}, 2, ""},
		{"configuration", noEnum, map[string]string{"fail-on": "warning"}, 0, ""},
		{"no configuration", noEnum, map[string]string{"fail-on": "warning", "config": "none"}, 1, "UC520"},
		{"another configuration", noEnum, map[string]string{"fail-on": "warning", "config": "strict"}, 1, "::error file=crds/a.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t, map[string]string{"crds/a.yaml": test.text,
				".unioncel.yaml": head + "lint: {ignore: [UC520]}\n", "strict": head + "lint: {severities: {UC520: error}}\n"})
			output, code := r.step(t, lintStep, test.inputs)
			got := strings.Join(commands(output), "\n")
			if code != test.code || !strings.Contains(got, test.want) || (test.want == "" && got != "") {
				t.Errorf("exit code %d, want %d, and %q in:\n%s", code, test.code, test.want, output)
			}
		})
	}
}

func TestActionSARIF(t *testing.T) {
	bad := map[string]string{"a.yaml": strings.Replace(source, "tcp: TCP", "tpc: TCP", 1)}
	for _, test := range []struct {
		name, arguments, config string
		code                    int
		rule                    string // of the first result; empty if no file is written
	}{
		{"error", "", "", 0, "UC203"},
		{"arguments", "--fail-on=info\n--format=text", "", 0, "UC203"},
		{"configuration", "", head + "lint: {failOn: info}\n", 0, "UC203"},
		{"wrong configuration", "", "kind: Config\n", 1, "UC706"},
		{"wrong argument", "--wrong", "", 2, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := maps.Clone(bad)
			if test.config != "" {
				files[".unioncel.yaml"] = test.config
			}
			r := newRunner(t, files)
			output, code := r.step(t, sarifStep, map[string]string{"lint-arguments": test.arguments})
			if code != test.code {
				t.Fatalf("exit code %d, want %d: %s", code, test.code, output)
			}
			set, err := os.ReadFile(r.environ["GITHUB_OUTPUT"])
			if test.rule == "" {
				if err == nil {
					t.Errorf("there is an output %s", set)
				}
				return
			}
			file, ok := strings.CutPrefix(strings.TrimSpace(string(set)), "file=")
			if !ok {
				t.Fatal("there is no output file=")
			}
			var log struct {
				Version string
				Runs    []struct {
					Results []struct{ RuleID, Level string }
				}
			}
			decodeJSON(t, read(t, file), &log)
			if log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) == 0 || log.Runs[0].Results[0].RuleID != test.rule || log.Runs[0].Results[0].Level != "error" {
				t.Errorf("%+v", log)
			}
		})
	}
}
