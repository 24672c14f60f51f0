package union

import (
	"maps"
	"slices"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Union is a checked declaration: what a union object may look like and how it
// may change. The union object is an object with properties, or a list of which the
// members are items. It is plain data, owned by the caller.
type Union struct {
	// Name distinguishes unions of one object in messages; usually empty.
	Name string
	// Discriminator is the string property whose value selects members, or empty
	// when the union has none.
	Discriminator string
	// Members are the properties in the union, in declared order. With a
	// discriminator there may be none (yet).
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
	// Paths lead to the discriminator and members that are not properties of the
	// union object but of an object in it, by their names: platform.type. See
	// [Union.Path].
	Paths map[string]schemapath.Path
}

// Path leads from the union object to its discriminator or member of a name.
func (u *Union) Path(name string) schemapath.Path {
	if p, ok := u.Paths[name]; ok {
		return p
	}
	return schemapath.Of(name)
}

// Member is one property of a union.
type Member struct {
	// Name of the property or, in an object below, its path; see [Union.Path]. Of an
	// item, the values of its keys.
	Name string
	// Values of the discriminator that select the member; empty without a
	// discriminator. Several members may share a value: all of them belong to it.
	Values []string
	// Optional are those of the values for which the member may stay unset.
	Optional []string
	// Empty says which values besides null are treated as unset.
	Empty Emptiness
	// Fields are the properties of a member with Empty == EmptyObject.
	Fields []string
	// Item, unless nil, says that the member is the item of a list with these keys, in
	// the order of x-kubernetes-list-map-keys; see [Union.OfItems].
	Item []ItemKey
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

// Required returns the values that demand the member, in order. The caller owns
// the result.
func (m Member) Required() []string {
	return slices.DeleteFunc(slices.Clone(m.Values), func(v string) bool { return slices.Contains(m.Optional, v) })
}

// MembersOf returns the indices of the members that value selects; none when it is
// memberless or unset. The caller owns the result.
func (u *Union) MembersOf(value string) []int {
	return slices.DeleteFunc(u.indices(), func(i int) bool { return !slices.Contains(u.Members[i].Values, value) })
}

// Class is discriminator values that are alike: they select the same members, and
// demand the same of them.
type Class struct {
	Values []string
	// Members are the indices of the members that the values select, Required of
	// those that may not stay unset.
	Members, Required []int
}

// Classes returns the classes of the values that select a member, in the order of
// their first values. The caller owns the result.
func (u *Union) Classes() []Class {
	var l []Class
	for _, v := range u.MemberValues() {
		c := Class{Values: []string{v}, Members: u.MembersOf(v)}
		c.Required = slices.DeleteFunc(slices.Clone(c.Members), func(i int) bool { return slices.Contains(u.Members[i].Optional, v) })
		if i := slices.IndexFunc(l, func(o Class) bool {
			return slices.Equal(o.Members, c.Members) && slices.Equal(o.Required, c.Required)
		}); i >= 0 {
			l[i].Values = append(l[i].Values, v)
		} else {
			l = append(l, c)
		}
	}
	return l
}

// SharesValues reports whether some value selects more than one member.
func (u *Union) SharesValues() bool { return u.Overlaps(u.indices()) }

// Overlaps reports whether some value selects more than one of the members with
// the given indices.
func (u *Union) Overlaps(members []int) bool {
	seen := map[string]bool{}
	for _, i := range members {
		for _, v := range u.Members[i].Values {
			if seen[v] {
				return true
			}
			seen[v] = true
		}
	}
	return false
}

// MemberNames returns the names of all members in declared order.
func (u *Union) MemberNames() []string {
	l := make([]string, len(u.Members))
	for i, m := range u.Members {
		l[i] = m.Name
	}
	return l
}

// MemberValues returns the discriminator values of all members in declared order,
// each once. The caller owns the result.
func (u *Union) MemberValues() []string {
	var l []string
	seen := map[string]bool{}
	for _, m := range u.Members {
		for _, v := range m.Values {
			if !seen[v] {
				l, seen[v] = append(l, v), true
			}
		}
	}
	return l
}
