package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/unioncel/unioncel/internal/source"
)

// stdinName is what messages call standard input.
const stdinName = "<stdin>"

// input is one file to read.
type input struct {
	n     int    // which of the inputs it is
	name  string // as messages call it
	path  string // empty for standard input
	rel   string // where it belongs below an output directory; empty for standard input
	walk  bool   // found in a directory
	scope *scope // what counts for it
}

// finder collects inputs without repetition.
type finder struct {
	inputs []input
	seen   map[string]bool // by path without symbolic links
	skip   os.FileInfo     // the output directory, nil if there is none yet
	notes  []string        // what was found in a directory and is skipped, and why
}

// findInputs turns arguments into inputs, in the order of the arguments and
// sorted within a directory. The output directory, if it exists, is not
// searched when it lies within another: what is there are earlier results.
// All that is wrong with the arguments is reported together.
func (a *app) findInputs(args []string, output string) ([]input, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	f := finder{seen: map[string]bool{}}
	if output != "" {
		if info, err := os.Stat(output); err == nil && info.IsDir() {
			f.skip = info
		}
	}
	var errs []error
	for _, arg := range args {
		if err := f.add(arg); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range f.inputs {
		f.inputs[i].n = i
	}
	for _, note := range f.notes {
		a.note(note)
	}
	return f.inputs, errors.Join(errs...)
}

// add adds what an argument stands for.
func (f *finder) add(arg string) error {
	switch arg {
	case "":
		return usagef("an argument is empty: a file, a directory or - is needed")
	case "-":
		if !f.seen["-"] {
			f.seen["-"] = true
			f.inputs = append(f.inputs, input{name: stdinName})
		}
		return nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return fileError(arg, err)
	}
	if info.IsDir() {
		return f.addDir(arg)
	}
	return f.addFile(input{name: arg, path: arg, rel: filepath.Base(arg)})
}

// addFile adds a file unless it is there already. A named pipe or device is
// refused: it could not be replaced, and reading it may never end.
func (f *finder) addFile(in input) error {
	info, err := os.Stat(in.path)
	if err != nil {
		return fileError(in.name, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file (- reads standard input)", in.name)
	}
	real, err := realPath(in.path)
	if err != nil {
		return fileError(in.name, err)
	}
	if !f.seen[real] {
		f.seen[real] = true
		f.inputs = append(f.inputs, in)
	}
	return nil
}

// addDir adds the files of a directory. Whoever has filled it may have put links
// there, so those that lead out of it are skipped.
func (f *finder) addDir(dir string) error {
	found := false
	var errs []error
	// WalkDir does not enter a directory through a symbolic link, not even the
	// one it is given, unless the name ends in a separator.
	root := dir
	if !os.IsPathSeparator(root[len(root)-1]) {
		root += string(filepath.Separator)
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		if err == nil {
			err = relErr
		}
		name := filepath.Join(dir, rel)
		if err != nil {
			errs = append(errs, fileError(name, err))
			return nil
		}
		hidden := strings.HasPrefix(entry.Name(), ".")
		switch {
		case rel == ".":
			return nil
		case entry.IsDir():
			if hidden || f.isOutput(entry) {
				return fs.SkipDir
			}
			return nil
		case hidden || !source.IsManifestName(entry.Name()) || isLinkToDir(path, entry):
			return nil
		}
		found = true
		isLink := entry.Type()&fs.ModeSymlink != 0
		switch info, err := os.Stat(path); {
		case isLink && err == nil && leadsOut(path, dir):
			f.notes = append(f.notes, name+": skipped: a symbolic link that leads out of "+dir)
			return nil
		case isLink && err != nil, err == nil && !info.Mode().IsRegular():
			f.notes = append(f.notes, name+": skipped: not a regular file") // or a link that leads nowhere
			return nil
		}
		if err := f.addFile(input{name: name, path: name, rel: rel, walk: true}); err != nil {
			errs = append(errs, err)
		}
		return nil
	})
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s: no *.yaml, *.yml or *.json in this directory", dir)
	}
	return nil
}

// leadsOut reports whether a path leads to a place outside a directory, by symbolic
// links, or to no place that can be found.
func leadsOut(path, dir string) bool {
	file, err := realPath(path)
	root, rootErr := realPath(dir)
	if err != nil || rootErr != nil {
		return true
	}
	rel, err := filepath.Rel(root, file)
	return err != nil || !filepath.IsLocal(rel)
}

// realPath is the absolute path without symbolic links.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// isOutput reports whether a directory is the one that results go to.
func (f *finder) isOutput(entry fs.DirEntry) bool {
	if f.skip == nil {
		return false
	}
	info, err := entry.Info()
	return err == nil && os.SameFile(info, f.skip)
}

func isLinkToDir(path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
