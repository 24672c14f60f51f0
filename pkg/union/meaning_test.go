package union_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/pkg/union"
)

func TestStateOf(t *testing.T) {
	u := &union.Union{Discriminator: "type", Members: []union.Member{
		{Name: "any"},
		{Name: "text", Empty: union.EmptyString},
		{Name: "list", Empty: union.EmptyCollection},
		{Name: "map", Empty: union.EmptyCollection},
		{Name: "object", Empty: union.EmptyObject, Fields: []string{"x", "y"}},
	}}
	object := func(key string, value any) map[string]any { return map[string]any{key: value} }
	none := map[string]any{}
	tests := []struct {
		object map[string]any
		want   string // the discriminator's value and the members present
	}{
		{nil, ": "},
		{none, ": "},
		{object("type", nil), ": "},
		{object("type", ""), ": "},
		{object("type", "A"), "A: "},
		{object("type", 1), ": "},
		{object("other", "x"), ": "},

		{object("any", nil), ": "},
		{object("any", ""), ": any"},
		{object("any", int64(0)), ": any"},
		{object("any", 0.0), ": any"},
		{object("any", false), ": any"},
		{object("any", none), ": any"},
		{object("any", []any{}), ": any"},
		{object("any", object("x", nil)), ": any"},
		{object("any", "x"), ": any"},

		{object("text", nil), ": "},
		{object("text", ""), ": "},
		{object("text", " "), ": text"},
		{object("list", nil), ": "},
		{object("list", []any{}), ": "},
		{object("list", []any{nil}), ": list"},
		{object("list", []any{""}), ": list"},
		{object("map", nil), ": "},
		{object("map", none), ": "},
		{object("map", object("", nil)), ": map"},
		{object("object", nil), ": "},
		{object("object", none), ": "},
		{object("object", object("x", nil)), ": "},
		{object("object", object("unknown", "x")), ": "},
		{object("object", object("x", "")), ": object"},
		{object("object", object("y", none)), ": object"},
		{object("object", object("y", false)), ": object"},

		{map[string]any{"type": "B", "any": none, "text": "", "list": []any{1}, "object": none}, "B: any list"},
	}
	for _, tt := range tests {
		s := u.StateOf(tt.object)
		var present []string
		for i, is := range s.Present {
			if is {
				present = append(present, u.Members[i].Name)
			}
		}
		if got := s.Value + ": " + strings.Join(present, " "); got != tt.want {
			t.Errorf("StateOf(%v) = %q, want %q", tt.object, got, tt.want)
		}
	}
	u.Discriminator = ""
	if s := u.StateOf(object("", "x")); s.Value != "" {
		t.Errorf("value %q without a discriminator", s.Value)
	}
	if a, b := u.StateOf(nil), u.StateOf(object("any", 0)); !a.Equal(a) || a.Equal(b) || (union.State{Value: "A"}).Equal(union.State{}) {
		t.Error("Equal is wrong")
	}
}

// unionFor resolves a declaration on an object with the discriminator type and
// the members a, b and c.
func unionFor(t *testing.T, declaration string) *union.Union {
	t.Helper()
	unions, diags := resolve(t, "- {"+declaration+"}", "{type: object, properties: {type: {type: string}, a: {type: string}, b: {type: string}, c: {type: string}}}", false)
	if len(diags) > 0 {
		t.Fatalf("%s: %v", declaration, diags)
	}
	return unions[0]
}

// state parses a state written as "TYPE a b", with "-" for no type.
func state(u *union.Union, text string) union.State {
	words := strings.Fields(text)
	object := map[string]any{}
	if words[0] != "-" {
		object["type"] = words[0]
	}
	for _, m := range words[1:] {
		object[m] = "x"
	}
	return u.StateOf(object)
}

// broken writes violations as "forbidden b, required a".
func broken(u *union.Union, violations []union.Violation) string {
	var l []string
	for _, v := range violations {
		s := string(v.Condition)
		if v.Member >= 0 {
			s += " " + u.Members[v.Member].Name
		}
		l = append(l, s)
	}
	return strings.Join(l, ", ")
}

