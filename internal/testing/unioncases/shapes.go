package unioncases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// Shape is the set of features that unions must share to be tried on the same objects.
type Shape struct {
	Members       int
	Discriminated bool
	TwoValues     bool // the first member has two values
	Shared        bool // the first and the second member share a value
	Enum          bool // the discriminator has an enum, with a memberless value
	EmptyIsUnset  bool // empty members count as unset
	Escaped       bool // CEL escapes the names of all properties
	Nested        bool // the discriminator, and every other member, are in a nested object
	Scalar        bool // the members are booleans and numbers
	Grouped       bool // the last two members are a group

	Type  union.ValueType // of the discriminator
	Unset string          // the value of an unset discriminator, in the spelling of strings
}

// String describes the shape, for the name of a test.
func (s Shape) String() string {
	name := fmt.Sprintf("%d members", s.Members)
	for _, f := range []struct {
		is   bool
		text string
	}{{s.Discriminated, "discriminator"}, {s.TwoValues, "two values"}, {s.Shared, "shared value"}, {s.Enum, "enum"}, {s.EmptyIsUnset, "emptyIsUnset"}, {s.Escaped, "escaped"}, {s.Nested, "nested"}, {s.Scalar, "scalar"}, {s.Grouped, "grouped"}} {
		if f.is {
			name += ", " + f.text
		}
	}
	if s.Type != union.StringValue {
		name += ", " + s.Type.String()
	}
	if s.Unset != "" {
		name += ", unset " + s.Unset
	}
	return name
}

// Shapes returns the shapes with one to four members, with and without a discriminator, in
// combination with the other features.
func Shapes() []Shape {
	var l []Shape
	for n := 1; n <= 4; n++ {
		for _, empty := range []bool{false, true} {
			l = append(l, Shape{Members: n, EmptyIsUnset: empty})
		}
		for bits := range 8 {
			s := Shape{Members: n, Discriminated: true, TwoValues: bits&1 > 0, Enum: bits&2 > 0, EmptyIsUnset: bits&4 > 0}
			// For more members, a few combinations are enough.
			if n < 3 || bits == 3 || n == 3 && (bits == 0 || bits == 5) {
				l = append(l, s)
			}
			if n > 1 && n < 4 && (bits == 1 || n == 2 && bits == 6) {
				s.Shared = true
				l = append(l, s)
			}
		}
	}
	return l
}

// Escaped returns shapes whose names are escaped in CEL.
func Escaped() []Shape {
	return []Shape{
		{Members: 2, Escaped: true},
		{Members: 4, EmptyIsUnset: true, Escaped: true},
		{Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 3, Discriminated: true, TwoValues: true, EmptyIsUnset: true, Escaped: true},
	}
}

// Further returns the shapes of [Nested], [Valued], [Scalar] and [Grouped].
func Further() []Shape { return slices.Concat(Nested(), Valued(), Scalar(), Grouped()) }

// Nested returns shapes with properties in an object within the union object.
func Nested() []Shape {
	return []Shape{
		{Members: 3, Nested: true},
		{Members: 2, EmptyIsUnset: true, Nested: true},
		{Members: 2, Discriminated: true, Enum: true, Nested: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true, Nested: true},
		{Members: 3, Discriminated: true, EmptyIsUnset: true, Nested: true},
	}
}

// Valued returns shapes whose discriminator is a boolean or an integer, or has a value while unset.
func Valued() []Shape {
	return []Shape{
		{Members: 1, Discriminated: true, Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Type: union.IntegerValue, Enum: true},
		{Members: 3, Discriminated: true, Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Type: union.IntegerValue, Shared: true, Nested: true},
		{Members: 2, Discriminated: true, Unset: "A", Enum: true},
		{Members: 2, Discriminated: true, Unset: "None"},
		{Members: 3, Discriminated: true, Unset: "A2", TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "A", TwoValues: true, Shared: true, Nested: true},
		{Members: 1, Discriminated: true, Unset: "B", Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Unset: "A", Type: union.BooleanValue},
		{Members: 2, Discriminated: true, Unset: "B", Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "None", Type: union.IntegerValue, Enum: true},
	}
}

// spellings has the values of the shapes' discriminators by type.
var spellings = map[union.ValueType]map[string]string{
	union.BooleanValue: {"A": "true", "B": "false"},
	union.IntegerValue: {"A": "1", "A2": "12", "B": "2", "C": "3", "D": "-4", "None": "0", "unheard of": "77"},
}

// spelt returns a value in the spelling of the discriminator's type; "" if the type does not have it.
func (s Shape) spelt(value string) string {
	if s.Type == union.StringValue {
		return value
	}
	return spellings[s.Type][value]
}

// Scalar returns shapes whose members are booleans and numbers.
func Scalar() []Shape {
	return []Shape{
		{Members: 2, Scalar: true},
		{Members: 3, EmptyIsUnset: true, Scalar: true},
		{Members: 3, Discriminated: true, EmptyIsUnset: true, Scalar: true},
		{Members: 3, EmptyIsUnset: true, Nested: true, Scalar: true},
	}
}

// Grouped returns shapes with a group.
func Grouped() []Shape {
	return []Shape{
		{Members: 2, Grouped: true},
		{Members: 3, Grouped: true},
		{Members: 3, Grouped: true, EmptyIsUnset: true, Nested: true},
		{Members: 4, Grouped: true},
		{Members: 4, Grouped: true, EmptyIsUnset: true},
	}
}

// group returns the name of the group, or "".
func (s Shape) group() string {
	if !s.Grouped {
		return ""
	}
	return strings.Join(s.Names()[s.Members-2:], "+")
}

// holder is the property with the nested object.
const holder = "sub"

// Names returns the names of the members. Each member has another type that can be empty.
func (s Shape) Names() []string {
	if s.Escaped {
		return []string{"x__y", "a/b.c-d", "namespace", "e.f"}[:s.Members]
	}
	if s.Nested {
		return []string{"a", holder + ".b", "c", holder + ".d"}[:s.Members]
	}
	return []string{"a", "b", "c", "d"}[:s.Members]
}

// Discriminator returns the name of the discriminator, or "".
func (s Shape) Discriminator() string {
	switch {
	case !s.Discriminated:
		return ""
	case s.Escaped:
		return "if"
	case s.Nested:
		return holder + ".type"
	}
	return "type"
}
