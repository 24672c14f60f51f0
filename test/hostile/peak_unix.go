//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// peak returns the peak memory of a process.
func peak(state *os.ProcessState) string {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%d MB", usage.Maxrss>>10)
}
