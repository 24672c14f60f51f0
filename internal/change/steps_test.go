package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/prove/logic"
)

// TestSteps tests that patterns count towards the steps of a comparison: each of these takes the
// most work that a comparison of patterns may take.
func TestSteps(t *testing.T) {
	schema := func(n int) *change.Input {
		var b strings.Builder
		for i := range 4 {
			fmt.Fprintf(&b, "p%d: {type: string, pattern: '^[ab]*a[ab]{%d}$'}, ", i, n)
		}
		return unionsOf(t, "type: object\nproperties: {"+strings.TrimSuffix(b.String(), ", ")+"}\n")
	}
	r, err := change.Compare(logic.WithSteps(t.Context(), 1_000_000), schema(400), schema(401))
	if err != nil || len(r.Changes) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, c := range r.Changes {
		if c.Class != change.Undecided || c.Undecided != "the search exceeds --limit steps=1000000" {
			t.Errorf("%v: %v, %q", c.Path, c.Class, c.Undecided)
		}
	}
}
