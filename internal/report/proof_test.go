package report_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestLabel asserts that a label is the name of a union, or a short list of members.
func TestLabel(t *testing.T) {
	var nine []union.Member
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		nine = append(nine, union.Member{Name: name})
	}
	for _, c := range []struct {
		u    union.Union
		want string
	}{
		{union.Union{Name: "source", Members: nine}, "source"},
		{union.Union{Discriminator: "type", Members: nine[:2]}, "a, b"},
		{union.Union{Members: nine}, "a, b, c, d, e, f, g, h and 1 more"},
		{union.Union{Discriminator: "type"}, "type"}, // a declaration without members yet
	} {
		if got := (report.Verified{Name: c.u.Name, Discriminator: c.u.Discriminator, Members: c.u.MemberNames()}).Label(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
