package cli

import (
	"runtime/debug"
	"testing"
)

// Users who say how often garbage is collected have it so.
func TestCollectLess(t *testing.T) {
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	for _, test := range []struct {
		gogc string
		want int
	}{{"50", 50}, {"off", 50}, {"", 200}} {
		t.Setenv("GOGC", test.gogc)
		collectLess()
		got := debug.SetGCPercent(50)
		if got != test.want {
			t.Errorf("with GOGC=%q the percentage is %d, want %d", test.gogc, got, test.want)
		}
	}
}
