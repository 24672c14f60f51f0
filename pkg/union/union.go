package union

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Union is a resolved declaration: it defines the legal states of a union object and the legal
// changes. The union object is an object with properties, or a list whose items are the members.
// Union is plain data, owned by the caller.
type Union struct {
	// Name distinguishes unions of one object in messages; usually empty.
	Name string
	// Discriminator is the property whose value selects members; empty if the union has none.
	Discriminator string
	// Type is the type of the discriminator.
	Type ValueType
	// Unset is the value of an unset discriminator; "" if it has none.
	Unset string
	// Members are in declared order. Only a union with a discriminator may have no members.
	Members []Member
	// Cardinality is never zero.
	Cardinality Cardinality
	// ForbidUnmapped rejects discriminator values that map to no member.
	ForbidUnmapped bool
	// DiscriminatorRequired reports that the schema accepts no new object without a value of the
	// discriminator: neither an absent property nor "" or null. [Selected] then needs no rule.
	DiscriminatorRequired bool
	// Deduce allows an unset discriminator if at most one member is present. That member is
	// then selected.
	Deduce bool
	// Change restricts updates of the union. It is never zero.
	Change Change
	// Allowed is the transition table of AllowedChanges. It maps an old value of the
	// discriminator to the allowed new values, with "" for unset. Without a discriminator it
	// contains names of groups instead.
	Allowed map[string][]string
	// Ratchet exempts an update from the static rules if it leaves the state unchanged.
	Ratchet bool
	// Replace removes hand-written rules that are proved equivalent to the rules of the
	// union. It does not affect the meaning.
	Replace bool
	// Message has the texts of errors about the union. It does not affect the meaning.
	Message Texts
	// Messages has the texts of errors about one member or about the discriminator, by name.
	// They override Message. Their Changed is empty.
	Messages map[string]Texts
	// Values are the known values of the discriminator: the values of the members, in
	// order, then other values of its enum or of allowedChanges.
	Values []string
	// Enumerated is set if the discriminator has an enum: Values then has all values that the
	// schema allows. It does not affect the meaning.
	Enumerated bool
	// Paths maps the names of a discriminator and members in nested objects, such as
	// platform.type, to their paths. See [Union.Path].
	Paths map[string]schemapath.Path
}

// Path returns the path from the union object to the named discriminator or member.
func (u *Union) Path(name string) schemapath.Path {
	if p, ok := u.Paths[name]; ok {
		return p
	}
	return schemapath.New(name)
}

// Member is one property or list item of a union.
type Member struct {
	// Name is the name of a property, the path of a property in a nested object (see
	// [Union.Path]), or the values of a list item's keys.
	Name string
	// Values are the discriminator values that select the member. A value may select several
	// members. Without a discriminator, the only value is the name of the member's group; it is
	// empty if the member is alone. See [Union.Groups].
	Values []string
	// Optional are the values that select the member without requiring it.
	Optional []string
	// Empty defines the values other than null that count as unset.
	Empty Emptiness
	// Fields are the names of the member's properties if Empty is EmptyObject.
	Fields []string
	// Requires and Forbids are the names of the members that must be set, and must not be set,
	// while the member is set; empty unless Cardinality is AnyNumber.
	Requires, Forbids []string
	// Item holds the keys of a list item, in the order of x-kubernetes-list-map-keys; nil for a
	// property. See [Union.OfItems].
	Item []ItemKey
}

// Texts are the declared texts of errors, each a single line. Errors without one have a generated
// message.
type Texts struct {
	// Required is the text for a missing member or discriminator, Forbidden the text for a
	// member that may not be set or a value that is not allowed.
	Required, Forbidden string
	// Changed is the text for a change that is not allowed.
	Changed string
}

// Text returns the text of errors about a property under a condition, or "" if it is generated.
// The property is "" for errors about the whole union.
func (u *Union) Text(property string, c Condition) string {
	return cmp.Or(u.Messages[property].about(c), u.Message.about(c))
}

// about returns the text of errors under a condition.
func (t Texts) about(c Condition) string {
	switch c {
	case NotCleared, NotAllowed:
		return t.Changed
	case Required, Selected, TooFew:
		return t.Required
	}
	return t.Forbidden
}

// Cardinality is the number of members that a union object may have.
type Cardinality int

const (
	// AtMostOne allows an object with no member: KEP-1027's default.
	AtMostOne Cardinality = iota + 1
	// ExactlyOne requires exactly one member or, with a discriminator, a set discriminator.
	ExactlyOne
	// AtLeastOne requires one or more members. Changes cannot be restricted.
	AtLeastOne
	// AnyNumber is the cardinality of presence relations, which Member.Requires and
	// Member.Forbids define. It cannot be declared, and changes cannot be restricted.
	AnyNumber
)

var cardinalities = names[Cardinality]{"AtMostOne": AtMostOne, "ExactlyOne": ExactlyOne, "AtLeastOne": AtLeastOne}

// String returns the spelling used in declarations.
func (c Cardinality) String() string {
	if c == AnyNumber {
		return "AnyNumber"
	}
	return cardinalities.name(c)
}

// Change restricts updates of a union.
type Change int

const (
	// Clear requires that a change of the discriminator clears the members of its old value
	// that are no longer selected. Without a discriminator, setting a member must clear the
	// members that were set before.
	Clear Change = iota + 1
	// Allow permits every change.
	Allow
	// Forbid makes the discriminator, or the set member, immutable once set.
	Forbid
	// AllowedChanges permits only the changes in Union.Allowed.
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

// Emptiness defines the non-null values of a member that count as unset.
type Emptiness int

const (
	// PresentWhenEmpty treats every value except null as set, as has() does.
	PresentWhenEmpty Emptiness = iota
	// EmptyString treats "" as unset.
	EmptyString
	// EmptyCollection treats [] and, for maps, {} as unset.
	EmptyCollection
	// EmptyObject treats an object without present properties as unset.
	EmptyObject
	// EmptyBoolean treats false as unset.
	EmptyBoolean
	// EmptyInteger and EmptyNumber treat 0 as unset.
	EmptyInteger
	EmptyNumber
)

// Scalar returns the value that counts as unset: a string, bool or int64. It is nil if more than
// one value does.
func (e Emptiness) Scalar() any {
	switch e {
	case EmptyString:
		return ""
	case EmptyBoolean:
		return false
	case EmptyInteger, EmptyNumber:
		return int64(0)
	}
	return nil
}

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

// Required returns the values that require the member, in order. The caller owns the result.
func (m Member) Required() []string {
	return slices.DeleteFunc(slices.Clone(m.Values), func(v string) bool { return slices.Contains(m.Optional, v) })
}

// MembersOf returns the indices of the members that value selects. The caller owns the result.
func (u *Union) MembersOf(value string) []int {
	return slices.DeleteFunc(u.indices(), func(i int) bool { return !slices.Contains(u.Members[i].Values, value) })
}

// Class is a set of discriminator values that select and require the same members.
type Class struct {
	Values []string
	// Members are the indices of the members that the values select, Required the indices
	// of the members that they require.
	Members, Required []int
}

// Classes groups the values that select members into classes, in the order of their first values.
// The caller owns the result.
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

// Overlaps reports whether some value selects more than one of the members with the given
// indices.
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

// NamesOf returns the names of the members with the given indices.
func (u *Union) NamesOf(members []int) []string {
	var l []string
	for _, i := range members {
		l = append(l, u.Members[i].Name)
	}
	return l
}

// MemberValues returns the discriminator values of all members in declared order, without
// duplicates. The caller owns the result.
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
