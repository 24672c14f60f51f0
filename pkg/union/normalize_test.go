package union_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestNormalize has the cases of both texts of KEP-1027. Changes are written "old > new",
// with nothing before > for a creation; what becomes of them is written as a state, or
// as what the result breaks.
func TestNormalize(t *testing.T) {
	const (
		deduced  = typed + ", deduceInvalidDiscriminator: true"
		required = typed + ", cardinality: ExactlyOne"
		optional = typed + ", optionalMembers: [a]"
	)
	tests := []struct {
		name, declaration string
		changes           map[string]string
	}{
		{"kep-2019", deduced, map[string]string{
			// "A dumb client that doesn't know which fields belong to the union can just set a new field"
			"A a > A a b": "B b",
			"- a > - a b": "B b",
			// "A dumb client that doesn't know about the discriminator is going to change a field"
			"A a > A b": "B b",
			"A a > - b": "B b",
			// "... can change the discriminator without knowing which fields to clear"
			"A a > B a b":  "B b",
			"A a > None a": "None",
			"A a > B a":    "required b", // which is for validation
			// "if there is exactly one field, set the discriminator"
			"> - a": "A a", "> - b": "B b", "A > A b": "B b", "B2 b > B2 b": "B2 b", "- > - c": "C c",
			// "if more than one field has been added, leave the process so that validation will fail"
			"A a > A a b c": "forbidden b, forbidden c", "> - a b": "tooMany", "- > - a b": "tooMany",
			"A a > A": "required a", "A a > -": "-", "> A a": "A a", "> A a b": "A a", "> B": "required b",
		}},
		{"kep-2019", plain, map[string]string{
			"- a > - a b": "- b", "- a > - a b c": "tooMany", "> - a b": "tooMany", "- a b > - a b": "tooMany", "- a > - b": "- b", "- a > -": "-",
		}},
		{"kep-2019", sets, map[string]string{
			"B b > A a b": "A a b", "A a b > B a b": "B b", "B b > B a b": "forbidden a", "A a b > C a b c": "C b c", "B b > - b": "forbidden b, notCleared",
		}},
		{"kep-2022", typed, map[string]string{
			// "when the server receives a request with a discriminator set to a given field, it should clear out any other fields that are set"
			"A a > B a b": "B b", "A a > A a b": "A a", "> A a b c": "A a", "A a > None a": "None",
			// "... but that given field is empty, it should maintain the value of the field that currently exists"
			"A a > A": "A a", "A a > A b": "A a", "A a b > B a": "B b", "A a > B": "required b", "> A": "required a",
			// "set to an empty string (or missing from the object) ... clear all fields of the union"
			"A a > - a": "-", "A a > -": "-", "> - a b": "-",
			"B2 b > B b": "B b", "- > A a": "A a",
		}},
		{"kep-2022", required, map[string]string{
			// "(or fail the request if the discriminator is required)"
			"A a > - a": "selected, forbidden a, notCleared", "A a > -": "selected", "A a > B a b": "B b",
		}},
		{"kep-2022", optional, map[string]string{"A a > A": "A", "B b > A b": "A", "A a > A b": "A"}},
		{"kep-2022", deduced, map[string]string{"- a > - a b": "- b", "A a > - a b": "- b", "> - a b": "tooMany", "A a > B a b": "B b"}},
		{"kep-2022", plain, map[string]string{
			// "If one of the set union fields was previously set, and one is newly set, respect the newly set field"
			"- a > - a b": "- b",
			// "If greater than two of the set union fields were not previously set, error"
			"- a > - a b c": "tooMany", "> - a b": "tooMany", "- a b > - a b": "tooMany",
			// "a typed client is unaware of a new field and drops the set field ... the server will clear all the fields"
			"- a > -": "-",
		}},
		{"kep-2022", plain + ", cardinality: AtLeastOne", map[string]string{"- a > - a b": "- a b", "- a > -": "tooFew"}},
		{"kep-2022", sets, map[string]string{"A a b > B a b": "B b", "A a b > A b": "A a b", "C b c > A a b c": "A a b", "B b > C b": "required c"}},
		{"kep-2022", typed + ", discriminatorChange: Forbid", map[string]string{"A a > B a b": "notAllowed", "A a > A a b": "A a"}},
		{"kep-2022", typed + ", unmappedValues: Forbid", map[string]string{"A a > None a": "unmapped"}},
	}
	for _, tt := range tests {
		u := unionFor(t, tt.declaration)
		a, ok := union.AlgorithmNamed(tt.name)
		if !ok || a.String() != tt.name {
			t.Fatal(tt.name)
		}
		for change, want := range tt.changes {
			from, to, _ := strings.Cut(change, ">")
			var old *union.State
			if strings.TrimSpace(from) != "" {
				s := state(u, from)
				old = &s
			}
			n, l := u.Normalize(a, old, state(u, to))
			got := broken(u, l)
			if len(l) == 0 {
				got = text(u, n.Apply(state(u, to)))
			} else if !n.IsZero() {
				t.Errorf("%s %s: %s: does %+v, which is not enough", tt.name, tt.declaration, change, n)
			}
			if got != want {
				t.Errorf("%s %s: %s: %q, want %q", tt.name, tt.declaration, change, got, want)
			}
		}
	}
	if u := unionFor(t, deduced); u.Algorithm() != union.KEP2019 || unionFor(t, typed).Algorithm() != union.KEP2022 {
		t.Error("wrong defaults")
	}
	if got := fmt.Sprint(union.AlgorithmNames()); got != "[kep-2019 kep-2022]" {
		t.Error(got)
	}
}

// text writes a state as state reads it.
func text(u *union.Union, s union.State) string {
	words := []string{"-"}
	if s.Value != "" {
		words[0] = s.Value
	}
	for i, is := range s.Present {
		if is {
			words = append(words, u.Members[i].Name)
		}
	}
	return strings.Join(words, " ")
}

// TestNormalizeEveryState: whatever is normalized is legal, and normal.
func TestNormalizeEveryState(t *testing.T) {
	for i, shape := range unioncases.Shapes() {
		if shape.Members > 3 || shape.EmptyIsUnset || shape.Members > 2 && testing.Short() {
			continue
		}
		states := shape.States()
		for _, declaration := range unioncases.Some(shape.Declarations(), 7, i) {
			unions, diags := resolve(t, "- "+declaration, shape.Schema(), false)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			u := unions[0]
			for _, a := range []union.Algorithm{union.KEP2019, union.KEP2022} {
				for _, new := range states {
					olds := []*union.State{nil}
					for _, old := range states {
						olds = append(olds, &old.State)
					}
					for _, old := range olds {
						n, l := u.Normalize(a, old, new.State)
						after := n.Apply(new.State)
						if len(l) == 0 && len(u.Judge(old, after)) > 0 || len(l) > 0 && !n.IsZero() {
							t.Fatalf("%s %s: %v > %v becomes %v", a, declaration, old, new.State, after)
						}
						if again, _ := u.Normalize(a, old, after); len(l) == 0 && !again.IsZero() {
							t.Fatalf("%s %s: %v > %v becomes %v, and then %v", a, declaration, old, new.State, after, again.Apply(after))
						}
						for _, i := range n.Clear {
							if !new.Present[i] {
								t.Fatalf("%s %s: %v > %v clears what is not set", a, declaration, old, new.State)
							}
						}
					}
				}
			}
		}
	}
}
