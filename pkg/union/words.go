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
	members := "no member is set"
	if set := u.NamesOf(s.Set()); len(set) > 0 {
		members = are(set) + " set"
	}
	if u.Discriminator == "" {
		return members
	}
	return members + " and " + u.Discriminator + " is " + u.shown(s.Value)
}

// are returns the names with the verb: "a is", "a and b are".
func are(names []string) string {
	verb := " are"
	if len(names) < 2 {
		verb = " is"
	}
	return english.List(names, "and") + verb
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
		return english.List(u.NamesOf(is.Set()), "and") + " are set together"
	case TooFew:
		return "none of " + strings.Join(u.MemberNames(), ", ") + " is set"
	}
	if was == nil {
		return string(v.Condition)
	}
	change := fmt.Sprintf("%s changes from %s to %s", u.Discriminator, u.shown(was.Value), u.shown(is.Value))
	if u.Discriminator == "" || was.Value == is.Value {
		change = fmt.Sprintf("it changes from %s to %s", u.nameSet(*was), u.nameSet(is))
	}
	if v.Condition == NotCleared {
		selected, before := u.MembersOf(u.Selection(is)), u.MembersOf(was.Value)
		left := slices.DeleteFunc(is.Set(), func(i int) bool {
			// A member of the old value may have been absent before.
			return slices.Contains(selected, i) || !was.Present[i] && (u.Discriminator == "" || !slices.Contains(before, i))
		})
		change += ", but " + are(u.NamesOf(left)) + " not cleared"
	}
	return change
}

// describeIncomplete describes a member that is absent while others of its group are present.
func (u *Union) describeIncomplete(member int, is State) string {
	others := slices.DeleteFunc(u.MembersOf(u.Members[member].Values[0]), func(i int) bool { return !is.Present[i] })
	return fmt.Sprintf("%s is not set while %s set", u.Members[member].Name, are(u.NamesOf(others)))
}

// nameSet lists the present members.
func (u *Union) nameSet(s State) string {
	if len(s.Set()) == 0 {
		return "no member"
	}
	return english.List(u.NamesOf(s.Set()), "and")
}
