// Package regular decides which strings the patterns of schemas accept, and compares patterns.
package regular

import (
	"context"
	"errors"
	"maps"
	"regexp/syntax"
	"slices"
	"unicode"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Language is the set of strings that contain a match of a pattern, as in the API server, and whose
// length in characters is within bounds. The zero value contains all strings.
type Language struct {
	Pattern  string
	Min, Max *int64 // nil for no bound
}

// ErrUnknown means that languages could not be compared. For example, a pattern has word
// boundaries, or the comparison takes too much work.
var ErrUnknown = errors.New("the patterns are too intricate to be compared")

// maxWork bounds a comparison to about half a second. It counts instructions, and pairs of a state
// and a character.
const maxWork = 5_000_000

// Size returns the number of instructions of a pattern, to which the time of a match is
// proportional. It is 0 for an invalid pattern.
func Size(pattern string) int {
	prog, err := program(pattern)
	if err != nil {
		return 0
	}
	return len(prog.Inst)
}

func program(pattern string) (*syntax.Prog, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(re.Simplify())
}

// Difference returns the shortest string of a that is not in b. found is false if there is none. It
// spends steps of ctx (see [logic.Question]).
func Difference(ctx context.Context, a, b Language) (text string, found bool, err error) {
	if ctx.Err() != nil {
		return "", false, ErrUnknown
	}
	x, err := compile(a.Pattern)
	if err != nil {
		return "", false, err
	}
	y, err := compile(b.Pattern)
	if err != nil {
		return "", false, err
	}
	counted := longest(a, b)
	type state struct {
		x, y   int
		length int64 // at most the result of longest
	}
	type visit struct {
		state
		n    int64
		from int // the index of the previous visit
		by   rune
	}
	x.alphabet = alphabet(x, y)
	y.alphabet = x.alphabet
	work := 0
	y.work, x.work = &work, &work
	defer func() { logic.Spend(ctx, work) }()
	visits := []visit{{}}
	seen := map[state]bool{{}: true}
	for at := 0; at < len(visits); at++ {
		v := visits[at]
		if x.accepts(v.x, v.n) && shorterThan(a, v.n) && !(y.accepts(v.y, v.n) && shorterThan(b, v.n)) {
			var l []rune
			for ; at > 0; at = visits[at].from {
				l = append(l, visits[at].by)
			}
			slices.Reverse(l)
			return string(l), true, nil
		}
		if a.Max != nil && v.n >= *a.Max {
			continue
		}
		for i, c := range x.alphabet {
			if work++; work > maxWork {
				return "", false, ErrUnknown
			}
			next := state{x.step(v.x, i), y.step(v.y, i), min(v.n+1, counted)}
			if !seen[next] {
				seen[next] = true
				visits = append(visits, visit{next, v.n + 1, at, c})
			}
		}
	}
	return "", false, nil
}

// longest returns a length that stands for itself and all longer ones.
func longest(l ...Language) int64 {
	n := int64(0)
	for _, l := range l {
		for _, bound := range []*int64{l.Min, l.Max} {
			if bound != nil {
				n = max(n, *bound+1)
			}
		}
	}
	return n
}

func shorterThan(l Language, n int64) bool {
	return (l.Min == nil || n >= *l.Min) && (l.Max == nil || n <= *l.Max)
}

// machine is an automaton that searches strings for a pattern.
type machine struct {
	prog     *syntax.Prog
	alphabet []rune
	states   []set   // the first is the state of the empty string
	next     [][]int // by state and character; -1 is unknown
	known    map[string]int
	reached  []int // by instruction: the last call of close that reached it
	closed   int   // number of calls of close
	work     *int
}

// set is the set of instructions that a string can reach.
type set struct {
	at    []uint32 // sorted
	found bool     // a match was found, so any continuation matches
}

func (s set) key() string {
	if s.found {
		return "found"
	}
	b := make([]byte, 0, 4*len(s.at))
	for _, pc := range s.at {
		b = append(b, byte(pc>>24), byte(pc>>16), byte(pc>>8), byte(pc))
	}
	return string(b)
}

func compile(pattern string) (*machine, error) {
	prog, err := program(pattern)
	if err != nil {
		return nil, err
	}
	for _, i := range prog.Inst {
		if i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil, ErrUnknown
		}
	}
	m := &machine{prog: prog, known: map[string]int{}, reached: make([]int, len(prog.Inst)), work: new(int)}
	m.id(m.close([]uint32{uint32(prog.Start)}, syntax.EmptyBeginText))
	return m, nil
}

