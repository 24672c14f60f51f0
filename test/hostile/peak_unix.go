//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// peak is the most memory that a process had.
func peak(state *os.ProcessState) string {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%d MB", usage.Maxrss>>10)
}
