package crdpatch

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	// The API server's CEL allocates a lot that dies young; what lives is small.
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
