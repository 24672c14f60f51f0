//go:build exhaustive

package recipes

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/testprog"
)

// commands are the commands of the scripts besides running programs. Some replace tools that
// require a network, and process the files of a recipe like the tools do.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"module":           module,
		"make":             runMake,
		"eventually":       eventually,
		"argocd-generate":  argocdGenerate,
		"argocd-kustomize": argocdKustomize,
		"flux-build":       fluxBuild,
		"helm-postrender":  helmPostrender,
	}
}

// module turns the working directory into a Go module with parts of k8s.io/apimachinery.
func module(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: module")
	}
	env, err := testprog.Module(ts.MkAbs("."))
	ts.Check(err)
	for name, value := range env {
		ts.Setenv(name, value)
	}
}

// [!] make TARGET runs the commands of a target of the Makefile. The environment overrides its
// variables.
func runMake(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] make TARGET")
	}
	var script, variables []string
	inside := false
	for line := range strings.Lines(ts.ReadFile("Makefile")) {
		line = strings.TrimSuffix(line, "\n")
		if command, indented := strings.CutPrefix(line, "\t"); !indented {
			inside = strings.HasPrefix(line, args[0]+":")
		} else if inside {
			script = append(script, strings.NewReplacer(variables...).Replace(command))
		}
		if name, value, ok := strings.Cut(line, " ?= "); ok {
			if override := ts.Getenv(name); override != "" {
				value = override
			}
			variables = append(variables, "$("+name+")", value)
		}
	}
	if len(script) == 0 {
		ts.Fatalf("the Makefile has no target %s", args[0])
	}
	run(ts, neg, "sh", "-ec", strings.Join(script, "\n"))
}

// [!] eventually PROGRAM [ARG]... runs a program until it succeeds (or fails, with !), because a
// server applies changes with a small delay.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: [!] eventually PROGRAM [ARG]...")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if (err != nil) == neg {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still: %v", err)
		}
	}
}

// run runs a program, which must fail if neg is set.
func run(ts *testscript.TestScript, neg bool, program string, args ...string) {
	switch err := ts.Exec(program, args...); {
	case err != nil && !neg:
		ts.Fatalf("%v", err)
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	}
}

// decode reads a file strictly: a key that is unknown or has another case is an error.
func decode(ts *testscript.TestScript, name string, into any) {
	data, err := yaml.YAMLToJSONStrict([]byte(ts.ReadFile(name)))
	ts.Check(err)
	unknown, err := json.UnmarshalStrict(data, into)
	ts.Check(errors.Join(append(unknown, err)...))
}

// pluginCommand is the type Command in Argo CD's cmpserver/plugin/config.go (v3.6.1).
type pluginCommand struct {
	Command []string `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// plugin contains the fields of PluginConfig in that file that recipes use.
type plugin struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            struct {
		Version  string        `json:"version"`
		Init     pluginCommand `json:"init"`
		Generate pluginCommand `json:"generate"`
		Discover struct {
			FileName string `json:"fileName"`
		} `json:"discover"`
	} `json:"spec"`
}

// [!] argocd-generate PLUGIN runs the generate command of a ConfigManagementPlugin in the working
// directory, like Argo CD does.
func argocdGenerate(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] argocd-generate PLUGIN")
	}
	var p plugin
	decode(ts, args[0], &p)
	// Mirrors ValidatePluginConfig.
	if p.Metadata.Name == "" || p.Kind != "ConfigManagementPlugin" || len(p.Spec.Generate.Command) == 0 {
		ts.Fatalf("%s is no ConfigManagementPlugin with a generate command", args[0])
	}
	if found, err := filepath.Glob(ts.MkAbs(p.Spec.Discover.FileName)); err != nil || len(found) == 0 {
		ts.Fatalf("the plugin is not for this directory: it has no %s", p.Spec.Discover.FileName)
	}
	command := append(p.Spec.Generate.Command, p.Spec.Generate.Args...)
	run(ts, neg, command[0], command[1:]...)
}

// [!] argocd-kustomize CONFIGMAP DIR builds a kustomization with the options of the ConfigMap
// argocd-cm, like Argo CD does (util/kustomize/kustomize.go).
func argocdKustomize(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] argocd-kustomize CONFIGMAP DIR")
	}
	var config struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        metav1.ObjectMeta `json:"metadata"`
		Data            map[string]string `json:"data"`
	}
	decode(ts, args[0], &config)
	options := config.Data["kustomize.buildOptions"]
	if config.Kind != "ConfigMap" || config.Metadata.Name != "argocd-cm" || options == "" {
		ts.Fatalf("%s is not argocd-cm, or has no kustomize.buildOptions", args[0])
	}
	run(ts, neg, "kustomize", append([]string{"build", args[1]}, strings.Fields(options)...)...)
}

// [!] flux-build DIR builds a kustomization like Flux's kustomize-controller does (Build in
// github.com/fluxcd/pkg/kustomize v1.44.0).
func fluxBuild(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] flux-build DIR")
	}
	run(ts, neg, "kustomize", "build", "--load-restrictor", "LoadRestrictionsNone", args[0])
}

// helmPlugin contains the fields of MetadataV1, with the configuration of the runtime subprocess,
// that recipes use (helm.sh/helm/v4/internal/plugin, v4.3.1).
type helmPlugin struct {
	APIVersion    string `json:"apiVersion"`
	Name          string `json:"name"`
	Version       string `json:"version"`
	Type          string `json:"type"`
	Runtime       string `json:"runtime"`
	RuntimeConfig struct {
		PlatformCommand []struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"platformCommand"`
	} `json:"runtimeConfig"`
}

// [!] helm-postrender PLUGIN runs a Helm 4 plugin of type postrenderer/v1 on the current stdin.
func helmPostrender(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] helm-postrender PLUGIN")
	}
	var p helmPlugin
	decode(ts, args[0], &p)
	if p.APIVersion != "v1" || p.Name == "" || p.Version == "" || p.Type != "postrenderer/v1" || p.Runtime != "subprocess" || len(p.RuntimeConfig.PlatformCommand) != 1 {
		ts.Fatalf("%s is no plugin that renders with one command", args[0])
	}
	command := p.RuntimeConfig.PlatformCommand[0]
	run(ts, neg, command.Command, command.Args...)
}
