package product

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// inputFile is a file with its content.
type inputFile struct {
	name  string
	found bool // found in a directory in the configuration, instead of in the configuration itself
	text  []byte
}

// fileReader reads the files that the configuration names.
type fileReader struct {
	fsys    fs.FS
	sources map[string][]byte // the content of the files that were read, by name
}

// read reads files by name with readFile. In a directory, it reads *.yaml, *.yml and *.json at any
// depth, sorted by name. Like the command compile, it skips hidden files and symbolic links to
// directories. A file with several names is read once. Errors are reported with the index of the
// name.
func (f *fileReader) read(names []string, readFile func(fs.FS, string) ([]byte, error), report func(i int, hint, message string)) []inputFile {
	var l []inputFile
	seen := map[string]int{}
	for i, name := range names {
		unread := func(name string, err error) { report(i, hintOf(err), fmt.Sprintf("%s: %v", name, err)) }
		clean, err := f.check(name)
		var found []string
		if err == nil {
			found, err = f.find(clean)
		}
		if err != nil {
			unread(name, err)
			continue
		}
		for _, p := range found {
			named := p == clean
			if at, ok := seen[p]; ok {
				l[at].found = l[at].found && !named
				continue
			}
			text, err := readFile(f.fsys, p)
			if err != nil {
				unread(p, reason(err))
				continue
			}
			seen[p] = len(l)
			f.sources[p] = text
			l = append(l, inputFile{p, !named, text})
		}
	}
	return l
}

// hintedError is an error with its own hint.
type hintedError struct{ message, hint string }

func (e hintedError) Error() string { return e.message }

func hintOf(err error) string {
	if hinted, ok := errors.AsType[hintedError](err); ok {
		return hinted.hint
	}
	return "names are relative to the directory of the kustomization"
}

const insideHint = "only files in the directory of the kustomization and below can be read: "

// check returns a name in the form that fs.FS requires.
func (f *fileReader) check(name string) (string, error) {
	clean := path.Clean(name)
	switch {
	case f.fsys == nil:
		return "", errors.New("there are no files here")
	case strings.Contains(name, "://"):
		return "", hintedError{"a URL is not read", "download it, and name the file"}
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return "", errors.New("the name is absolute")
	case strings.Contains(name, `\`):
		return "", hintedError{"there is a backslash in the name", "separate directories by /, also on Windows"}
	case clean == "..", strings.HasPrefix(clean, "../"):
		return "", hintedError{"the file is outside the kustomization",
			insideHint + "move the file, or put a kustomization next to it and name that among the resources"}
	case !fs.ValidPath(clean):
		return "", errors.New("this is not the name of a file")
	}
	return clean, nil
}

// find returns the files for a name.
func (f *fileReader) find(name string) ([]string, error) {
	info, err := fs.Stat(f.fsys, name)
	switch {
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
		case entry.IsDir() || hidden || !yamltext.IsManifestName(p):
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

// escapes is the error of os.Root for a symbolic link that leads outside. No variable exports this
// error. check has already rejected names that lead outside.
const escapes = "path escapes from parent"

// reason returns the error of the operating system, without the names of the call and the file.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if err.Error() == escapes {
		return hintedError{"leads out of the kustomization through a symbolic link",
			insideHint + "put the file there in place of the link, or put a kustomization next to it and name that among the resources"}
	}
	return err
}
