package cli

import (
	"runtime/debug"
	"testing"
)

// User settings for garbage collection take precedence.
func TestCollectLess(t *testing.T) {
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	const none = 1 << 40
	limit := debug.SetMemoryLimit(none)
	defer debug.SetMemoryLimit(limit)
	for _, test := range []struct {
		gogc, memory string
		want         int
		limit        int64
	}{{"50", "", 50, none}, {"off", "", 50, none}, {"", "", 200, softMemory}, {"", "1TiB", 200, none}} {
		t.Setenv("GOGC", test.gogc)
		t.Setenv("GOMEMLIMIT", test.memory)
		collectLess()
		if got := debug.SetGCPercent(50); got != test.want {
			t.Errorf("with GOGC=%q the percentage is %d, want %d", test.gogc, got, test.want)
		}
		if got := debug.SetMemoryLimit(none); got != test.limit {
			t.Errorf("with GOGC=%q GOMEMLIMIT=%q the limit is %d, want %d", test.gogc, test.memory, got, test.limit)
		}
	}
}
