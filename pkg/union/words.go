package union

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
)

// AnotherValue is the Value of a State whose discriminator has any value that the union does not
// name.
const AnotherValue = "\x00"

// Describe returns a description of a state for messages.
func (u *Union) Describe(s State) string {
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
	return members + " and " + u.Discriminator + " is " + u.shown(s.Value)
}

// membersSet lists the present members in words, or returns "".
func membersSet(u *Union, present []bool) string {
	l := chosen(u, present)
	switch len(l) {
	case 0:
		return ""
	case 1:
		return l[0] + " is set"
	}
	return english.List(l, "and") + " are set"
}

func chosen(u *Union, present []bool) []string {
	var l []string
	for i, p := range present {
		if p {
			l = append(l, u.Members[i].Name)
		}
	}
	return l
}

func (u *Union) shown(value string) string {
	switch value {
	case "":
		return "unset"
	case AnotherValue:
		return "something else"
	}
	return u.Type.Quoted(value)
}

// DescribeViolation returns a description of a violation by state is, or by the change from state
// was; was is nil for a creation.
func (u *Union) DescribeViolation(v Violation, was *State, is State) string {
	name := ""
	if v.Member >= 0 {
		name = u.Members[v.Member].Name
	}
	if u.Relates() {
		return u.describeRelation(v, is)
	}
	switch v.Condition {
	case Forbidden:
		return fmt.Sprintf("%s is set while %s is %s", name, u.Discriminator, u.shown(is.Value))
	case Required:
		if u.Discriminator == "" {
			return u.describeIncomplete(v.Member, is)
		}
		return fmt.Sprintf("%s is not set while %s is %s", name, u.Discriminator, u.shown(is.Value))
	case Selected:
		return u.Discriminator + " is not set"
	case Unmapped:
		return fmt.Sprintf("%s is %s, which selects no member", u.Discriminator, u.shown(is.Value))
	case TooMany:
		return english.List(chosen(u, is.Present), "and") + " are set together"
	case TooFew:
		return "none of " + strings.Join(u.MemberNames(), ", ") + " is set"
	}
	if was == nil {
		return string(v.Condition)
	}
	change := fmt.Sprintf("%s changes from %s to %s", u.Discriminator, u.shown(was.Value), u.shown(is.Value))
	if u.Discriminator == "" || was.Value == is.Value {
		change = fmt.Sprintf("it changes from %s to %s", named(u, was.Present), named(u, is.Present))
	}
	if v.Condition == NotCleared {
		left := make([]bool, len(u.Members))
		selected, before := u.MembersOf(u.Selection(is)), u.MembersOf(was.Value)
		for i := range left {
			// A member of the old value may have been absent before.
			left[i] = is.Present[i] && !slices.Contains(selected, i) && (was.Present[i] || u.Discriminator != "" && slices.Contains(before, i))
		}
		verb := " is"
		if len(chosen(u, left)) > 1 {
			verb = " are"
		}
		change += ", but " + english.List(chosen(u, left), "and") + verb + " not cleared"
	}
	return change
}

// describeIncomplete describes a member that is absent while others of its group are present.
func (u *Union) describeIncomplete(member int, is State) string {
	others := make([]bool, len(u.Members))
	for _, i := range u.MembersOf(u.Members[member].Values[0]) {
		others[i] = is.Present[i]
	}
	return fmt.Sprintf("%s is not set while %s", u.Members[member].Name, membersSet(u, others))
}

func named(u *Union, present []bool) string {
	if !slices.Contains(present, true) {
		return "no member"
	}
	return english.List(chosen(u, present), "and")
}
