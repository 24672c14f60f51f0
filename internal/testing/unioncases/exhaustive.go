package unioncases

import (
	"os"
	"testing"
)

// Exhaustive reports whether tests are to try all they can, and not what fits into the
// time of everyday runs: it is set by UNIONCEL_EXHAUSTIVE, as in .ci/run exhaustive.
func Exhaustive() bool { return os.Getenv("UNIONCEL_EXHAUSTIVE") != "" }

// Choose returns how much a run tries: so many random cases, or one in so many of a list.
func Choose(short, plain, exhaustive int) int {
	switch {
	case Exhaustive():
		return exhaustive
	case testing.Short():
		return short
	}
	return plain
}

// Some returns what a run tries of a list: all when it is to be exhaustive, and otherwise
// every nth item, from one of the first n on, which is another one for each turn.
func Some[T any](l []T, n, turn int) []T {
	if Exhaustive() {
		return l
	}
	var some []T
	for i := turn % n; i < len(l); i += n {
		some = append(some, l[i])
	}
	return some
}
