package verify

import (
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/union"
)

// Words says in a line what the counterexample is: what it breaks when it is
// accepted, which state or change it is when it is rejected.
func (d Difference) Words(u *union.Union) string {
	words := d.words(u)
	if len(d.Beside) > 0 {
		words += " (" + spelling.List(d.Beside, "and") + ")"
	}
	return words
}

func (d Difference) words(u *union.Union) string {
	switch {
	case d.Is == nil:
		if d.Was == nil {
			return d.Removed + " is not there"
		}
		return fmt.Sprintf("%s is removed while %s", d.Removed, u.Describe(*d.Was))
	case !d.Accepted && d.Was == nil:
		return u.Describe(*d.Is)
	case !d.Accepted:
		return fmt.Sprintf("%s (before: %s)", u.Describe(*d.Is), u.Describe(*d.Was))
	}
	var l []string
	for _, v := range d.Violations {
		l = append(l, u.DescribeViolation(v, d.Was, *d.Is))
	}
	return strings.Join(l, "; ")
}
