package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/source"
)

const (
	// configFile is the configuration of the files in its directory and below.
	configFile = ".unioncel.yaml"
	// notConfigFile is what it is not to be called, lest it is missed.
	notConfigFile = ".unioncel.yml"
)

// configFlags say which configuration counts.
type configFlags struct {
	file string
	none bool
}

func (f *configFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "config", "", "read the configuration from this `FILE`, not from "+configFile)
	cmd.Flags().BoolVar(&f.none, "no-config", false, "read no configuration")
	// It fails for flags that do not exist only.
	_ = cmd.RegisterFlagCompletionFunc("config", cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt))
}

// finder returns what finds the configuration of an input: its name, empty when there
// is none.
func (f *configFlags) finder(cmd *cobra.Command) func(input) (string, error) {
	found := map[string]string{} // by directory
	return func(in input) (string, error) {
		switch {
		case f.none && f.file != "":
			return "", usagef("--config and --no-config exclude each other")
		case f.none:
			return "", nil
		case cmd.Flags().Changed("config") && f.file == "":
			return "", usagef("--config needs the name of a file; --no-config is for none")
		case f.file != "":
			return f.file, nil
		}
		dir := filepath.Dir(in.path) // of standard input "."
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

// surroundings returns the directory of a file, and the one in which what belongs to it
// is looked for: the repository, or else the working directory when the file is below
// it.
func surroundings(file string) (dir, root string, err error) {
	work, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	if dir = filepath.Dir(file); !filepath.IsAbs(dir) {
		dir = filepath.Join(work, dir)
	}
	root, found := repository(dir)
	if rel, err := filepath.Rel(work, dir); !found && err == nil && filepath.IsLocal(rel) {
		root = work
	}
	return dir, root, nil
}

// nearestConfig returns the name of the configuration that is nearest to a file, in its
// directory or one above; empty when there is none.
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

// short names a file from the working directory.
func short(file string) string {
	work, err := os.Getwd()
	if err != nil {
		return file
	}
	if name, err := filepath.Rel(work, file); err == nil {
		return name
	}
	return file
}

// readConfig reads a configuration or a UnionSet.
func readConfig(name string) ([]byte, error) {
	src, err := source.ReadConfig(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		return nil, fileError(name, err)
	}
	return src, nil
}
