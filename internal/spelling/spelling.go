// Package spelling finds what a misspelt name is meant to be.
package spelling

import "strings"

// Closest returns the known name that name most likely is a misspelling of, or
// "": no more than a third of it may be wrong, of a short one half.
func Closest(name string, known []string) string {
	best, distance := "", max((len(name)+1)/3, min(len(name)/2, 2))+1
	for _, k := range known {
		if n := Distance(strings.ToLower(name), strings.ToLower(k)); n < distance {
			best, distance = k, n
		}
	}
	return best
}

// Distance is how many characters of a must be inserted, deleted, replaced,
// or swapped with the next one, to get b.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row := make([]int, len(t)+1)
		row[0] = i + 1
		for j := range t {
			substitution := last[j]
			if s[i] != t[j] {
				substitution++
			}
			row[j+1] = min(substitution, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}
