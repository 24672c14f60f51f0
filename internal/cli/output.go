package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/pkg/diag"
)

// plan says to which path the result of each input goes. It is nil when
// results are printed.
func plan(inputs []input, flags *conversion) ([]string, error) {
	switch {
	case flags.write:
		return inPlace(inputs, "-w")
	case flags.output != "":
		return outputPaths(inputs, flags.output)
	default:
		return nil, nil
	}
}

// inPlace is the plan of a flag that replaces the inputs.
func inPlace(inputs []input, flag string) ([]string, error) {
	targets := make([]string, len(inputs))
	for i, in := range inputs {
		if in.path == "" {
			return nil, usagef("%s replaces files, and %s is not one", flag, in.stream())
		}
		targets[i] = in.path
	}
	return targets, nil
}

// outputPaths is the plan of -o.
func outputPaths(inputs []input, output string) ([]string, error) {
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
	return resultPaths(inputs, output)
}

// resultPaths places results in a directory.
func resultPaths(inputs []input, dir string) ([]string, error) {
	targets := make([]string, len(inputs))
	taken := map[string]string{} // by which input
	for i, in := range inputs {
		if in.path == "" {
			return nil, usagef("-o %s is a directory, and %s has no file name", dir, in.stream())
		}
		targets[i] = filepath.Join(dir, in.rel)
		if other, ok := taken[targets[i]]; ok {
			return nil, fmt.Errorf("%s: both %s and %s would be written there", targets[i], other, in.name)
		}
		taken[targets[i]] = in.name
	}
	return targets, noLinks(dir, targets)
}

// noLinks returns an error for each symbolic link between a directory and files in it.
func noLinks(dir string, files []string) error {
	var errs []error
	seen := map[string]bool{filepath.Clean(dir): true}
	for _, file := range files {
		for at := file; !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
			errs = append(errs, noLink(at))
		}
	}
	return errors.Join(errs...)
}

// noLink returns an error when there is a symbolic link of this name: results would go
// to where the author of the link wants them.
func noLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s: a symbolic link, and nothing is written through one: remove it", path)
	}
	return nil
}

// registerOutput adds the flag -o of a command that writes one file.
func registerOutput(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "output", "o", "", "write to this `FILE` instead of standard output")
}

// checkOutput checks the flag -o. With -o - it is as if it had not been given.
func checkOutput(cmd *cobra.Command, path *string) error {
	switch {
	case cmd.Flags().Changed("output") && *path == "":
		return usagef("-o needs the name of a file")
	case slices.Contains(append(diagnosticFormatNames(), "markdown", "yaml"), *path):
		return usagef("-o takes a file, --format a format; for a file of that name write ./%s", *path)
	case *path == "-":
		*path = ""
	}
	return nil
}

// printing holds the flags of a command that prints results in one piece.
type printing struct {
	format
	path string
}

func (p *printing) register(cmd *cobra.Command, what string, formats ...string) {
	p.format.register(cmd, what, formats...)
	registerOutput(cmd, &p.path)
}

// write writes a result to where -o says.
func (a *app) write(path string, data []byte) error {
	if path == "" {
		return a.print(data)
	}
	if err := noLink(path); err != nil {
		return err
	}
	return a.batch.replace([]output{{path, data}})
}

// writeIn writes files into a directory, all or none. It is an error, which twice makes,
// when two of them have the same path.
func (a *app) writeIn(dir string, files []output, twice func(path string) error) error {
	seen := map[string]bool{}
	var paths []string
	for i, f := range files {
		if seen[f.path] {
			return twice(f.path)
		}
		seen[f.path] = true
		files[i].path = filepath.Join(dir, f.path)
		paths = append(paths, files[i].path)
	}
	if err := noLinks(dir, paths); err != nil {
		return err
	}
	return a.batch.replace(files)
}

// writeText writes a result with what others wrote in it. It is escaped, but for JSON,
// which has escapes of its own.
func (a *app) writeText(p *printing, data []byte) error {
	if p.name != "json" {
		data = []byte(diag.Escape(string(data)))
	}
	return a.write(p.path, data)
}

// print writes to standard output.
func (a *app) print(data []byte) error {
	if _, err := a.streams.Out.Write(data); err != nil {
		return fileError("write standard output", err)
	}
	return nil
}
