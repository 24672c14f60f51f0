package union_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestNormalize has the cases of both texts of KEP-1027. Changes are written "old > new",
// with nothing before > for a creation; results are written as a state, or as the violations.
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
			"A a > B a":    "required b", // left to validation
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
			checkNormalize(t, u, a, change, want, false)
		}
	}
	if u := unionFor(t, deduced); u.Algorithm() != union.KEP2019 || unionFor(t, typed).Algorithm() != union.KEP2022 {
		t.Error("wrong defaults")
	}
	if got := fmt.Sprint(union.AlgorithmNames()); got != "[kep-2019 kep-2022]" {
		t.Error(got)
	}
}

// A state that the client leaves unchanged is not normalized.
func TestNormalizeUnchanged(t *testing.T) {
	tests := []struct {
		name, declaration, state, broken string
	}{
		{"legal", typed, "A a", ""},
		{"member that is not selected", typed, "A a b", "forbidden b"},
		{"selected member is missing", typed, "A b", "required a, forbidden b"},
		{"ratcheting", typed + ", ratchet: true", "A a b", ""},
		{"without a value", typed + ", deduceInvalidDiscriminator: true", "- a", ""},
		{"two members", plain, "- a b", "tooMany"},
		{"two members, ratcheting", plain + ", ratchet: true", "- a b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range union.AlgorithmNames() {
				a, _ := union.AlgorithmNamed(name)
				u := unionFor(t, tt.declaration)
				want := tt.broken
				if want == "" {
					want = tt.state
				}
				checkNormalize(t, u, a, tt.state+" > "+tt.state, want, false)
				checkNormalize(t, u, a, tt.state+" > "+tt.state, want, true)
			}
		})
	}
	// Only an unchanged state is exempt.
	u := unionFor(t, typed+", ratchet: true")
	checkNormalize(t, u, union.KEP2022, "A > A b", "required a", false)
}

// A * marks a member that the client wrote; other members are carried over.
func TestNormalizeCarriedOver(t *testing.T) {
	tests := []struct {
		name, declaration string
		algorithm         union.Algorithm
		changes           map[string]string
	}{
		{"kep-2022", typed, union.KEP2022, map[string]string{
			"A a > B a b":   "B b",
			"A a > None a":  "None",
			"A a > B a* b":  "forbidden a, notCleared",
			"A a > B a b c": "forbidden c",
			"A a > B a":     "required b",
			"> B a b":       "forbidden a",
			// No member is kept, and none is cleared while the discriminator stays.
			"A a > A":       "required a",
			"A a > A a b":   "forbidden b",
			"A a > A b":     "required a, forbidden b",
			"A b > A a b":   "forbidden b",
			"A a b > A a b": "forbidden b",
		}},
		{"kep-2019", typed, union.KEP2019, map[string]string{
			"A a > A a b":  "B b",
			"A a > A a* b": "forbidden a, notCleared",
			"A a > A b":    "B b",
			"A a > B a b":  "B b",
			"A a > B a* b": "forbidden a, notCleared",
			"> - a":        "A a",
			"A b > A a b":  "A a",
			// The client unset the discriminator.
			"A a > - b": "B b",
			"A a > - a": "forbidden a, notCleared",
		}},
		{"kep-2019, deduced", typed + ", deduceInvalidDiscriminator: true", union.KEP2019, map[string]string{"A a > - a": "- a", "A a > - a b": "B b", "- a > - a b": "B b", "A b > - a b": "tooMany"}},
		{"kep-2022, deduced", typed + ", deduceInvalidDiscriminator: true", union.KEP2022, map[string]string{"- a > - a b": "- b", "- a > - a* b": "tooMany", "A a > - a b": "- b"}},
		{"without a discriminator", plain, union.KEP2022, map[string]string{"- a > - a b": "- b", "- a > - a* b": "tooMany", "- a b > - a b c": "- c", "- a b > - a b* c": "tooMany", "> - a b": "tooMany"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for change, want := range tt.changes {
				checkNormalize(t, unionFor(t, tt.declaration), tt.algorithm, change, want, true)
			}
		})
	}
}

// checkNormalize checks the normalization of a change. If carried, members without a * are carried
// over.
func checkNormalize(t *testing.T, u *union.Union, a union.Algorithm, change, want string, carried bool) {
	t.Helper()
	from, to, _ := strings.Cut(change, ">")
	var old *union.State
	if strings.TrimSpace(from) != "" {
		s := state(u, from)
		old = &s
	}
	new := state(u, strings.ReplaceAll(to, "*", ""))
	var isCarried func(int) bool
	if carried {
		isCarried = func(i int) bool { return old != nil && old.Present[i] && !strings.Contains(to, u.Members[i].Name+"*") }
	}
	n, l := u.Normalize(a, old, new, isCarried)
	got := broken(u, l)
	if len(l) == 0 {
		got = text(u, n.Apply(new))
	} else if !n.IsZero() {
		t.Errorf("%s: %s: does %+v, which is not enough", a, change, n)
	}
	if got != want {
		t.Errorf("%s: %s: %q, want %q", a, change, got, want)
	}
}

// text writes a state in the format that state parses.
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

// A normalized state is legal, and normalizing it again changes nothing. Without
// [unioncases.Exhaustive] the test covers one in three of the old states.
func TestNormalizeEveryState(t *testing.T) {
	for i, shape := range slices.Concat(unioncases.Shapes(), unioncases.Valued(), unioncases.Grouped()) {
		if shape.Members > 3 || shape.EmptyIsUnset || shape.Members > 2 && testing.Short() {
			continue
		}
		states := shape.States()
		for _, declaration := range unioncases.Some(shape.Declarations(), 239, i) {
			unions, diags := resolve(t, "- "+declaration, shape.Schema(), false)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			u := unions[0]
			for _, a := range []union.Algorithm{union.KEP2019, union.KEP2022} {
				for j, new := range states {
					olds := []*union.State{nil}
					for _, old := range unioncases.Some(states, 3, j) {
						olds = append(olds, &old.State)
					}
					for _, old := range olds {
						for _, carried := range []func(int) bool{nil, func(i int) bool { return old != nil && old.Present[i] }} {
							n, l := u.Normalize(a, old, new.State, carried)
							after := n.Apply(new.State)
							if len(l) == 0 && len(u.Judge(old, after)) > 0 || len(l) > 0 && !n.IsZero() {
								t.Fatalf("%s %s: %v > %v becomes %v", a, declaration, old, new.State, after)
							}
							if len(l) == 0 && !n.IsZero() {
								if again, _ := u.Normalize(a, old, after, carried); !again.IsZero() {
									t.Fatalf("%s %s: %v > %v becomes %v, and then %v", a, declaration, old, new.State, after, again.Apply(after))
								}
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
}
