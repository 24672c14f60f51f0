package schemadiff

import "testing"

func TestRefusalString(t *testing.T) {
	for want, r := range map[string]Refusal{
		"a; b; c":             {Errors: []string{"a", "b", "c"}},
		"a; b; c; and 2 more": {Errors: []string{"a", "b", "c", "d", "e"}},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