const (
	typed = "discriminator: type, fields-to-discriminateBy: {a: A, b: [B, B2], c: C}"
	plain = "members: [a, b, c]"
	// grouped has a group.
	grouped = "members: [a, [b, c]]"
	// A selects a and b, B only b; C selects b and c.
	sets = "discriminator: type, fields-to-discriminateBy: {a: A, b: [A, B, C], c: C}"
)

// Each state violates exactly the listed conditions; legal states violate none.
func TestViolations(t *testing.T) {
	tests := []struct {
		declaration string
		states      map[string]string
	}{
		{typed, map[string]string{
			"-": "", "A a": "", "B b": "", "B2 b": "", "C c": "", "Other": "", // at most one; memberless values are legal
			"A": "required a", "B2": "required b", "- a": "forbidden a", "- a b": "forbidden a, forbidden b", "Other c": "forbidden c",
			"A b": "required a, forbidden b", "A a b c": "forbidden b, forbidden c", "B a b": "forbidden a",
		}},
		{typed + ", optionalMembers: [a, c]", map[string]string{
			"A": "", "C": "", "A a": "", "B": "required b", "A b": "forbidden b", "-": "", "- a": "forbidden a",
		}},
		{typed + ", cardinality: ExactlyOne", map[string]string{
			"-": "selected", "- a": "selected, forbidden a", "A a": "", "A": "required a", "Other": "", "Other a": "forbidden a",
		}},
		{typed + ", cardinality: ExactlyOne, optionalMembers: [a]", map[string]string{"-": "selected", "A": "", "A a": "", "A a c": "forbidden c"}},
		{typed + ", unmappedValues: Forbid", map[string]string{
			"-": "", "A a": "", "B2 b": "", "Other": "unmapped", "Other a": "unmapped, forbidden a", "a": "unmapped",
		}},
		{typed + ", unmappedValues: Forbid, cardinality: ExactlyOne", map[string]string{"-": "selected", "Other": "unmapped"}},
		{typed + ", deduceInvalidDiscriminator: true", map[string]string{
			"-": "", "- a": "", "- b": "", "- a b": "tooMany", "- a b c": "tooMany",
			"A a": "", "A": "required a", "A b": "required a, forbidden b", "Other": "", "Other a": "forbidden a",
		}},
		{typed + ", deduceInvalidDiscriminator: true, unmappedValues: Forbid", map[string]string{"- a": "", "Other": "unmapped", "- a c": "tooMany"}},
		{sets, map[string]string{
			"-": "", "A a b": "", "B b": "", "C b c": "", "Other": "", "- a b": "forbidden a, forbidden b",
			"A": "required a, required b", "A a": "required b", "A b": "required a", "A b c": "required a, forbidden c", "B a b": "forbidden a", "C c": "required b",
		}},
		{sets + ", optionalMembers: [b]", map[string]string{"A a": "", "A a b": "", "B": "", "B b": "", "A b": "required a", "C c": "", "- b": "forbidden b"}},
		{sets + ", optionalMembers: {b: [C, B], c: C}", map[string]string{"A a": "required b", "B": "", "C": "", "C c": "", "C b": "", "C b c": "", "C a": "forbidden a"}},
		{"discriminator: type, fields-to-discriminateBy: {}", map[string]string{"-": "", "A": "", "A a": ""}},
		{"discriminator: type, fields-to-discriminateBy: {}, cardinality: ExactlyOne", map[string]string{"-": "selected", "A": "", "A a": ""}},
		{plain, map[string]string{"-": "", "- a": "", "- c": "", "- a b": "tooMany", "- a b c": "tooMany", "A b": ""}},
		{plain + ", cardinality: ExactlyOne", map[string]string{"-": "tooFew", "- a": "", "- b c": "tooMany", "- a b c": "tooMany"}},
		{plain + ", cardinality: AtLeastOne", map[string]string{"-": "tooFew", "- a": "", "- b c": "", "- a b c": ""}},
		{grouped, map[string]string{
			"-": "", "- a": "", "- b c": "", "- b": "required c", "- c": "required b", "- a b": "tooMany, required c", "- a c": "tooMany, required b", "- a b c": "tooMany",
		}},
		{grouped + ", cardinality: ExactlyOne, optionalMembers: [c]", map[string]string{
			"-": "tooFew", "- a": "", "- b": "", "- b c": "", "- c": "required b", "- a b": "tooMany", "- a c": "tooMany, required b", "- a b c": "tooMany",
		}},
		{grouped + ", optionalMembers: [b, c]", map[string]string{"-": "", "- b": "", "- c": "", "- b c": "", "- a c": "tooMany"}},
		{grouped + ", cardinality: AtLeastOne", map[string]string{"-": "tooFew", "- a": "", "- b c": "", "- a b c": "", "- a b": "required c"}},
		{"members: [[a, b, c]], optionalMembers: [c]", map[string]string{"-": "", "- a b": "", "- a b c": "", "- a": "required b", "- c": "required a, required b"}},
	}
	for _, tt := range tests {
		u := unionFor(t, tt.declaration)
		for text, want := range tt.states {
			if got := broken(u, u.Violations(state(u, text))); got != want {
				t.Errorf("%s: %q breaks %q, want %q", tt.declaration, text, got, want)
			}
			s := state(u, text)
			if diff := cmp.Diff(u.Violations(s), u.Judge(nil, s)); diff != "" {
				t.Errorf("%s: creation of %q: %s", tt.declaration, text, diff)
			}
		}
	}
}

