//go:build unix

package cli

import (
	"os"
	"syscall"
)

// copyOwner gives a file the owner and group of a target, as far as permitted: most users may not
// change the owner of a file.
func copyOwner(file *os.File, t target) {
	stat, ok := t.info.Sys().(*syscall.Stat_t)
	if ok && file.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = file.Chown(-1, int(stat.Gid)) // users may set their own groups
	}
}

// trusted reports whether a file belongs to the current user or to the owner of a directory.
func trusted(file os.FileInfo, dir string) bool {
	in, err := os.Stat(dir)
	if err != nil {
		return false
	}
	owner := file.Sys().(*syscall.Stat_t).Uid
	return int(owner) == os.Geteuid() || owner == in.Sys().(*syscall.Stat_t).Uid
}
