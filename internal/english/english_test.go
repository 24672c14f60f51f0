package english_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"Set one of a or b.\n\nDefaults to v1.2. Optional": {"Set one of a or b.", "Defaults to v1.2.", "Optional"},
		"": {""},
	} {
		if got := english.Sentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestStatements(t *testing.T) {
	for _, tt := range []struct {
		text string
		want english.Statement // the first one, without its sentence
		all  bool
	}{
		{"At most one of a, b, and c may be set.", english.Statement{Form: english.AtMostOne, Fields: []string{"a", "b", "c"}}, true},
		{"only one of the fields `a` or 'b' can be specified", english.Statement{Form: english.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a.x and b are mutually exclusive", english.Statement{Form: english.AtMostOne, Fields: []string{"a.x", "b"}}, true},
		{"a is mutually exclusive with self.b", english.Statement{Form: english.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a and b cannot both be set", english.Statement{Form: english.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a and b must not be both provided", english.Statement{Form: english.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"exactly one of a and b must be given", english.Statement{Form: english.ExactlyOne, Fields: []string{"a", "b"}}, true},
		{"a and b cannot be both empty and are mutually exclusive", english.Statement{Form: english.ExactlyOne, Fields: []string{"a", "b"}}, true},
		{"either a or b must be set", english.Statement{Form: english.Either, Fields: []string{"a", "b"}}, true},
		{"a is required when type is A, and forbidden otherwise", english.Statement{Form: english.WhenValue, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, true},
		{"a must be set if type is set to 'A'", english.Statement{Form: english.RequiredWhen, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, true},
		{"a configuration is required when type is A; see the manual", english.Statement{Form: english.RequiredWhen, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, false},
		{"a.name must not be set; the controller manages the name", english.Statement{Form: english.Unset, Fields: []string{"a.name"}}, false},
		{"Names are short. a cannot be specified", english.Statement{Form: english.Unset, Fields: []string{"a"}}, false},
		{"a is required when type is A or B", english.Statement{}, false},
		{"exactly one of a or b must be set when c is set", english.Statement{Form: english.ExactlyOne, Fields: []string{"a", "b must be set when c"}}, true}, // no name of a field
		{"a is immutable", english.Statement{}, false},
		{"a must not be set when b is set", english.Statement{}, false},
		{"", english.Statement{}, false},
	} {
		l, all := english.Statements(tt.text)
		var got english.Statement
		if len(l) > 0 {
			got = l[0]
			got.Sentence = ""
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || all != tt.all {
			t.Errorf("%q: %t, -want +got\n%s", tt.text, all, diff)
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
