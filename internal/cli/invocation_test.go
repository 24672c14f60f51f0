package cli

import (
	"slices"
	"testing"
)

func TestInvocation(t *testing.T) {
	for _, tt := range []struct {
		args []string
		name string
		rest []string
	}{
		{nil, "unioncel", nil},
		{[]string{"/usr/bin/unioncel", "compile", "-"}, "unioncel", []string{"compile", "-"}},
		{[]string{"bin/whatever", "fn"}, "unioncel", []string{"fn"}},
		{[]string{"/usr/local/bin/unioncel-fn"}, "unioncel", []string{"fn"}},
		{[]string{"unioncel-fn.exe", "--help"}, "unioncel", []string{"fn", "--help"}},
		{[]string{"UNIONCEL-FN.EXE"}, "unioncel", []string{"fn"}},
		{[]string{"/home/unioncel-fn/unioncel", "version"}, "unioncel", []string{"version"}},
		{[]string{"/krew/bin/kubectl-unioncel", "version"}, "kubectl unioncel", []string{"version"}},
	} {
		name, rest := invocation(tt.args)
		if name != tt.name || !slices.Equal(rest, tt.rest) {
			t.Errorf("%q is %q %q, want %q %q", tt.args, name, rest, tt.name, tt.rest)
		}
	}
}
