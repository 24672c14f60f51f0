package cli

import (
	"errors"
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

const (
	// configFile is the configuration of the files in its directory and below.
	configFile = ".unioncel.yaml"
	// notConfigFile is a common misspelling, reported as an error.
	notConfigFile = ".unioncel.yml"
)

// flagOrigins are the origins of options that flags give.
var flagOrigins = compile.Origins{KubeVersion: "--kube-version", Encoding: "--encoding"}

// compilerFlags select the configuration, the unions to compile and the form of the rules.
type compilerFlags struct {
	cmd        *cobra.Command  // nil for a command without configuration and external declarations
	given      declared.Config // the options that flags give, without lint's
	failOn     string
	ignore     []string
	forget     bool
	configFile string
	noConfig   bool
	// skipInvalid leaves out the unions of Go structs with errors. edits marks packages that get
	// markers, and are checked after that.
	skipInvalid, edits bool
	// current makes CRDs that are older than their Go types errors.
	current bool
	// judges marks commands that analyze CRDs and do not compile CRDs in use.
	judges bool
	// gate makes the command count CRDs and unions, and totals makes it always print the numbers; loud
	// makes it name the configuration.
	gate, totals, loud bool
}

// register adds the flags of commands that compile unions.
func (c *compilerFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.given.KubeVersion, "kube-version", "",
		fmt.Sprintf("oldest Kubernetes `VERSION` that must accept the result (default %s)", compile.Linked()))
	check(cmd, "kube-version", compile.ParseKubeVersion)
	complete(cmd, "kube-version", completeKubeVersions)
	cmd.Flags().StringVar((*string)(&c.given.Encoding), "encoding", string(compile.Auto),
		"how to write the rules: auto, fine (one for each member and direction) or compact\n(one for the states of a union); docs/cost.md compares them")
	cmd.Flags().Lookup("encoding").DefValue = "auto"
	check(cmd, "encoding", func(value string) (string, error) {
		e, err := compile.ParseEncoding(value)
		return string(e), err
	})
	complete(cmd, "encoding", oneOf(
		cobra.CompletionWithDesc("auto", "like rules written by hand, while they fit the cost budget"),
		cobra.CompletionWithDesc(string(compile.Fine), "a rule per member and direction"),
		cobra.CompletionWithDesc(string(compile.Compact), "a rule for the states of a union"),
	))
	c.registerUnions(cmd)
}

// registerUnions adds the flags of commands that read unions.
func (c *compilerFlags) registerUnions(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.given.Go, "go", nil,
		"read unions from the markers in the Go packages of this `PATTERN`, such as ./api/...; repeatable")
	cmd.Flags().BoolVar(&c.given.Kubebuilder, "kubebuilder", false,
		"with --go, compile +kubebuilder:validation:ExactlyOneOf, AtMostOneOf and AtLeastOneOf too, and\nreplace the rules that controller-gen has written for them")
	cmd.Flags().StringArrayVar(&c.given.Unions, "unions", nil, "read unions from this `FILE`, a UnionSet; repeatable")
	c.registerConfig(cmd)
}

// registerConfig adds the flags of commands that read CRDs.
func (c *compilerFlags) registerConfig(cmd *cobra.Command) {
	c.cmd = cmd
	cmd.Flags().StringVar(&c.configFile, "config", "", "read the configuration from this `FILE` instead of "+configFile)
	cmd.Flags().BoolVar(&c.noConfig, "no-config", false, "read no configuration")
	check(cmd, "config", func(name string) (string, error) {
		if name == "" {
			return "", errors.New("needs a file name; use --no-config to read none")
		}
		return name, nil
	})
}

// registerGate adds the flag for commands that act as gates in pipelines.
func (c *compilerFlags) registerGate(cmd *cobra.Command) {
	c.gate = true
	cmd.Flags().BoolVar(&c.given.RequireUnions, "require-unions", false, "exit with 1 if the inputs have no unions at all")
}

// registerStrict adds the flag for commands that report problems of a CRD.
func (c *compilerFlags) registerStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.given.Strict, "strict", false, "report problems that a CRD has apart from its unions as errors, not warnings")
}

// registerForget adds the flag for commands that revert the rules an annotation records.
func (c *compilerFlags) registerForget(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.forget, "forget", false,
		"keep rules that the annotation claims, but its unions do not write, as hand-written ones")
}

