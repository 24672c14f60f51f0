package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// Words says in a line what the counterexample is: what it breaks when it is
// accepted, which state or change it is when it is rejected.
func (d Difference) Words(u *union.Union) string {
	words := d.words(u)
	if len(d.Beside) > 0 {
		words += " (" + enumerated(d.Beside) + ")"
	}
	return words
}

func (d Difference) words(u *union.Union) string {
	switch {
	case d.Is == nil:
		if d.Was == nil {
			return d.Removed + " is not there"
		}
		return fmt.Sprintf("%s is removed while %s", d.Removed, describe(u, *d.Was))
	case !d.Accepted && d.Was == nil:
		return describe(u, *d.Is)
	case !d.Accepted:
		return fmt.Sprintf("%s (before: %s)", describe(u, *d.Is), describe(u, *d.Was))
	}
	var l []string
	for _, v := range d.Violations {
		l = append(l, violation(u, v, d.Was, *d.Is))
	}
	return strings.Join(l, "; ")
}

// describe says what a state is.
func describe(u *union.Union, s union.State) string {
	members := membersSet(u, s.Present)
	if u.Discriminator == "" {
		if members == "" {
			return "no member is set"
		}
		return members
	}
	if members == "" {
		members = "no member is set"
	}
	return members + " and " + u.Discriminator + " is " + shown(s.Value)
}

// membersSet says which members are set.
func membersSet(u *union.Union, present []bool) string {
	l := chosen(u, present)
	switch len(l) {
	case 0:
		return ""
	case 1:
		return l[0] + " is set"
	}
	return enumerated(l) + " are set"
}

func chosen(u *union.Union, present []bool) []string {
	var l []string
	for i, p := range present {
		if p {
			l = append(l, u.Members[i].Name)
		}
	}
	return l
}

func enumerated(l []string) string {
	if len(l) < 2 {
		return strings.Join(l, "")
	}
	return strings.Join(l[:len(l)-1], ", ") + " and " + l[len(l)-1]
}

func shown(value string) string {
	switch value {
	case "":
		return "unset"
	case otherValue:
		return "something else"
	}
	return "'" + value + "'"
}

// violation says what a state, or a change, breaks.
func violation(u *union.Union, v union.Violation, was *union.State, is union.State) string {
	name := ""
	if v.Member >= 0 {
		name = u.Members[v.Member].Name
	}
	switch v.Condition {
	case union.Forbidden:
		return fmt.Sprintf("%s is set while %s is %s", name, u.Discriminator, shown(is.Value))
	case union.Required:
		return fmt.Sprintf("%s is not set while %s is %s", name, u.Discriminator, shown(is.Value))
	case union.Selected:
		return u.Discriminator + " is not set"
	case union.Unmapped:
		return fmt.Sprintf("%s is %s, which selects no member", u.Discriminator, shown(is.Value))
	case union.TooMany:
		return enumerated(chosen(u, is.Present)) + " are set together"
	case union.TooFew:
		return "none of " + strings.Join(u.MemberNames(), ", ") + " is set"
	}
	if was == nil {
		return string(v.Condition)
	}
	change := fmt.Sprintf("%s changes from %s to %s", u.Discriminator, shown(was.Value), shown(is.Value))
	if u.Discriminator == "" || was.Value == is.Value {
		change = fmt.Sprintf("it changes from %s to %s", names(u, was.Present), names(u, is.Present))
	}
	if v.Condition == union.NotCleared {
		left := make([]bool, len(u.Members))
		selected, before := u.MembersOf(u.Selection(is)), u.MembersOf(was.Value)
		for i := range left {
			// What the old value selects may have been missing before.
			left[i] = is.Present[i] && !slices.Contains(selected, i) && (was.Present[i] || u.Discriminator != "" && slices.Contains(before, i))
		}
		verb := " is"
		if len(chosen(u, left)) > 1 {
			verb = " are"
		}
		change += ", but " + enumerated(chosen(u, left)) + verb + " not cleared"
	}
	return change
}

func names(u *union.Union, present []bool) string {
	if !slices.Contains(present, true) {
		return "no member"
	}
	return enumerated(chosen(u, present))
}
