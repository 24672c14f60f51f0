package english_test

import (
	"math"
	"testing"

	"github.com/unioncel/unioncel/internal/english"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		english.List(nil, "or"):                      "",
		english.List([]string{"a"}, "or"):            "a",
		english.List([]string{"a", "b"}, "or"):       "a or b",
		english.List([]string{"a", "b", "c"}, "and"): "a, b and c",
		english.Plural(0, "rule"):                    "0 rules",
		english.Plural(1, "rule"):                    "1 rule",
		english.Plural(12345, "byte"):                "12,345 bytes",
		english.Plural(-2, "byte"):                   "-2 bytes",
		english.Number(999):                          "999",
		english.Number(math.MaxUint64):               "unbounded",
		english.Percent(0):                           "0%",
		english.Percent(0.001):                       "under 0.01%",
		english.Percent(2.345):                       "2.35%",
		english.Percent(23.45):                       "23.4%",
		english.Percent(5000):                        "over 1,000%",
		english.OneLine(" a\n\tb  c "):               "a b c",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
func TestLines(t *testing.T) {
	for want, lines := range map[string][]int{"": nil, "line 3": {3, 3}, "lines 2, 5 and 9": {9, 2, 5, 2}} {
		if got := english.Lines(lines); got != want {
			t.Errorf("%v: %q, want %q", lines, got, want)
		}
	}
}
