package change_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/prove/schemadiff"
)

// TestRefusalString is here because a test program of internal/prove/schemadiff would link for
// seconds.
func TestRefusalString(t *testing.T) {
	for want, r := range map[string]schemadiff.Refusal{
		"a; b; c":             {Errors: []string{"a", "b", "c"}},
		"a; b; c; and 2 more": {Errors: []string{"a", "b", "c", "d", "e"}},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
