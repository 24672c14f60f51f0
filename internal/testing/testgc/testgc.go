// Package testgc is imported by tests for its effect: garbage is collected less often, in
// the programs that they start, too. The API server's CEL allocates a lot that dies young;
// what lives is small. Half of what starting unioncel takes is collecting garbage.
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
