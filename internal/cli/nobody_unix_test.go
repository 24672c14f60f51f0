//go:build unix

package cli

import (
	"os"
	"syscall"
)

// nobody is a user and group that owns nothing.
const nobody = 65534

// becomeNobody drops the privileges of root: tests may run as root, and permissions do not apply to
// root. It has no effect for other users.
func becomeNobody() error {
	if os.Geteuid() != 0 {
		return nil
	}
	syscall.Umask(0o022)
	if err := syscall.Setgroups([]int{}); err != nil {
		return err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return err
	}
	return syscall.Setuid(nobody)
}
