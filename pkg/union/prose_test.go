package union_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/union"
)

// prose implements the meaning of a union as docs/semantics.md describes it, state by state. It
// does not use [union.Expr].
type prose struct{ *union.Union }

func count(s union.State) (n int) {
	for _, p := range s.Present {
		if p {
			n++
		}
	}
	return n
}

func (u prose) violations(s union.State) []union.Violation {
	var l []union.Violation
	add := func(c union.Condition, member int) { l = append(l, union.Violation{Condition: c, Member: member}) }
	if u.Cardinality == union.AnyNumber {
		for i, m := range u.Members {
			forbidden, required := false, false
			for j, other := range u.Members {
				forbidden = forbidden || s.Present[j] && slices.Contains(other.Forbids, m.Name)
				required = required || s.Present[j] && slices.Contains(other.Requires, m.Name)
			}
			if s.Present[i] && forbidden {
				add(union.Forbidden, i)
			}
			if !s.Present[i] && required {
				add(union.Required, i)
			}
		}
		return l
	}
	if u.Discriminator == "" {
		if u.Cardinality != union.AtLeastOne && count(s) > 1 {
			add(union.TooMany, -1)
		}
		if u.Cardinality != union.AtMostOne && count(s) == 0 {
			add(union.TooFew, -1)
		}
		return l
	}
	if u.Cardinality == union.ExactlyOne && s.Value == "" {
		add(union.Selected, -1)
	}
	if u.ForbidUnmapped && s.Value != "" && len(u.MembersOf(s.Value)) == 0 {
		add(union.Unmapped, -1)
	}
	if u.Deduce && s.Value == "" {
		if count(s) > 1 {
			add(union.TooMany, -1)
		}
		return l
	}
	for i, m := range u.Members {
		switch selected := slices.Contains(m.Values, s.Value); {
		case s.Present[i] && !selected:
			add(union.Forbidden, i)
		case !s.Present[i] && selected && !slices.Contains(m.Optional, s.Value):
			add(union.Required, i)
		}
	}
	return l
}

func (u prose) selection(s union.State) string {
	if s.Value != "" {
		return s.Value
	}
	if u.Discriminator != "" && !u.Deduce || count(s) != 1 {
		return ""
	}
	m := u.Members[slices.Index(s.Present, true)]
	if u.Discriminator == "" {
		return m.Name
	}
	return m.Values[0]
}

func (u prose) allows(old, new union.State) bool {
	from, to := u.selection(old), u.selection(new)
	switch {
	case u.Change == union.Allow || u.Change != union.Clear && from == "":
		return true
	case u.Change == union.Clear && u.Discriminator != "":
		for _, i := range u.MembersOf(old.Value) {
			if new.Present[i] && !slices.Contains(u.Members[i].Values, new.Value) && !(u.Deduce && new.Value == "") {
				return false
			}
		}
		return true
	case u.Change == union.Clear:
		added, kept := false, false
		for i, is := range new.Present {
			added, kept = added || is && !old.Present[i], kept || is && old.Present[i]
		}
		return !added || !kept
	case u.Discriminator != "":
		return to == from || slices.Contains(u.Allowed[from], to)
	case new.Present[slices.Index(u.MemberNames(), from)]:
		return true
	case count(new) == 0:
		return slices.Contains(u.Allowed[from], "")
	}
	for i, m := range u.Members {
		if new.Present[i] && !slices.Contains(u.Allowed[from], m.Name) {
			return false
		}
	}
	return true
}

// The expressions agree with docs/semantics.md in every state, and for every change.
func TestMeaning(t *testing.T) {
	pairs := 0
	for i, shape := range append(unioncases.Shapes(), unioncases.Valued()...) {
		states := shape.States()
		relations := slices.DeleteFunc(shape.Declarations(), func(d string) bool { return !strings.Contains(d, "dependent") })
		for _, declaration := range append(unioncases.Some(shape.Declarations(), 37, i), relations...) {
			unions, diags := resolve(t, "- "+declaration, shape.Schema(), false)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			u, p := unions[0], prose{unions[0]}
			for _, new := range states {
				if d := cmp.Diff(p.violations(new.State), u.Violations(new.State)); d != "" {
					t.Fatalf("%s: %v (-want +got):\n%s", declaration, new, d)
				}
				removable := u.Change != union.Forbid && u.Change != union.AllowedChanges || p.selection(new.State) == "" || slices.Contains(u.Allowed[p.selection(new.State)], "")
				if u.Removable(new.State) != removable {
					t.Fatalf("%s: %v may be removed: %t", declaration, new, removable)
				}
				for _, old := range states {
					pairs++
					if p.allows(old.State, new.State) != (len(u.ChangeViolations(old.State, new.State)) == 0) {
						t.Fatalf("%s: %v > %v: %v", declaration, old, new, u.ChangeViolations(old.State, new.State))
					}
				}
			}
		}
	}
	t.Logf("%d changes", pairs)
}
