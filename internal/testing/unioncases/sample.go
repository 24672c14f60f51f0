//go:build !exhaustive

package unioncases

// Exhaustive makes tests try all cases, regardless of the time. The build tag of that name sets it.
const Exhaustive = false
