package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// inPlace makes each input its own target, for a flag that replaces the inputs.
func inPlace(inputs []input, flag string) error {
	for i, in := range inputs {
		if in.path == "" {
			return usagef("%s replaces files, and %s is not one", flag, in.stream())
		}
		inputs[i].target = in.path
	}
	return nil
}

// outputPaths sets the targets for -o.
func outputPaths(inputs []input, output string) error {
	info, err := os.Stat(output)
	switch {
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", output)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fileError(output, err)
	}
	exists := err == nil
	isDir := exists && info.IsDir() || !exists && os.IsPathSeparator(output[len(output)-1])

	if len(inputs) == 1 && !inputs[0].walk && !isDir {
		inputs[0].target = output
		return noLink(output)
	}
	if exists && !isDir {
		return fmt.Errorf("%s: not a directory, as several results need", output)
	}
	return resultPaths(inputs, output)
}

// resultPaths sets targets in a directory.
func resultPaths(inputs []input, dir string) error {
	var targets []string
	taken := map[string]string{} // input by target
	for i, in := range inputs {
		if in.path == "" {
			return usagef("-o %s is a directory, and %s has no file name", dir, in.stream())
		}
		target := filepath.Join(dir, in.rel)
		if other, ok := taken[target]; ok {
			return fmt.Errorf("%s: both %s and %s would be written there", target, other, in.name)
		}
		taken[target] = in.name
		inputs[i].target, targets = target, append(targets, target)
	}
	return noLinks(dir, targets)
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

// noLink returns an error if the path is a symbolic link: the author of the link would choose where
// results are written.
func noLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s: a symbolic link, and nothing is written through one: remove it", path)
	}
	return nil
}

// write writes a result to the file of -o, or to standard output.
func (a *app) write(path string, data []byte) error {
	if path == "" {
		return a.print(data)
	}
	if err := noLink(path); err != nil {
		return err
	}
	return a.batch.replace([]output{{path, data}})
}

// writeIn writes files of CRDs into a directory, all or none.
func (a *app) writeIn(dir string, files []output) error {
	seen := map[string]bool{}
	var paths []string
	for i, f := range files {
		if seen[f.path] {
			return fmt.Errorf("two CRDs have the file %s: give only one of them", f.path)
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

// print writes to standard output.
func (a *app) print(data []byte) error {
	if _, err := a.streams.Out.Write(data); err != nil {
		return fileError("write standard output", err)
	}
	return nil
}
