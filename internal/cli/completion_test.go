package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCompletionOfFlags asks for every value of every flag: each flag has
// completions, and a command takes every value that is offered for it.
func TestCompletionOfFlags(t *testing.T) {
	free := []string{"lint --config", "explain --output", "infer --output", "lint --output", "verify --output"} // files of any name
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
			for _, value := range values {
				value, _, _ = strings.Cut(value, "\t")
				seen++
				var errs bytes.Buffer
				a := newApp(Streams{In: strings.NewReader("a: 1\n"), Out: new(bytes.Buffer), Err: &errs})
				if code := a.execute(t.Context(), []string{cmd.Name(), "--" + f.Name, value}); code != exitClean {
					t.Errorf("%s %s: exit code %d: %s", name, value, code, &errs)
				}
			}
		})
	}
	if seen == 0 {
		t.Error("no values at all")
	}
}
