// Package pattern has regular expressions that are compiled on first use: every command starts
// with all packages, and few commands match a text.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that returns the regular expression. It is compiled by the first call,
// which panics if the expression is invalid.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
