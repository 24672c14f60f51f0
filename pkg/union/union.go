package union

import (
	"maps"
	"slices"
)

// Union is a checked declaration: what a union object may look like and how it
// may change. It is plain data, owned by the caller.
type Union struct {
	// Name distinguishes unions of one object in messages; usually empty.
	Name string
	// Discriminator is the string property that names the member in use, or
	// empty when the union has none.
	Discriminator string
	// Members are the properties in the union, in declared order.
	Members []Member
	// Cardinality is never zero.
	Cardinality Cardinality
	// ForbidUnmapped rejects discriminator values that map to no member.
	ForbidUnmapped bool
	// Deduce lets the discriminator be left out when at most one member is
	// present; that member is then the selected one.
	Deduce bool
	// Change says how the union may change on update. It is never zero.
	Change Change
	// Allowed is the transition table of AllowedChanges: from a discriminator
	// value (from a member's name when there is no discriminator) to the ones it
	// may become; "" is unset.
	Allowed map[string][]string
	// Ratchet exempts updates that leave the state as it was from the static
	// rules.
	Ratchet bool
	// Replace says that hand-written rules go, where those compiled for the union
	// are proved to accept and reject the same. It does not affect the meaning.
	Replace bool
	// Values are all values the discriminator is known to take: those of the
	// members, in order, then further ones of its enum.
	Values []string
}

// Member is one property of a union.
type Member struct {
	// Name of the property.
	Name string
	// Values of the discriminator that select the member; empty without a
	// discriminator.
	Values []string
	// Optional members may stay unset even when selected.
	Optional bool
	// Empty says which values besides null are treated as unset.
	Empty Emptiness
	// Fields are the properties of a member with Empty == EmptyObject.
	Fields []string
}

// Cardinality is how many members a union object has.
type Cardinality int

const (
	// AtMostOne allows an object with no member: KEP-1027's default.
	AtMostOne Cardinality = iota + 1
	// ExactlyOne requires a member or, with a discriminator, that the
	// discriminator is set.
	ExactlyOne
	// AtLeastOne allows any number of members but none. It has no transitions.
	AtLeastOne
)

var cardinalities = names[Cardinality]{"AtMostOne": AtMostOne, "ExactlyOne": ExactlyOne, "AtLeastOne": AtLeastOne}

// String returns the spelling used in declarations.
func (c Cardinality) String() string { return cardinalities.name(c) }

// Change is what an update may do to a union.
type Change int

const (
	// Clear demands that a change of the discriminator clears the member of its old
	// value or, without a discriminator, that a newly set member clears those that
	// were there.
	Clear Change = iota + 1
	// Allow emits no transition rule.
	Allow
	// Forbid freezes the discriminator, or the member, once set.
	Forbid
	// AllowedChanges permits the changes of a table only.
	AllowedChanges
)

var changes = names[Change]{"Clear": Clear, "Allow": Allow, "Forbid": Forbid}

// String returns the spelling used in declarations.
func (c Change) String() string {
	if c == AllowedChanges {
		return "allowedChanges"
	}
	return changes.name(c)
}

// Emptiness says which non-null values of a member count as unset.
type Emptiness int

const (
	// PresentWhenEmpty treats every value but null as set: has() alone.
	PresentWhenEmpty Emptiness = iota
	// EmptyString treats "" as unset.
	EmptyString
	// EmptyCollection treats [] and, for maps, {} as unset.
	EmptyCollection
	// EmptyObject treats an object none of whose properties is present as unset.
	EmptyObject
)

// names maps the spellings of an enumeration to its values.
type names[T comparable] map[string]T

func (n names[T]) name(v T) string {
	for name, w := range n {
		if v == w {
			return name
		}
	}
	return ""
}

func (n names[T]) list() []string { return slices.Sorted(maps.Keys(n)) }

// MemberOf returns the index of the member that value selects, or -1: the value
// is memberless or unset.
func (u *Union) MemberOf(value string) int {
	return slices.IndexFunc(u.Members, func(m Member) bool { return slices.Contains(m.Values, value) })
}

// MemberNames returns the names of all members in declared order.
func (u *Union) MemberNames() []string {
	l := make([]string, len(u.Members))
	for i, m := range u.Members {
		l[i] = m.Name
	}
	return l
}

// MemberValues returns the discriminator values of all members in declared order.
func (u *Union) MemberValues() []string {
	var l []string
	for _, m := range u.Members {
		l = append(l, m.Values...)
	}
	return l
}
