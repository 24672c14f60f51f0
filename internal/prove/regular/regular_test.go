package regular

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func of(n int64) *int64 { return &n }

func TestWithout(t *testing.T) {
	for _, c := range []struct {
		a, b  Language
		text  string
		found bool
	}{
		{Language{Pattern: "^a+$"}, Language{Pattern: "^[ab]+$"}, "", false},
		{Language{Pattern: "^[ab]+$"}, Language{Pattern: "^a+$"}, "b", true},
		{Language{Pattern: "a"}, Language{Pattern: "^a"}, "ba", true},
		{Language{}, Language{Pattern: ""}, "", false},
		{Language{}, Language{Pattern: "^.*$"}, "\n", true},
		{Language{}, Language{Pattern: "^$"}, "a", true},
		{Language{Pattern: "^(x|yy)?$"}, Language{Pattern: "^x?$|^yy$"}, "", false},
		{Language{Pattern: "(?i)^ab$"}, Language{Pattern: "^[aA][bB]$"}, "", false},
		{Language{Pattern: "(?i)^k$"}, Language{Pattern: "^[kK]$"}, "\u212a", true},
		{Language{Pattern: "^(Managed|Force)$"}, Language{Max: of(7)}, "", false},
		{Language{Pattern: "^(Managed|Force)$"}, Language{Max: of(6)}, "Managed", true},
		{Language{Max: of(5)}, Language{Max: of(3)}, "aaaa", true},
		{Language{Min: of(1)}, Language{Min: of(2)}, "a", true},
		{Language{Min: of(2)}, Language{Pattern: "..", Max: of(9)}, "a\n", true},
		{Language{Pattern: "^[0-9]+s$", Max: of(4)}, Language{Pattern: "^[0-9]{1,3}s$"}, "", false},
		{Language{Pattern: "^a$^b"}, Language{Pattern: "x"}, "", false},
		{Language{Pattern: "^^$$"}, Language{Pattern: "^$"}, "", false},
	} {
		text, found, err := Difference(t.Context(), c.a, c.b)
		if text != c.text || found != c.found || err != nil {
			t.Errorf("%v without %v: %q, %t, %v, want %q, %t", c.a, c.b, text, found, err, c.text, c.found)
		}
	}
	if _, _, err := Difference(t.Context(), Language{Pattern: `\bx`}, Language{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("word boundaries: %v", err)
	}
}

// TestBound compares patterns with many states, large states, or many kinds of characters. The
// limit is on the work, not on the number of states.
func TestBound(t *testing.T) {
	var alternatives, classes []string
	for i := range 150 {
		alternatives = append(alternatives, fmt.Sprintf("[^%c]{%d}x", 'a'+rune(i%26), i))
	}
	for name := range unicode.Categories {
		classes = append(classes, `\p{`+name+`}+\P{`+name+`}`)
	}
	slices.Sort(classes)
	for name, pattern := range map[string]string{
		"many states":             `(a|b)*a(a|b){18}`,
		"large states":            `(a|b)*a(a|b){900}`,
		"alternatives":            strings.Join(alternatives, "|"),
		"many kinds of character": "(" + strings.Join(classes, "|") + "){9}",
	} {
		if _, _, err := Difference(t.Context(), Language{Pattern: "^(" + pattern + ")$"}, Language{Pattern: "^(" + pattern + "|z)$"}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRandom tests that a returned string is a shortest difference of random patterns. If no string
// is returned, no tested string is a difference.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var pattern func(depth int) string
	pattern = func(depth int) string {
		parts := []string{"a", "b", "[ab]", ".", "[^a]", "^", "$", "a{2}"}
		if depth == 0 {
			return parts[r.IntN(len(parts))]
		}
		switch x, y := pattern(depth-1), pattern(depth-1); r.IntN(5) {
		case 0:
			return "(" + x + "|" + y + ")"
		case 1:
			return "(" + x + ")*"
		case 2:
			return "(" + x + ")?"
		default:
			return x + y
		}
	}
	bound := func() *int64 {
		if n := r.Int64N(9); n < 4 {
			return &n
		}
		return nil
	}
	texts := []string{""}
	for i := 0; len(texts) < 200; i++ {
		for _, c := range "abc\n" {
			texts = append(texts, texts[i]+string(c))
		}
	}
	differ := 0
	for range 1000 {
		a, b := Language{pattern(3), bound(), bound()}, Language{pattern(3), bound(), bound()}
		patterns := map[string]*regexp.Regexp{a.Pattern: regexp.MustCompile(a.Pattern), b.Pattern: regexp.MustCompile(b.Pattern)}
		has := func(l Language, text string) bool {
			return patterns[l.Pattern].MatchString(text) && shorterThan(l, int64(utf8.RuneCountInString(text)))
		}
		text, found, err := Difference(t.Context(), a, b)
		if err != nil {
			t.Fatalf("%v without %v: %v", a, b, err)
		}
		if found {
			differ++
			if !has(a, text) || has(b, text) {
				t.Fatalf("%v without %v: %q", a, b, text)
			}
		}
		for _, other := range texts {
			if has(a, other) && !has(b, other) && (!found || len(other) < len(text)) {
				t.Fatalf("%v without %v: %q, %t, but %q", a, b, text, found, other)
			}
		}
	}
	if differ < 200 {
		t.Errorf("%d pairs differ", differ)
	}
}
