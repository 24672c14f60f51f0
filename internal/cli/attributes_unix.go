//go:build linux || darwin

package cli

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes gives a file the extended attributes that users have set on another,
// as far as possible.
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

// attribute returns what a system call reads, which says how much it is when it is
// given no room.
func attribute(read func([]byte) (int, error)) ([]byte, error) {
	size, err := read(nil)
	if err != nil || size == 0 {
		return nil, err
	}
	b := make([]byte, size)
	size, err = read(b)
	return b[:max(size, 0)], err
}