func TestSelection(t *testing.T) {
	tests := []struct {
		declaration string
		states      map[string]string
	}{
		{typed, map[string]string{"-": "", "A": "A", "B2 b": "B2", "Other": "Other", "- a": "", "C a": "C"}},
		{typed + ", deduceInvalidDiscriminator: true", map[string]string{"-": "", "- a": "A", "- b": "B", "B2 b": "B2", "C a": "C", "- a b": "", "Other a": "Other"}},
		{plain, map[string]string{"-": "", "- a": "a", "- b": "b", "- a b": "", "A c": "c"}},
		{grouped, map[string]string{"-": "", "- a": "a", "- b": "b+c", "- b c": "b+c", "- a b": ""}},
	}
	for _, tt := range tests {
		u := unionFor(t, tt.declaration)
		for text, want := range tt.states {
			if got := u.Selection(state(u, text)); got != want {
				t.Errorf("%s: Selection(%q) = %q, want %q", tt.declaration, text, got, want)
			}
		}
	}
}

// Changes are written "old > new". A ! marks a change that violates the condition; other changes
// violate none.
func TestChangeViolations(t *testing.T) {
	tests := []struct {
		declaration string
		want        union.Condition
		changes     []string
	}{
		{typed, union.NotCleared, []string{
			"- > A a", "A a > A a", "A a > B b", "A a > -", "A a > Other", "- > -",
			"!A a > B a b", "!A a > B a", "!A a > - a", "!A a > Other a", "A a > B2 b c", // c is not a member of the old value
			"!A > B a",                     // a was absent, and may not be set now
			"A a b > A a b", "A a b > A b", // the discriminator did not change
			"B b > B2 b", "B b c > B2 b c", // the selected member may stay
			"- a > B a", "- a > A a", "Other a > B a", "Other a > Third a", "- a > - a", // the old value had no member
		}},
		{sets, union.NotCleared, []string{
			"A a b > B b", "A a b > C b c", "A a b > -", "A a b > A a b", "B b > A a b", "- a > A a",
			"!A a b > B a b", "!A a b > C a b c", "!A a b > C a c", "!A a b > - b", "!C b c > B c", "!C b c > Other b",
		}},
		{typed + ", deduceInvalidDiscriminator: true", union.NotCleared, []string{
			"- a > - b", "- a > A a", "A a > - a", "- b > B2 b", "B2 b > - b", "- a > B b", "A a > -",
			"!A a > B a", "!B2 b > A a b", "- a > B a b", "- a > - a b", "A a > - a c", "- a b > A a b",
		}},
		{typed + ", discriminatorChange: Allow", union.NotAllowed, []string{"A a > B a", "A a > -", "- > A", "- a > B b"}},
		{typed + ", discriminatorChange: Forbid", union.NotAllowed, []string{
			"- > A a", "- > -", "- > Other", "A a > A a", "A a > A", "A > A a b", "Other > Other",
			"!A a > B b", "!A a > -", "!B b > B2 b", "!A a > Other", "!Other > -", "!Other > A a", "- a > B b",
		}},
		{typed + ", discriminatorChange: Forbid, deduceInvalidDiscriminator: true", union.NotAllowed, []string{
			"- > A a", "- > - a", "- a > - a", "- a > A a", "A a > - a", "!- a > - b", "!- a > -", "!A a > - b", "!A a > -", "!- a > B b",
			"- a b > B b", "!A a > - a b",
		}},
		{typed + ", allowedChanges: {A: [B, ''], B: C}", union.NotAllowed, []string{
			"- > A a", "- > C c", "- > Other", "A a > A a", "A a > B b", "A a > -", "B b > C c", "C c > C c",
			"!A a > C c", "!A a > B2 b", "!A a > Other", "!B b > -", "!B b > A a", "!B2 b > C c", "!C c > -", "!C c > A a", "!Other > A a", "!Other > -",
			"A a > B a b", // left to the static rules
		}},
		{typed + ", allowedChanges: {}", union.NotAllowed, []string{"- > A a", "A > A a", "!A a > B b", "!A a > -"}},
		{plain, union.NotCleared, []string{"- a > - b", "- a > - a b"}},
		{plain + ", discriminatorChange: Clear", union.NotCleared, []string{
			"- > - a", "- a > -", "- a > - b", "- a > - a", "- a b > - a", "- a b > - a b", "- a b > - c",
			"!- a > - a b", "!- a b > - b c", "!- a b > - a b c", "- > - a b",
		}},
		{plain + ", cardinality: ExactlyOne, discriminatorChange: Clear", union.NotCleared, []string{"- a > - b", "!- a > - a b"}},
		{plain + ", cardinality: AtLeastOne", union.NotCleared, []string{"- a > - a b", "- a > -"}},
		{plain + ", discriminatorChange: Allow", union.NotAllowed, []string{"- a > - b", "- a > - a b", "- a > -"}},
		{plain + ", discriminatorChange: Forbid", union.NotAllowed, []string{
			"- > - a", "- > -", "- a > - a", "!- a > - b", "!- a > -", "- a > - a b", "- a b > - c", "- a b > -", // two were set, which the static rules reject
		}},
		{plain + ", allowedChanges: {a: [b, ''], b: c}", union.NotAllowed, []string{
			"- > - c", "- a > - a", "- a > - b", "- a > -", "- b > - c", "- c > - c",
			"!- a > - c", "!- b > -", "!- b > - a", "!- c > -", "!- c > - a", "!- a > - b c",
		}},
		{grouped + ", discriminatorChange: Clear", union.NotCleared, []string{"- a > - b c", "- b > - b c", "- b c > - b", "- b c > - c", "!- a > - a b c", "!- b c > - a c", "- > - a b c"}},
		{grouped + ", discriminatorChange: Forbid", union.NotAllowed, []string{"- > - b c", "- b c > - b", "- b > - c", "- b > - b c", "!- b c > - a", "!- b c > -", "!- a > - b c", "- a b > -"}},
		{grouped + ", allowedChanges: {a: b+c, b+c: ['']}", union.NotAllowed, []string{"- a > - b c", "- a > - b", "- b c > -", "- b > - c", "!- b > - a", "!- a > -"}},
	}
	for _, tt := range tests {
		u := unionFor(t, tt.declaration)
		for _, change := range tt.changes {
			text, want := strings.CutPrefix(change, "!")
			from, to, _ := strings.Cut(text, ">")
			old, new := state(u, from), state(u, to)
			expected := ""
			if want {
				expected = string(tt.want)
			}
			if got := broken(u, u.ChangeViolations(old, new)); got != expected {
				t.Errorf("%s: %s: %q, want %q", tt.declaration, text, got, expected)
			}
			if got, want := broken(u, u.Judge(&old, new)), broken(u, append(u.Violations(new), u.ChangeViolations(old, new)...)); got != want {
				t.Errorf("%s: %s is judged %q, want %q", tt.declaration, text, got, want)
			}
		}
	}
}

