//go:build unix

package cli

import (
	"os"
	"syscall"
)

// chown gives a file the owner and group of another, as far as possible.
func chown(file *os.File, info os.FileInfo) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if file.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = file.Chown(-1, int(stat.Gid)) // one of one's own groups is allowed
	}
}
