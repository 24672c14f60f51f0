package english

import (
	"regexp"
	"sync"
)

// Pattern returns a function that returns a regular expression. The first call compiles it, and panics
// if it is invalid: every command starts with all packages, and few commands match a text.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
