package union

import (
	"maps"
	"slices"
)

// Keys returns the keys of a declaration, sorted. The caller owns the result.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }
