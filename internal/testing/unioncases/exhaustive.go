package unioncases

import "testing"

// Choose returns the size of a sample: a number of random cases, or n for every nth item of a list.
func Choose(short, plain, exhaustive int) int {
	switch {
	case Exhaustive:
		return exhaustive
	case testing.Short():
		return short
	}
	return plain
}

// Some returns the items of a list that a run tries: all items if it is exhaustive, and otherwise
// every nth item. turn selects which of the first n items comes first.
func Some[T any](l []T, n, turn int) []T {
	if Exhaustive {
		return l
	}
	var some []T
	for i := turn % n; i < len(l); i += n {
		some = append(some, l[i])
	}
	return some
}
