package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/source"
)

// configFile is read when it is in the working directory or, in a repository, in one
// above it.
const configFile = ".unioncel.yaml"

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

// find returns the name of the configuration, empty when there is none.
func (f *configFlags) find(cmd *cobra.Command) (string, error) {
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
	return nearestConfig()
}

// nearestConfig returns the name of the configuration in the working directory or, in
// a repository, in the nearest one above it; empty when there is none.
func nearestConfig() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root := repository(dir)
	for at := dir; ; at = filepath.Dir(at) {
		file := filepath.Join(at, configFile)
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			if name, err := filepath.Rel(dir, file); err == nil {
				file = name
			}
			if leadsOut(file, root) {
				return "", fmt.Errorf("%s: a symbolic link that leads out of %s: name the file with --config, or remove the link", file, root)
			}
			return file, nil
		}
		if at == root {
			return "", nil
		}
	}
}

// readConfig reads a configuration or a UnionSet.
func readConfig(name string) ([]byte, error) {
	src, err := source.ReadConfig(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		return nil, fileError(name, err)
	}
	return src, nil
}
