//go:build exhaustive

package unioncases

// Exhaustive makes tests try all cases, regardless of the time.
const Exhaustive = true
