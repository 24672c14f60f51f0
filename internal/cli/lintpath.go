package cli

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// repository returns the nearest directory upwards that is the root of a Git
// repository, or else dir.
func repository(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		// In a worktree .git is a file.
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// relative returns the path of a file from base, with slashes whatever the separator
// is. The file is named from dir; base and dir are absolute. Standard input, and what
// is on another drive, keeps its name.
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
	from, to := strings.Split(path.Clean(slashed(base)), "/"), strings.Split(path.Clean(name), "/")
	if from[len(from)-1] == "" {
		from = from[:len(from)-1] // the root
	}
	same := 0
	for same < len(from) && same < len(to) && (from[same] == to[same] || windows && strings.EqualFold(from[same], to[same])) {
		same++
	}
	if same == 0 && len(from) > 0 {
		return slashed(file)
	}
	up := make([]string, len(from)-same)
	for i := range up {
		up[i] = ".."
	}
	return path.Join(append(up, to[same:]...)...)
}

// hasDrive reports whether a path begins with a drive letter of Windows.
func hasDrive(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z')
}
