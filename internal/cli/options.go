package cli

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/declared/project"
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

const (
	// configFile is the configuration of the files in its directory and below.
	configFile = ".unioncel.yaml"
	// notConfigFile is a common misspelling, reported as an error.
	notConfigFile = ".unioncel.yml"
)

// compilerFlags select the unions to compile and the form of the rules.
type compilerFlags struct {
	config configFlags
	given  project.Config // the options that flags give
	failOn string
	ignore []string
	forget bool
	unions externalFlags
	// judges marks commands that analyze CRDs and do not compile CRDs in use.
	judges bool
	// gate makes the command print the numbers of CRDs and unions; loud makes it name the
	// configuration.
	gate, loud bool
}

func (c *compilerFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.given.KubeVersion, "kube-version", "",
		fmt.Sprintf("oldest Kubernetes `VERSION` that must accept the result (default %s)", compile.Linked()))
	check(cmd, "kube-version", compile.ParseKubeVersion)
	complete(cmd, "kube-version", completeKubeVersions)
	cmd.Flags().StringVar((*string)(&c.given.Encoding), "encoding", string(compile.Auto),
		"how to write the rules: auto, fine or compact; see unioncel help encodings")
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
	c.unions.register(cmd)
	c.config.register(cmd)
}

// registerGate adds the flag for commands that act as gates in pipelines.
func (c *compilerFlags) registerGate(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.given.RequireUnions, "require-unions", false, "exit with 1 if the inputs have no unions at all")
}

// registerStrict adds the flag for commands that report problems of a CRD.
func (c *compilerFlags) registerStrict(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.given.Strict, "strict", false, "report problems that a CRD has apart from its unions as errors, not warnings")
}

// registerForget adds the flag for commands that revert the rules an annotation records.
func registerForget(cmd *cobra.Command, forget *bool) {
	cmd.Flags().BoolVar(forget, "forget", false,
		"keep rules that the annotation claims, but its unions do not write, as hand-written ones")
}

// override applies the given flags to a configuration.
func (c *compilerFlags) override(cmd *cobra.Command, config *project.Config) {
	given := cmd.Flags().Changed
	if given("kube-version") {
		config.KubeVersion = c.given.KubeVersion
	}
	if given("encoding") {
		config.Encoding = c.given.Encoding
	}
	if given("no-annotation") {
		config.NoAnnotation = c.given.NoAnnotation
	}
	if given("require-unions") {
		config.RequireUnions = c.given.RequireUnions
	}
	if given("strict") {
		config.Strict = c.given.Strict
	}
	if given("fail-on") || config.Lint.FailOn == nil {
		failOn := lint.Threshold(max(0, slices.Index(lint.Thresholds, c.failOn)))
		config.Lint.FailOn = &failOn
	}
	for _, code := range c.ignore {
		config.Lint.Ignore = append(config.Lint.Ignore, diag.Code(code))
	}
}

// declarations returns the sources of external declarations in a scope.
func (c *compilerFlags) declarations(cmd *cobra.Command, s *scope) (externalFlags, error) {
	config, home, unions := s.config, filepath.Dir(s.name), c.unions
	unions.listed = config.SkipInvalid
	unions.asked = len(unions.packages)+len(unions.sets) > 0
	// Files that the configuration names must be in its repository.
	_, root, err := surroundings(s.name)
	if err != nil {
		return unions, err
	}
	if len(unions.packages) == 0 && len(config.Go) > 0 {
		for _, pattern := range config.Go {
			dir := filepath.Join(home, filepath.FromSlash(strings.TrimSuffix(pattern, "/...")))
			if build.IsLocalImport(pattern) && exists(dir) && leadsOut(dir, root) {
				return unions, fmt.Errorf("%s: go: %s: leads out of %s: give it with --go", s.name, pattern, root)
			}
		}
		unions.packages, unions.dir, unions.config, unions.project = config.Go, home, s.name, true
	}
	if !cmd.Flags().Changed("kubebuilder") {
		unions.kubebuilder = config.Kubebuilder && len(unions.packages) > 0
	}
	if len(c.unions.sets) == 0 {
		for _, name := range config.Unions {
			file := filepath.Join(home, filepath.FromSlash(name))
			if leadsOut(file, root) {
				return unions, fmt.Errorf("%s: unions: %s: there is no such file in %s, or it leads out of it", s.name, name, root)
			}
			unions.sets, unions.project = append(unions.sets, file), true
		}
	}
	return unions, nil
}

// configFlags select the configuration.
type configFlags struct {
	file string
	none bool
}

func (f *configFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "config", "", "read the configuration from this `FILE` instead of "+configFile)
	cmd.Flags().BoolVar(&f.none, "no-config", false, "read no configuration")
}

// finder returns a function that returns the name of an input's configuration, or "" if there is
// none.
func (f *configFlags) finder(cmd *cobra.Command) func(input) (string, error) {
	found := map[string]string{} // by directory
	return func(in input) (string, error) {
		switch {
		case f.none && f.file != "":
			return "", usagef("--config and --no-config cannot be used together")
		case f.none:
			return "", nil
		case cmd.Flags().Changed("config") && f.file == "":
			return "", usagef("--config needs a file name; use --no-config to read none")
		case f.file != "":
			return f.file, nil
		}
		dir := filepath.Dir(in.path) // "." for standard input
		name, ok := found[dir]
		if !ok {
			var err error
			if name, err = nearestConfig(in.path); err != nil {
				return "", err
			}
			found[dir] = name
		}
		return name, nil
	}
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
	src, err := source.ReadConfig(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		return nil, fileError(name, err)
	}
	a.keep(name, src)
	return src, nil
}