func TestRatchet(t *testing.T) {
	u := unionFor(t, typed+", ratchet: true, discriminatorChange: Forbid")
	for change, want := range map[string]string{
		"A b > A b":   "", // unchanged
		"A b > A b c": "required a, forbidden b, forbidden c",
		"A b > A":     "required a",
		"A b > -":     "notAllowed",
		"- b > - b":   "",
		"- b > - a":   "forbidden a",
	} {
		from, to, _ := strings.Cut(change, ">")
		old, new := state(u, from), state(u, to)
		if got := broken(u, u.Judge(&old, new)); got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
	// Each property of a group is in the state.
	group := unionFor(t, grouped+", ratchet: true")
	for change, want := range map[string]bool{"- a b > - a b": true, "- a b > - a c": false, "- a b > - a b c": false, "- b > - b c": true} {
		from, to, _ := strings.Cut(change, ">")
		old, new := state(group, from), state(group, to)
		if got := len(group.Judge(&old, new)) == 0; got != want {
			t.Errorf("%s: %t", change, got)
		}
	}
	if s := state(u, "A b"); len(u.Judge(nil, s)) != 2 || len(unionFor(t, typed).Judge(&s, s)) != 2 {
		t.Error("creations, and unions that do not ratchet, are exempt")
	}
}

func TestRemovable(t *testing.T) {
	tests := []struct {
		declaration string
		guarded     bool
		removable   map[string]bool
	}{
		{typed, false, map[string]bool{"-": true, "A a": true, "Other": true}},
		{typed + ", discriminatorChange: Allow", false, map[string]bool{"A a": true}},
		{typed + ", discriminatorChange: Forbid", true, map[string]bool{"-": true, "- a": true, "A a": false, "A": false, "Other": false}},
		{typed + ", discriminatorChange: Forbid, deduceInvalidDiscriminator: true", true, map[string]bool{"-": true, "- a": false, "- a b": true, "B": false}},
		{typed + ", allowedChanges: {A: [B, ''], B: A}", true, map[string]bool{"-": true, "A a": true, "B b": false, "B2 b": false, "Other": false}},
		{plain, false, map[string]bool{"- a": true}},
		{grouped + ", allowedChanges: {b+c: ['']}", true, map[string]bool{"- a": false, "- b": true, "- b c": true, "-": true, "- a b": true}},
		{plain + ", cardinality: AtLeastOne", false, map[string]bool{"- a": true}},
		{plain + ", discriminatorChange: Forbid", true, map[string]bool{"-": true, "- a": false, "- a b": true}},
		{plain + ", allowedChanges: {a: ['']}", true, map[string]bool{"-": true, "- a": true, "- b": false}},
	}
	for _, tt := range tests {
		u := unionFor(t, tt.declaration)
		if u.Guarded() != tt.guarded {
			t.Errorf("%s: guarded is %t", tt.declaration, u.Guarded())
		}
		for text, want := range tt.removable {
			if got := u.Removable(state(u, text)); got != want {
				t.Errorf("%s: Removable(%q) = %t", tt.declaration, text, got)
			}
		}
	}
}

func TestUnionLookups(t *testing.T) {
	u := unionFor(t, typed)
	for value, want := range map[string][]int{"A": {0}, "B": {1}, "B2": {1}, "C": {2}, "": nil, "a": nil, "Other": nil} {
		if got := u.MembersOf(value); !slices.Equal(got, want) {
			t.Errorf("MembersOf(%q) = %d", value, got)
		}
	}
	if got := fmt.Sprint(u.MemberNames(), u.MemberValues()); got != "[a b c] [A B B2 C]" {
		t.Error(got)
	}
	u = unionFor(t, sets+", optionalMembers: {b: [B, C]}")
	if got := fmt.Sprint(u.MembersOf("C"), u.MemberValues(), u.Members[1].Required(), u.Classes()); got != "[1 2] [A B C] [A] [{[A] [0 1] [0 1]} {[B] [1] []} {[C] [1 2] [2]}]" {
		t.Error(got)
	}
	if u := unionFor(t, typed); u.Overlaps([]int{0, 1, 2}) || fmt.Sprint(u.Classes()) != "[{[A] [0] [0]} {[B B2] [1] [1]} {[C] [2] [2]}]" {
		t.Error(u.Classes())
	}
	if !u.Overlaps([]int{0, 1, 2}) || u.Overlaps([]int{0, 2}) {
		t.Error("Overlaps is wrong")
	}
}
