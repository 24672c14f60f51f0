package cli

import (
	"os"
	"path/filepath"
)

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// short returns the path of a file relative to the working directory.
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

// sameName reports whether two names denote the same absolute path.
func sameName(a, b string) bool {
	a, errA := filepath.Abs(a)
	b, errB := filepath.Abs(b)
	return a == b && errA == nil && errB == nil
}

// realPath returns the absolute path without symbolic links.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// leadsOut reports whether symbolic links lead from a path to a file outside a directory, or to no
// existing file.
func leadsOut(path, dir string) bool {
	file, err := realPath(path)
	root, rootErr := realPath(dir)
	if err != nil || rootErr != nil {
		return true
	}
	rel, err := filepath.Rel(root, file)
	return err != nil || !filepath.IsLocal(rel)
}

// surroundings returns the directory of a file, and the root for its configuration: the repository,
// or otherwise the working directory if the file is below it.
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

// repository returns the nearest ancestor that is the root of a Git repository, or dir itself. The
// .git of another user is ignored, as by Git: in /tmp, anyone can create one.
func repository(dir string) (root string, found bool) {
	for at := dir; ; at = filepath.Dir(at) {
		// .git is a file in a worktree.
		if git, err := os.Lstat(filepath.Join(at, ".git")); err == nil && trusted(git, dir) {
			return at, true
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}

// relative returns the path of a file relative to base, with slashes. The path of a file outside base
// is absolute. file is relative to dir; base and dir are absolute. Standard input keeps its name.
func relative(base, dir, file string) string {
	if file == "" || file == stdinName {
		return file
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	file = filepath.Clean(file)
	if name, err := filepath.Rel(base, file); err == nil && name != "." && filepath.IsLocal(name) {
		file = name
	}
	return filepath.ToSlash(file)
}
