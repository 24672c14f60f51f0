package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/output/patch"
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// completions registers shell completions for the arguments and flags of every command.
func completions(root *cobra.Command) {
	// Otherwise cobra adds these commands later, without completions.
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			describeCompletion(cmd)
		}
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeArguments(cmd)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if complete := completeFlag(cmd, f); complete != nil {
				// Fails only for flags that do not exist.
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
			}
		})
	}
}

// describeCompletion replaces cobra's help by one in the style of the other commands.
func describeCompletion(cmd *cobra.Command) {
	cmd.Short = "Print a script that makes a shell complete commands and flags"
	cmd.Long = `Completion prints a script that makes a shell complete commands, flags, their
values, and the files that a command reads. The help of each shell's command says
where the script is kept.`
	cmd.Example = `  # In this bash
  source <(unioncel completion bash)

  # In every new zsh
  unioncel completion zsh > "${fpath[1]}/_unioncel"`
}

// completeArguments completes positional arguments.
func completeArguments(cmd *cobra.Command) cobra.CompletionFunc {
	switch {
	case cmd.Name() == "help":
		return completeTopics
	case strings.Contains(cmd.Use, "FILE"):
		return manifests
	}
	return cobra.NoFileCompletions
}

// completeFlag returns the completion of a flag's value, or nil if the flag is unknown or takes no
// value.
func completeFlag(cmd *cobra.Command, flag *pflag.Flag) cobra.CompletionFunc {
	switch flag.Name {
	case "format":
		if form, ok := flag.Value.(*format); ok {
			return oneOf(form.of...)
		}
	case "fail-on":
		if cmd.Name() == "diff" {
			return oneOf(failClasses...)
		}
		return oneOf(lint.Thresholds...)
	case "ignore":
		return completeCodes
	case "timeout":
		return oneOf("1m", "10m", "0s")
	case "encoding":
		return oneOf(
			cobra.CompletionWithDesc("auto", "like rules written by hand, while they fit the cost budget"),
			cobra.CompletionWithDesc(string(compile.Fine), "a rule per member and direction"),
			cobra.CompletionWithDesc(string(compile.Compact), "a rule for the states of a union"),
		)
	case "go":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case "kube-version":
		return completeKubeVersions
	case "only":
		return oneOf(words(verdicts)...)
	case "algorithm":
		return oneOf(union.AlgorithmNames()...)
	case "clear":
		return oneOf(clears...)
	case "action":
		return oneOf(policy.Actions...)
	case "failure-policy":
		return oneOf("Fail", "Ignore")
	case "reinvocation":
		return oneOf("Never", "IfNeeded")
	case "type":
		return oneOf(words(patch.Types())...)
	case "base", "crd", "suite", "old", "live", "apply", "from", "to", "crd-status", "objects", "migrations", "servers":
		return manifests
	case "config", "unions":
		return cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	case "output":
		switch cmd.Name() {
		case "schema", "testdata":
			return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case "compile", "decompile", "normalize", "patch", "policy":
			return manifests
		}
	}
	return nil
}

func oneOf(values ...cobra.Completion) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
}

// manifests completes directories and manifest files.
func manifests(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return source.Extensions(), cobra.ShellCompDirectiveFilterFileExt
}

// completeKubeVersions computes the versions lazily: they take longer than the rest of unioncel's
// startup.
func completeKubeVersions(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return oneOf(kubeVersions()...)(cmd, args, toComplete)
}

// completeCodes completes the codes of diagnostics that can be ignored.
func completeCodes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var l []cobra.Completion
	for _, code := range lint.Codes() {
		info, _ := code.Info()
		l = append(l, cobra.CompletionWithDesc(string(code), info.Title))
	}
	return l, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeTopics completes the commands that have help.
func completeTopics(help *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var l []cobra.Completion
	if topic, rest, err := help.Root().Find(args); err == nil && len(rest) == 0 {
		for _, cmd := range topic.Commands() {
			if cmd.IsAvailableCommand() {
				l = append(l, cobra.CompletionWithDesc(cmd.Name(), cmd.Short))
			}
		}
	}
	return l, cobra.ShellCompDirectiveNoFileComp
}

// kubeVersions lists the versions of Kubernetes to compile for, the latest first.
func kubeVersions() []string {
	var l []string
	major, minor := 0, 0
	if _, err := fmt.Sscanf(compile.Linked(), "%d.%d", &major, &minor); err != nil {
		return nil
	}
	for ; minor >= 0; minor-- {
		v := fmt.Sprintf("%d.%d", major, minor)
		if _, err := compile.ParseKubeVersion(v); err != nil {
			break
		}
		l = append(l, v)
	}
	return l
}
