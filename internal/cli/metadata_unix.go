//go:build linux || darwin

package cli

import (
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// copyMetadata gives a file the owner, group and extended attributes of a target, as far as
// permitted: most users may not change the owner of a file.
func copyMetadata(file *os.File, t target) {
	copyAttributes(file, t.real) // while we still own the file
	stat, ok := t.info.Sys().(*syscall.Stat_t)
	if ok && file.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		_ = file.Chown(-1, int(stat.Gid)) // users may set their own groups
	}
}

// copyAttributes copies the extended attributes that users set.
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

// attribute returns the data of a system call that returns the size if it gets no buffer.
func attribute(read func([]byte) (int, error)) ([]byte, error) {
	size, err := read(nil)
	if err != nil || size == 0 {
		return nil, err
	}
	b := make([]byte, size)
	size, err = read(b)
	return b[:max(size, 0)], err
}
