package english

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Closest returns the known name that name is most likely a misspelling of, or "". At most a third
// of the name may differ, or half of a short one.
func Closest(name string, known []string) string {
	best, _ := closest(name, known)
	return best
}

// Hint suggests the name that Closest returns, or returns otherwise if there is none.
func Hint(name string, known []string, otherwise string) string {
	if best := Closest(name, known); best != "" {
		return fmt.Sprintf("write %q", best)
	}
	return otherwise
}

// Certain returns the result of Closest only if the correction is unambiguous: no other name is as
// close, the digits are equal (v4 is no misspelling of v6), and names of up to three letters differ
// only in order or case. Otherwise it returns "".
func Certain(name string, known []string) string {
	best, tied := closest(name, known)
	if tied || only(name, unicode.IsDigit) != only(best, unicode.IsDigit) {
		return ""
	}
	if len(name) <= 3 && sorted(name) != sorted(best) {
		return ""
	}
	return best
}

// longest is the maximum length, in bytes, of a name that Closest corrects.
const longest = 256

// closest also reports whether another name is equally close.
func closest(name string, known []string) (best string, tied bool) {
	if len(name) > longest {
		return "", false
	}
	distance := max((len(name)+1)/3, min(len(name)/2, 2)) + 1
	lower := []rune(strings.ToLower(name))
	for _, k := range known {
		if len(k) > 4*longest {
			continue
		}
		switch n := boundedDistance(distance, lower, []rune(strings.ToLower(k))); {
		case n < distance:
			best, distance, tied = k, n, false
		case n == distance && best != "" && k != best:
			tied = true
		}
	}
	return best, tied
}

// only returns the characters of a name for which is returns true.
func only(name string, is func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if is(r) {
			return r
		}
		return -1
	}, name)
}

func sorted(name string) string {
	l := []rune(strings.ToLower(name))
	slices.Sort(l)
	return string(l)
}

// Distance returns the number of edits that turn a into b: insert, delete or replace a character,
// or swap it with the next one.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	return boundedDistance(len(s)+len(t), s, t)
}

// boundedDistance returns the distance of two texts, or most+1 if it exceeds most.
func boundedDistance(most int, s, t []rune) int {
	if max(len(s)-len(t), len(t)-len(s)) > most {
		return most + 1
	}
	rows := make([]int, 3*(len(t)+1))
	before, last, row := rows[:len(t)+1], rows[len(t)+1:2*len(t)+2], rows[2*len(t)+2:]
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		least := row[0]
		for j := range t {
			substitution := last[j]
			if s[i] != t[j] {
				substitution++
			}
			row[j+1] = min(substitution, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > most+1 { // a swap reads the previous row
			return most + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(t)], most+1)
}