// override applies the given flags to the configuration of a scope, whose packages and files become
// relative to the working directory. Files that the configuration names must be in its repository.
func (c *compilerFlags) override(s *scope) error {
	config, given := &s.config, c.cmd.Flags().Changed
	for flag, apply := range map[string]func(){
		"kube-version":   func() { config.KubeVersion, config.Origins.KubeVersion = c.given.KubeVersion, flagOrigins.KubeVersion },
		"encoding":       func() { config.Encoding, config.Origins.Encoding = c.given.Encoding, flagOrigins.Encoding },
		"no-annotation":  func() { config.NoAnnotation = c.given.NoAnnotation },
		"require-unions": func() { config.RequireUnions = c.given.RequireUnions },
		"strict":         func() { config.Strict = c.given.Strict },
		"kubebuilder":    func() { config.Kubebuilder = c.given.Kubebuilder },
	} {
		if given(flag) {
			apply()
		}
	}
	if given("fail-on") || config.Lint.FailOn == nil {
		failOn, _ := report.ParseThreshold(c.failOn)
		config.Lint.FailOn = &failOn
	}
	for _, code := range c.ignore {
		config.Lint.Ignore = append(config.Lint.Ignore, diag.Code(code))
	}
	home := filepath.Dir(s.name)
	_, root, err := surroundings(s.name)
	if err != nil {
		return err
	}
	if len(c.given.Go) > 0 {
		config.Go = c.given.Go
	} else if len(config.Go) > 0 {
		s.dir, s.project = home, true
	}
	for _, pattern := range config.Go {
		dir := filepath.Join(home, filepath.FromSlash(strings.TrimSuffix(pattern, "/...")))
		if s.dir != "" && build.IsLocalImport(pattern) && exists(dir) && leadsOut(dir, root) {
			return fmt.Errorf("%s: go: %s: leads out of %s: give it with --go", s.name, pattern, root)
		}
	}
	config.Kubebuilder = config.Kubebuilder && (given("kubebuilder") || len(config.Go) > 0)
	if len(c.given.Unions) > 0 {
		config.Unions = c.given.Unions
		return nil
	}
	for i, name := range config.Unions {
		file := filepath.Join(home, filepath.FromSlash(name))
		if leadsOut(file, root) {
			return fmt.Errorf("%s: unions: %s: there is no such file in %s, or it leads out of it", s.name, name, root)
		}
		config.Unions[i], s.project = file, true
	}
	return nil
}

// configOf returns the name of an input's configuration, or "" if there is none.
func (c *compilerFlags) configOf(in input) (string, error) {
	switch {
	case c.noConfig && c.configFile != "":
		return "", usagef("--config and --no-config cannot be used together")
	case c.noConfig, c.cmd == nil:
		return "", nil
	case c.configFile != "":
		return c.configFile, nil
	}
	return nearestConfig(in.path)
}

// nearestConfig returns the name of the nearest configuration, in the directory of a file or an
// ancestor, or "" if there is none.
func nearestConfig(file string) (string, error) {
	dir, root, err := surroundings(file)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		name := filepath.Join(at, configFile)
		if exists(name) {
			if leadsOut(name, root) {
				return "", fmt.Errorf("%s: a symbolic link that leads out of %s: name the file with --config, or remove the link", short(name), root)
			}
			return short(name), nil
		}
		if wrong := filepath.Join(at, notConfigFile); exists(wrong) {
			return "", fmt.Errorf("%s is not read: name it %s", short(wrong), configFile)
		}
		if at == root {
			return "", nil
		}
	}
}

// readConfig reads a configuration or a UnionSet.
func (a *app) readConfig(name string) ([]byte, error) {
	src, err := yamltext.ReadConfig(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		return nil, fileError(name, err)
	}
	a.keep(name, src)
	return src, nil
}

// checked is the value of a flag that is checked when the command line is read.
type checked struct {
	pflag.Value
	check func(string) (string, error)
}

func (c checked) Set(value string) error {
	value, err := c.check(value)
	if err != nil {
		return err
	}
	return c.Value.Set(value)
}

// check adds a check of the values of a flag, which returns the value to set.
func check(cmd *cobra.Command, name string, check func(string) (string, error)) {
	f := cmd.Flag(name)
	f.Value = checked{f.Value, check}
	if f.DefValue == "[]" {
		f.DefValue = "" // help prints the default of types that are not pflag's
	}
}

// choose limits the values of a flag to some words, which completion offers.
func choose(cmd *cobra.Command, name string, words ...string) {
	list := cmd.Flag(name).Value.Type() == "stringSlice"
	check(cmd, name, func(value string) (string, error) {
		given := []string{value}
		if list {
			given = strings.Split(value, ",")
		}
		for _, word := range given {
			if !slices.Contains(words, word) {
				return "", fmt.Errorf("%q is not %s", word, alternatives(words))
			}
		}
		return value, nil
	})
	complete(cmd, name, oneOf(words...))
}

// complete adds the completion of the values of a flag.
func complete(cmd *cobra.Command, name string, values cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(name, values) // fails only for flags that do not exist
}

// registerFormat adds the flag --format for the thing that is printed. The first format is the
// default.
func registerFormat(cmd *cobra.Command, format *string, what string, formats ...string) {
	cmd.Flags().StringVar(format, "format", formats[0], "how to print "+what+": "+alternatives(formats))
	choose(cmd, "format", formats...)
}

// toFile is the usage of the flag -o of a command that writes one file.
const toFile = "write to this `FILE` instead of standard output"

// registerOutput adds the flag -o. Its value - is standard output.
func registerOutput(cmd *cobra.Command, path *string, usage string) {
	cmd.Flags().StringVarP(path, "output", "o", "", usage)
	check(cmd, "output", func(path string) (string, error) {
		switch {
		case path == "":
			return "", fmt.Errorf("needs the name of a file")
		case path == "yaml" || slices.Contains(report.Formats(true), path):
			return "", fmt.Errorf("takes a file, --format a format; for a file of that name write ./%s", path)
		case path == "-":
			return "", nil
		}
		return path, nil
	})
}

// printing holds the flags of a command that prints results in one piece.
type printing struct {
	format, path string
}

func (p *printing) register(cmd *cobra.Command, what string, formats ...string) {
	registerFormat(cmd, &p.format, what, formats...)
	registerOutput(cmd, &p.path, toFile)
}
