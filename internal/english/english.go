// Package english is about the texts that people read and write: it writes numbers and lists as
// words, matches patterns, and corrects misspelt names.
package english

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plural returns a number with a noun: "1 rule", "2,000 rules".
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case n < 0:
		return "-" + Plural(-n, noun)
	}
	return Number(uint64(n)) + " " + noun + "s"
}

// List returns "a", "a or b", "a, b or c".
func List(l []string, conjunction string) string {
	if len(l) < 2 {
		return strings.Join(l, "")
	}
	last := len(l) - 1
	return strings.Join(l[:last], ", ") + " " + conjunction + " " + l[last]
}

// Lines names lines of a file, as in "line 3" and "lines 3 and 5". It is "" for none.
func Lines(l []int) string {
	l = slices.Compact(slices.Sorted(slices.Values(l)))
	var words []string
	for _, line := range l {
		words = append(words, strconv.Itoa(line))
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "line " + words[0]
	}
	return "lines " + List(words, "and")
}

// Each returns each word as show writes it.
func Each(words []string, show func(string) string) []string {
	l := make([]string, len(words))
	for i, w := range words {
		l[i] = show(w)
	}
	return l
}

// Number groups digits in threes. The highest number stands for unbounded.
func Number(n uint64) string {
	if n == ^uint64(0) {
		return "unbounded"
	}
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Percent returns a percentage with as many digits as are of use.
func Percent(percent float64) string {
	switch {
	case percent == 0:
		return "0%"
	case percent < 0.01:
		return "under 0.01%"
	case percent >= 1000:
		return "over 1,000%"
	case percent < 10:
		return fmt.Sprintf("%.2f%%", percent)
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// OneLine returns a text with single spaces where it has spaces or line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
