//go:build linux || darwin

package cli

import (
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// copyMetadata gives a file the owner, the group and the extended attributes of a target,
// as far as possible: most users may not give files away.
func copyMetadata(file *os.File, t target) {
	copyAttributes(file, t.real) // while the file is still ours
	stat, ok := t.info.Sys().(*syscall.Stat_t)
	if ok && file.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = file.Chown(-1, int(stat.Gid)) // one of one's own groups is allowed
	}
}

// copyAttributes gives a file the extended attributes that users have set on another.
func copyAttributes(to *os.File, from string) {
	names, _ := attribute(func(b []byte) (int, error) { return unix.Llistxattr(from, b) })
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if name == "" || runtime.GOOS == "linux" && !strings.HasPrefix(name, "user.") {
			continue
		}
		if value, err := attribute(func(b []byte) (int, error) { return unix.Lgetxattr(from, name, b) }); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
	}
}

// attribute returns what a system call reads; without a buffer the call returns the size.
func attribute(read func([]byte) (int, error)) ([]byte, error) {
	size, err := read(nil)
	if err != nil || size == 0 {
		return nil, err
	}
	b := make([]byte, size)
	size, err = read(b)
	return b[:max(size, 0)], err
}
