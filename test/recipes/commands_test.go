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

// commands are what the scripts can do besides running programs. Where a tool
// cannot be had without a network, they do what it does with the files of a recipe.
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

// module makes the working directory a Go module with some of k8s.io/apimachinery.
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

// [!] make TARGET runs the commands of a target of the Makefile, whose variables
// the environment overrides.
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

// [!] eventually PROGRAM [ARG]... runs a program until it succeeds, or fails: a
// server takes up what was written a moment later.
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

// run runs a program, which must fail when neg.
func run(ts *testscript.TestScript, neg bool, program string, args ...string) {
	switch err := ts.Exec(program, args...); {
	case err != nil && !neg:
		ts.Fatalf("%v", err)
	case err == nil && neg:
		ts.Fatalf("unexpected success")
	}
}

// decode reads a file strictly: a key that is unknown, or in another case, is an error.
func decode(ts *testscript.TestScript, name string, into any) {
	data, err := yaml.YAMLToJSONStrict([]byte(ts.ReadFile(name)))
	ts.Check(err)
	unknown, err := json.UnmarshalStrict(data, into)
	ts.Check(errors.Join(append(unknown, err)...))
}

// pluginCommand is Command of Argo CD's cmpserver/plugin/config.go (v3.6.1).
type pluginCommand struct {
	Command []string `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

// plugin is the part of PluginConfig there that recipes use.
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

// [!] argocd-generate PLUGIN runs the generate command of a ConfigManagementPlugin in
// the working directory, as Argo CD does.
func argocdGenerate(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] argocd-generate PLUGIN")
	}
	var p plugin
	decode(ts, args[0], &p)
	// Its ValidatePluginConfig.
	if p.Metadata.Name == "" || p.Kind != "ConfigManagementPlugin" || len(p.Spec.Generate.Command) == 0 {
		ts.Fatalf("%s is no ConfigManagementPlugin with a generate command", args[0])
	}
	if found, err := filepath.Glob(ts.MkAbs(p.Spec.Discover.FileName)); err != nil || len(found) == 0 {
		ts.Fatalf("the plugin is not for this directory: it has no %s", p.Spec.Discover.FileName)
	}
	command := append(p.Spec.Generate.Command, p.Spec.Generate.Args...)
	run(ts, neg, command[0], command[1:]...)
}

// [!] argocd-kustomize CONFIGMAP DIR builds a kustomization with the options of the
// ConfigMap argocd-cm, as Argo CD does (util/kustomize/kustomize.go).
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

// [!] flux-build DIR builds a kustomization as Flux's kustomize-controller does
// (Build in github.com/fluxcd/pkg/kustomize v1.44.0).
func fluxBuild(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] flux-build DIR")
	}
	run(ts, neg, "kustomize", "build", "--load-restrictor", "LoadRestrictionsNone", args[0])
}

// helmPlugin is the part of MetadataV1, with the configuration of the runtime
// subprocess, that recipes use (helm.sh/helm/v4/internal/plugin, v4.3.1).
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

// [!] helm-postrender PLUGIN runs a plugin of Helm 4 of type postrenderer/v1 on what
// stdin was set to.
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
