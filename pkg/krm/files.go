package krm

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// file is a file that was read.
type file struct {
	name string
	text []byte
}

// fileReader reads the files that the configuration names.
type fileReader struct {
	fsys    fs.FS
	sources map[string][]byte // what was read, by name
}

// read reads files by name, and those in a directory as the command compile does:
// *.yaml, *.yml and *.json at any depth, without hidden ones and without following
// symbolic links to directories, in order of their names. Kustomizations found there
// are left out. A file that is named twice is read once. What cannot be read is
// reported with the number of the name.
func (f *fileReader) read(names []string, report func(i int, hint, message string)) []file {
	var l []file
	seen := map[string]bool{}
	for i, name := range names {
		clean, err := f.check(name)
		var found []string
		if err == nil {
			found, err = f.find(clean)
		}
		if err != nil {
			report(i, hintOf(err), fmt.Sprintf("%s: %v", name, err))
			continue
		}
		for _, found := range found {
			if seen[found] {
				continue
			}
			seen[found] = true
			text, err := fs.ReadFile(f.fsys, found)
			if err != nil {
				report(i, hintOf(err), fmt.Sprintf("%s: %v", found, reason(err)))
				continue
			}
			f.sources[found] = text
			l = append(l, file{found, text})
		}
	}
	return l
}

// hintedError is an error with an advice of its own.
type hintedError struct{ message, hint string }

func (e hintedError) Error() string { return e.message }

func hintOf(err error) string {
	if hinted, ok := errors.AsType[hintedError](err); ok {
		return hinted.hint
	}
	return "names are relative to the directory of the kustomization"
}

// check returns the name as fs.FS wants it.
func (f *fileReader) check(name string) (string, error) {
	clean := path.Clean(name)
	switch {
	case f.fsys == nil:
		return "", errors.New("there are no files here")
	case strings.Contains(name, "://"):
		return "", hintedError{"a URL is not read", "download it, and name the file"}
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return "", errors.New("the name is absolute")
	case clean == "..", strings.HasPrefix(clean, "../"):
		return "", hintedError{"the file is outside the kustomization",
			"only files in the directory of the kustomization and below can be read: move the file, or put a kustomization beside it and name that among the resources"}
	case !fs.ValidPath(clean):
		return "", errors.New("this is not the name of a file")
	}
	return clean, nil
}

// find returns the files that a name stands for.
func (f *fileReader) find(name string) ([]string, error) {
	info, err := fs.Stat(f.fsys, name)
	switch {
	case err != nil && strings.Contains(name, `\`):
		return nil, hintedError{reason(err).Error(), "write / between directories, on Windows, too"}
	case err != nil && strings.ContainsAny(name, "*?["):
		return nil, hintedError{reason(err).Error(), "name the files, or their directory: there are no patterns"}
	case err != nil:
		return nil, reason(err)
	case info.Mode().IsRegular():
		return []string{name}, nil
	case !info.IsDir():
		return nil, hintedError{"not a regular file", "name a file or a directory"}
	}
	var l []string
	err = fs.WalkDir(f.fsys, name, func(p string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(path.Base(p), ".") && p != name
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", p, reason(err))
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case entry.IsDir() || hidden || !isManifest(p):
			return nil
		}
		info, err := fs.Stat(f.fsys, p)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", p, reason(err))
		case info.Mode().IsRegular():
			l = append(l, p)
		case !info.IsDir():
			return fmt.Errorf("%s: not a regular file", p)
		}
		return nil
	})
	if err == nil && len(l) == 0 {
		err = errors.New("no *.yaml, *.yml or *.json in this directory")
	}
	return l, err
}

// isManifest reports whether a file found in a directory is read.
func isManifest(name string) bool {
	if slices.Contains([]string{"kustomization.yaml", "kustomization.yml"}, path.Base(name)) {
		return false
	}
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// reason is the error of the operating system without the names of calls and files.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
