package cli

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

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
// is; that of a file outside base is absolute. The file is named from dir; base and
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
