package cli

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
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

// sameName reports whether two names are of one file.
func sameName(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return a == b && errA == nil && errB == nil
}

// realPath is the absolute path without symbolic links.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// leadsOut reports whether a path leads to a place external a directory, by symbolic
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

// repository returns the nearest directory upwards that is the root of a Git
// repository, or else dir.
func repository(dir string) (root string, found bool) {
	for at := dir; ; at = filepath.Dir(at) {
		// In a worktree .git is a file.
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}

// relative returns the path of a file from base, with slashes whatever the separator
// is; that of a file external base is absolute. The file is named from dir; base and
// dir are absolute. Standard input keeps its name.
func relative(base, dir, file string, separator rune) string {
	if file == "" || file == stdinName {
		return file
	}
	slashed := func(s string) string { return strings.ReplaceAll(s, string(separator), "/") }
	name := slashed(file)
	windows := separator == '\\'
	if !path.IsAbs(name) && !(windows && hasDrive(name)) {
		name = slashed(dir) + "/" + name
	}
	name = path.Clean(name)
	from, to := strings.Split(path.Clean(slashed(base)), "/"), strings.Split(name, "/")
	if from[len(from)-1] == "" {
		from = from[:len(from)-1] // the root
	}
	for i := range from {
		if i >= len(to)-1 || from[i] != to[i] && !(windows && strings.EqualFold(from[i], to[i])) {
			return name
		}
	}
	return path.Join(to[len(from):]...)
}

// hasDrive reports whether a path begins with a drive letter of Windows.
func hasDrive(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z')
}
