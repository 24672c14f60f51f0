// Package testgc is imported by tests for its side effect: the garbage collector runs less often,
// in the test and in the programs that it starts. The API server's CEL allocates many short-lived
// objects and few long-lived ones. Garbage collection takes half of the time to start unioncel.
package testgc

import (
	"os"
	"runtime/debug"
)

func init() {
	debug.SetGCPercent(800)
	if err := os.Setenv("GOGC", "800"); err != nil {
		panic(err)
	}
}
