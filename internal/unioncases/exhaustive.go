package unioncases

import "os"

// Exhaustive reports whether tests are to try all they can, and not what fits into the
// time of everyday runs: it is set by UNIONCEL_EXHAUSTIVE, as in .ci/run exhaustive.
func Exhaustive() bool { return os.Getenv("UNIONCEL_EXHAUSTIVE") != "" }

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