// id returns the index of a state, and adds new states.
func (m *machine) id(s set) int {
	key := s.key()
	i, ok := m.known[key]
	if !ok {
		i = len(m.states)
		m.known[key], m.states, m.next = i, append(m.states, s), append(m.next, nil)
	}
	return i
}

// step returns the state after a character of the alphabet.
func (m *machine) step(from, char int) int {
	if m.next[from] == nil {
		m.next[from] = slices.Repeat([]int{-1}, len(m.alphabet))
	}
	if m.next[from][char] < 0 {
		to := m.id(m.successor(m.states[from], m.alphabet[char])) // id may move next
		m.next[from][char] = to
	}
	return m.next[from][char]
}

// close adds the instructions reached without a character. It keeps tests for the end of text.
func (m *machine) close(from []uint32, holds syntax.EmptyOp) set {
	m.closed++
	var at []uint32
	found := false
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if m.reached[pc] == m.closed {
			return
		}
		m.reached[pc] = m.closed
		*m.work++
		switch i := m.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(i.Out)
			follow(i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(i.Out)
		case syntax.InstEmptyWidth:
			at = append(at, pc)
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				follow(i.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			at = append(at, pc)
		case syntax.InstMatch:
			found = true
		}
	}
	for _, pc := range from {
		follow(pc)
	}
	if found {
		return set{found: true}
	}
	slices.Sort(at)
	return set{at: at}
}

// successor returns the set of instructions after a character, where a match may also begin.
func (m *machine) successor(s set, c rune) set {
	if s.found {
		return s
	}
	next := []uint32{uint32(m.prog.Start)}
	*m.work += len(s.at)
	for _, pc := range s.at {
		if i := &m.prog.Inst[pc]; i.Op != syntax.InstEmptyWidth && i.MatchRune(c) {
			next = append(next, i.Out)
		}
	}
	return m.close(next, 0)
}

// accepts reports whether a string of the given length matches if it ends in the state.
func (m *machine) accepts(state int, length int64) bool {
	s := m.states[state]
	if s.found {
		return true
	}
	holds := syntax.EmptyEndText
	if length == 0 {
		holds |= syntax.EmptyBeginText
	}
	var ends []uint32
	for _, pc := range s.at {
		if i := m.prog.Inst[pc]; i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&^holds == 0 {
			ends = append(ends, i.Out)
		}
	}
	return len(ends) > 0 && m.close(ends, holds).found
}

// alphabet returns a character of each class that the machines distinguish, the usual ones first.
func alphabet(l ...*machine) []rune {
	// The machines do not distinguish the characters between two bounds.
	bounds := map[rune]bool{0: true, '\n': true, '\n' + 1: true, unicode.MaxRune + 1: true, 0xD800: true, 0xE000: true}
	for _, m := range l {
		for _, i := range m.prog.Inst {
			for j := 0; j < len(i.Rune); j++ {
				bounds[i.Rune[j]+rune(j%2)] = true
				if len(i.Rune) == 1 {
					bounds[i.Rune[0]+1] = true
					for c := unicode.SimpleFold(i.Rune[0]); c != i.Rune[0]; c = unicode.SimpleFold(c) {
						bounds[c], bounds[c+1] = true, true
					}
				}
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(bounds))
	var alphabet []rune
	for i, lo := range sorted[:len(sorted)-1] {
		if lo == 0xD800 {
			continue // surrogates are no characters
		}
		alphabet = append(alphabet, usual(lo, sorted[i+1]-1))
	}
	slices.SortStableFunc(alphabet, func(a, b rune) int { return rank(a) - rank(b) })
	return alphabet
}

// usual returns the most common character from lo to hi.
func usual(lo, hi rune) rune {
	for _, c := range "aA0-. " {
		if lo <= c && c <= hi {
			return c
		}
	}
	best := lo
	for c := lo; c <= min(hi, '~'); c++ {
		if rank(c) < rank(best) {
			best = c
		}
	}
	return best
}

func rank(c rune) int {
	switch {
	case 'a' <= c && c <= 'z':
		return 0
	case 'A' <= c && c <= 'Z':
		return 1
	case '0' <= c && c <= '9':
		return 2
	case '!' <= c && c <= '~':
		return 3
	case c == ' ':
		return 4
	case c > '~' && unicode.IsPrint(c):
		return 5
	}
	return 6
}
