//go:build unix

package cli

import (
	"os"
	"syscall"
)

// nobody is a user and group who owns nothing.
const nobody = 65534

// becomeNobody gives up the privileges of root: permissions do not apply to
// root, and tests may run as root. Other users stay who they are.
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
