package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// plan says to which path the result of each input goes. It is nil when
// results are printed.
func plan(inputs []input, flags *conversion) ([]string, error) {
	switch {
	case flags.write:
		return inPlace(inputs, "-w")
	case flags.output != "":
		return elsewhere(inputs, flags.output)
	default:
		return nil, nil
	}
}

// inPlace is the plan of a flag that replaces the inputs.
func inPlace(inputs []input, flag string) ([]string, error) {
	targets := make([]string, len(inputs))
	for i, in := range inputs {
		if in.path == "" {
			return nil, usagef("%s replaces files, and standard input is none", flag)
		}
		targets[i] = in.path
	}
	return targets, nil
}

func elsewhere(inputs []input, output string) ([]string, error) {
	info, err := os.Stat(output)
	switch {
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", output)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, fileError(output, err)
	}
	exists := err == nil
	isDir := exists && info.IsDir() || !exists && os.IsPathSeparator(output[len(output)-1])

	if len(inputs) == 1 && !inputs[0].walk && !isDir {
		return []string{output}, noLink(output)
	}
	if exists && !isDir {
		return nil, fmt.Errorf("%s: not a directory, as several results need", output)
	}
	return below(inputs, output)
}

// below places results in a directory.
func below(inputs []input, dir string) ([]string, error) {
	targets := make([]string, len(inputs))
	taken := map[string]string{} // by which input
	for i, in := range inputs {
		if in.path == "" {
			return nil, usagef("-o %s is a directory, and standard input has no name to get there", dir)
		}
		targets[i] = filepath.Join(dir, in.rel)
		if other, ok := taken[targets[i]]; ok {
			return nil, fmt.Errorf("%s: both %s and %s would go there", targets[i], other, in.name)
		}
		taken[targets[i]] = in.name
	}
	var errs []error
	seen := map[string]bool{filepath.Clean(dir): true}
	for _, target := range targets {
		for at := target; !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
			errs = append(errs, noLink(at))
		}
	}
	return targets, errors.Join(errs...)
}

// noLink returns an error when there is a symbolic link of this name: results would go
// to where whoever made it wants them.
func noLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s: a symbolic link, and nothing is written through one: remove it", path)
	}
	return nil
}
