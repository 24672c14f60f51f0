package handwritten_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/handwritten"
)

func TestStatements(t *testing.T) {
	for _, tt := range []struct {
		text string
		want handwritten.Statement // the first one, without its sentence
		all  bool
	}{
		{"At most one of a, b, and c may be set.", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b", "c"}}, true},
		{"only one of the fields `a` or 'b' can be specified", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a.x and b are mutually exclusive", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a.x", "b"}}, true},
		{"a is mutually exclusive with self.b", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a and b cannot both be set", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"a and b must not be both provided", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b"}}, true},
		{"exactly one of a and b must be given", handwritten.Statement{Form: handwritten.ExactlyOne, Fields: []string{"a", "b"}}, true},
		{"a and b cannot be both empty and are mutually exclusive", handwritten.Statement{Form: handwritten.ExactlyOne, Fields: []string{"a", "b"}}, true},
		{"either a or b must be set", handwritten.Statement{Form: handwritten.Either, Fields: []string{"a", "b"}}, true},
		{"a is required when type is A, and forbidden otherwise", handwritten.Statement{Form: handwritten.WhenValue, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, true},
		{"a must be set if type is set to 'A'", handwritten.Statement{Form: handwritten.RequiredWhen, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, true},
		{"a configuration is required when type is A; see the manual", handwritten.Statement{Form: handwritten.RequiredWhen, Fields: []string{"a"}, Discriminator: "type", Value: "A"}, false},
		{"a.name must not be set; the controller manages the name", handwritten.Statement{Form: handwritten.Unset, Fields: []string{"a.name"}}, false},
		{"Names are short. a cannot be specified", handwritten.Statement{Form: handwritten.Unset, Fields: []string{"a"}}, false},
		{"a is required when type is A or B", handwritten.Statement{}, false},
		{"exactly one of a or b must be set when c is set", handwritten.Statement{Form: handwritten.ExactlyOne, Fields: []string{"a", "b must be set when c"}}, true}, // no name of a field
		{"It defaults to v1.2.\n\na and b are mutually exclusive.", handwritten.Statement{Form: handwritten.AtMostOne, Fields: []string{"a", "b"}}, false},
		{"a is immutable", handwritten.Statement{}, false},
		{"a must not be set when b is set", handwritten.Statement{}, false},
		{"", handwritten.Statement{}, false},
	} {
		l, all := handwritten.Statements(tt.text)
		var got handwritten.Statement
		if len(l) > 0 {
			got = l[0]
			got.Sentence = ""
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || all != tt.all {
			t.Errorf("%q: %t, -want +got\n%s", tt.text, all, diff)
		}
	}
}
