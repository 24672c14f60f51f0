package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// completions registers shell completions for the arguments and flags of every command.
func completions(root *cobra.Command) {
	// Otherwise cobra adds these commands later, without completions.
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeArguments(cmd)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if values := completeFlag(f); values != nil {
				complete(cmd, f.Name, values)
			}
		})
	}
}

// completeArguments completes positional arguments.
func completeArguments(cmd *cobra.Command) cobra.CompletionFunc {
	switch {
	case strings.Contains(cmd.Use, "CODE"):
		return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if !strings.HasPrefix(toComplete, "UC") {
				return manifests(cmd, args, toComplete)
			}
			return completeCodes(func(diag.CodeInfo) bool { return true })
		}
	case strings.Contains(cmd.Use, "FILE"):
		return manifests
	}
	return cobra.NoFileCompletions
}

// completeFlag returns the completion of a flag by the name of its value in help, or nil.
func completeFlag(flag *pflag.Flag) cobra.CompletionFunc {
	switch value, _ := pflag.UnquoteUsage(flag); {
	case flag.Name == "timeout":
		return oneOf("1m", "10m", "0s")
	case value == "DIR", value == "PATTERN":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case flag.Name == "config", flag.Name == "unions":
		return cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	case strings.Contains(value, "FILE") && flag.Usage != toFile:
		return manifests
	}
	return nil
}

func oneOf(values ...cobra.Completion) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
}

// manifests completes directories and manifest files.
func manifests(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return yamltext.Extensions(), cobra.ShellCompDirectiveFilterFileExt
}

// completeIgnored completes the codes of diagnostics that can be ignored.
func completeIgnored(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeCodes(func(c diag.CodeInfo) bool { return c.Severity != diag.Error })
}

func completeCodes(is func(diag.CodeInfo) bool) ([]cobra.Completion, cobra.ShellCompDirective) {
	var l []cobra.Completion
	for _, c := range diag.Codes {
		if is(c) {
			l = append(l, cobra.CompletionWithDesc(string(c.Code), c.Title))
		}
	}
	return l, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeKubeVersions completes the versions of Kubernetes to compile for, the latest first.
func completeKubeVersions(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var l []string
	major, minor := 0, 0
	_, err := fmt.Sscanf(compile.Linked(), "%d.%d", &major, &minor)
	for ; err == nil && minor >= 0; minor-- {
		var v string
		if v, err = compile.ParseKubeVersion(fmt.Sprintf("%d.%d", major, minor)); err == nil {
			l = append(l, v)
		}
	}
	return oneOf(l...)(cmd, args, toComplete)
}
