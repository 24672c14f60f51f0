package cli

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// Each flag has completions, and commands accept the offered values: one in three, or all with
// [unioncases.Exhaustive].
func TestCompletionOfFlags(t *testing.T) {
	free := []string{ // files of any name, names
		"lint --config", "audit --output", "diff --output", "explain --output", "infer --output", "infer --path", "lint --output", "verify --output", "validate --output", "rollout --output", "policy --output", "policy --kind", "policy --path", "policy --match-labels",
	}
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n"
	live := filepath.Join(t.TempDir(), "live.yaml")
	inUse := filepath.Join(t.TempDir(), "crd.yaml")
	// Additional input for commands on objects.
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com},
  spec: {group: example.com, scope: Cluster, names: {kind: Thing, listKind: ThingList, plural: things, singular: thing},
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
`
	status := strings.Replace(crd, "spec:", "status: {storedVersions: [v1]}, spec:", 1)
	if err := errors.Join(os.WriteFile(live, []byte(deployment), 0o644), os.WriteFile(inUse, []byte(status), 0o644)); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{"audit": crd, "diff": crd, "schema": crd, "normalize": deployment, "patch": deployment, "validate": crd + "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}}\n"}
	flags := map[string][]string{"diff": {"--versions"}, "normalize": {"--builtin"}, "policy": {"--builtin", "--kind", "Service"}, "policy --action": {"--builtin", "--kind", "Service", "--validate"}, "patch": {"--builtin", "--live", live}, "rollout": {inUse, inUse}, "testdata": {"--output", t.TempDir()}}
	seen := 0
	for _, cmd := range newApp(Streams{}).rootCommand(nil).Commands() {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := cmd.Name() + " --" + f.Name
			if f.NoOptDefVal != "" || slices.Contains(free, name) {
				return
			}
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Errorf("%s: no completions", name)
				return
			}
			values, directive := complete(cmd, nil, "")
			if directive&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0 {
				return
			}
			if len(values) == 0 {
				t.Errorf("%s: no values", name)
			}
			for _, value := range unioncases.Some(values, 3, seen) {
				value, _, _ = strings.Cut(value, "\t")
				seen++
				var errs bytes.Buffer
				a := newApp(Streams{In: strings.NewReader(cmp.Or(inputs[cmd.Name()], "a: 1\n")), Out: new(bytes.Buffer), Err: &errs})
				more := flags[name]
				if more == nil {
					more = flags[cmd.Name()]
				}
				if code := a.execute(t.Context(), append([]string{cmd.Name(), "--" + f.Name, value}, more...)); code != exitClean {
					t.Errorf("%s %s: exit code %d: %s", name, value, code, &errs)
				}
			}
		})
	}
	if seen == 0 {
		t.Error("no values at all")
	}
}
