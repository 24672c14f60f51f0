package sample

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of generated strings, and of the search for a match of a pattern.
const (
	maxText    = 4096
	maxSteps   = 20_000
	maxNumbers = 3  // the numbers in rules that are tried as lengths
	maxSized   = 64 // and as sizes
)

// length is a range of string lengths, in characters.
type length struct{ least, most int }

// lengthsOf returns the lengths to try for a value of n: the range of the schema, then the numbers
// in rules.
func lengthsOf(n *Schema, rules []*Test) []length {
	all := length{0, maxText}
	for _, s := range append([]composed{{n.Props, 0}}, n.more...) {
		if s.MinLength != nil {
			all.least = max(all.least, int(min(*s.MinLength, maxText)))
		}
		if s.MaxLength != nil {
			all.most = min(all.most, int(min(*s.MaxLength, maxText)))
		}
	}
	l := []length{all}
	for _, t := range rules {
		for _, literal := range t.Literals {
			number, ok := literal.(int64)
			if !ok || number <= int64(all.least) || number > int64(all.most) || len(l) > 2*maxNumbers {
				continue
			}
			// The number itself, and all larger lengths.
			l = append(l, length{int(number), int(number)}, length{min(int(number)+1, all.most), all.most})
		}
	}
	return l
}

// missing returns the number of characters that a text needs to reach the minimum length.
func (l length) missing(text string) int {
	return max(0, l.least-utf8.RuneCountInString(text))
}

// filled pads a text to the minimum length.
func (l length) filled(text string) string {
	return text + strings.Repeat("a", l.missing(text))
}

// matching returns a few short strings of a length that match a pattern, if they are easily found.
// The caller must validate the strings.
func matching(pattern string, length length) []string {
	if pattern == "" || len(pattern) > maxText {
		return nil
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	const branches = 3
	var l []string
	add := func(text string) {
		if n := utf8.RuneCountInString(text); n >= length.least && n <= length.most && !slices.Contains(l, text) {
			l = append(l, text)
		}
	}
	for _, repeat := range []int{0, 1, 2, 3, 8} {
		for branch := range branches {
			if m := (matcher{repeat: repeat, branch: branch}); m.matches(parsed) {
				add(string(m.text))
			}
		}
	}
	if length.least == 0 {
		return l
	}
	for branch := range branches {
		shortest := matcher{branch: branch}
		if !shortest.matches(parsed) {
			continue
		}
		m := matcher{branch: branch, missing: length.least - len(shortest.text), spare: length.most - length.least}
		if m.matches(parsed) {
			add(string(m.text))
		}
		add(length.filled(string(shortest.text))) // the pattern may not be anchored at its end
	}
	return l
}

// Language returns all strings that match a pattern. ok is false if there are many, or if the
// pattern is not anchored at both ends.
func Language(pattern string) (l []string, ok bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat || len(parsed.Sub) < 2 {
		return nil, false
	}
	end := len(parsed.Sub) - 1
	if parsed.Sub[0].Op != syntax.OpBeginText || parsed.Sub[end].Op != syntax.OpEndText {
		return nil, false
	}
	return product(parsed.Sub[1:end])
}

// product returns all strings that match a sequence of expressions.
func product(l []*syntax.Regexp) ([]string, bool) {
	const few = 1000
	out := []string{""}
	for _, re := range l {
		tails, ok := words(re)
		if !ok || len(out)*len(tails) > few {
			return nil, false
		}
		var longer []string
		for _, head := range out {
			for _, tail := range tails {
				longer = append(longer, head+tail)
			}
		}
		out = longer
	}
	return out, true
}

// words returns all strings that match an expression without anchors.
func words(re *syntax.Regexp) (l []string, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if l = append(l, string(r)); len(l) > 100 {
					return nil, false
				}
			}
		}
		return l, true
	case syntax.OpCapture, syntax.OpConcat:
		return product(re.Sub)
	case syntax.OpQuest:
		l, ok = words(re.Sub[0])
		return append(l, ""), ok
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more, ok := words(sub)
			if !ok {
				return nil, false
			}
			l = append(l, more...)
		}
		return l, true
	}
	return nil, false
}

// matcher generates a string that matches a pattern.
type matcher struct {
	text   []rune
	repeat int // preferred number of repetitions
	branch int // index of the preferred alternative
	// missing is the number of characters to add by repetition, spare the permitted excess.
	missing, spare int
	steps          int // taken so far
	failed         bool
}

func (m *matcher) matches(re *syntax.Regexp) bool {
	m.write(re, 0)
	return !m.failed
}

func (m *matcher) write(re *syntax.Regexp, depth int) {
	if m.steps++; m.steps > maxSteps || len(m.text) > maxText || depth > maxDepth {
		m.failed = true
	}
	if m.failed {
		return
	}
	switch re.Op {
	case syntax.OpNoMatch:
		m.failed = true
	case syntax.OpLiteral:
		m.text = append(m.text, re.Rune...)
	case syntax.OpCharClass:
		m.text = append(m.text, oneOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.text = append(m.text, 'a')
	case syntax.OpCapture:
		m.write(re.Sub[0], depth+1)
	case syntax.OpStar:
		m.times(re.Sub[0], depth, 0, maxText)
	case syntax.OpPlus:
		m.times(re.Sub[0], depth, 1, maxText)
	case syntax.OpQuest:
		m.times(re.Sub[0], depth, 0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = maxText
		}
		m.times(re.Sub[0], depth, re.Min, most)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			m.write(sub, depth+1)
		}
	case syntax.OpAlternate:
		m.write(re.Sub[m.branch%len(re.Sub)], depth+1)
	}
}

// times repeats re the preferred number of times, and then until no characters are missing.
func (m *matcher) times(re *syntax.Regexp, depth, least, most int) {
	n := 0
	for ; n < max(least, min(m.repeat, most)) && !m.failed; n++ {
		m.write(re, depth+1)
	}
	for ; n < most && m.missing > 0 && !m.failed; n++ {
		before, missing := len(m.text), m.missing
		m.missing = 0 // repeat inner expressions as rarely as possible
		m.write(re, depth+1)
		more := len(m.text) - before
		if m.missing = missing - more; more == 0 || m.missing < -m.spare {
			m.text, m.missing = m.text[:before], missing
			return
		}
	}
}

// oneOf returns a common character of a class. The class consists of pairs of bounds.
func oneOf(class []rune) rune {
	for _, r := range "a1A-./" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				return r
			}
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
