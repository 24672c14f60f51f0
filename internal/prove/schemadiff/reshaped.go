package schemadiff

import (
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Reshaping is a value that two schemas decode differently: the API server prunes it, sets another
// default, or keeps a null. Decoding precedes validation, so all checks on the value, its ancestors
// and its children then get another object, although the text of the checks is the same.
type Reshaping struct {
	At schemapath.Path
	// Try lists values of the last property on the path that an example may need.
	Try []any
}

// suspect is a check that one side may fail, although the other side accepts the object.
type suspect struct {
	*prove.Check
	when logic.Lit // the check may have different results on the two sides
}

func suspects(when logic.Lit, l ...*prove.Check) []suspect {
	var out []suspect
	for _, c := range l {
		out = append(out, suspect{c, when})
	}
	return out
}

// Seat locates a value: the last property on the path to it, of the object at Holder, and the lists and maps
// between the property and the value.
type Seat struct {
	Holder   schemapath.Path
	Property string
	Tail     schemapath.Path
}

// level is the level of the holder.
func (s Seat) level() int { return len(s.Holder) }

// SeatOf returns the seat of the value at a path. The root has none.
func SeatOf(at schemapath.Path) (Seat, bool) {
	for i := len(at) - 1; i >= 0; i-- {
		if name, ok := at[i].Property(); ok {
			return Seat{at[:i], name, at[i+1:]}, true
		}
	}
	return Seat{}, false
}

// seat returns the seat of a value whose holder is on the path to the compared schema.
func (b *pathComparison) seat(at schemapath.Path) (Seat, error) {
	s, ok := SeatOf(at)
	if n := s.level(); !ok || n > len(b.to) || !s.Holder.Equal(b.to[:n]) {
		return s, fmt.Errorf("no value at %s can be compared", at)
	}
	return s, nil
}

// moved returns the formula that the sides may decode the value at a path differently, in the new
// or the old object. A sent value other than null counts only if the schemas differ in decoding it.
func (b *pathComparison) moved(at schemapath.Path) logic.Lit {
	s, err := b.seat(at)
	if err != nil {
		return logic.True
	}
	var nodes [2]*sample.Schema
	open := false
	for side, y := range b.sides {
		if s.level() < len(y.nodes) {
			nodes[side] = y.nodes[s.level()].Property(s.Property)
			open = open || nodes[side] == nil && !y.places[s.level()].Prunes()
		}
	}
	decoded := len(s.Tail) == 0 && !open && (nodes[prove.Old] == nil || nodes[prove.New] == nil || formula.SameWhenSent(nodes[prove.Old].Props, nodes[prove.New].Props))
	l := logic.False
	for _, y := range b.sides {
		if s.level() >= len(y.places) {
			continue
		}
		for _, holder := range []*formula.Place{y.places[s.level()], y.places[s.level()].Counterpart()} {
			place := holder.Child(s.Property)
			l = b.Space.Or(l, place.Decoded())
			if !decoded {
				l = b.Space.Or(l, place.Present())
			}
		}
	}
	return l
}

// seen returns the checks of a side that depend on a reshaped value: checks on the value and in it,
// on the list or map that contains it, and the uniqueness of list items that contain it if both sides
// have the same ([SameDuplicates]). Checks on objects that contain it are compared as formulas (see
// differing).
func (b *pathComparison) seen(side int, r Reshaping) ([]suspect, error) {
	s, err := b.seat(r.At)
	if err != nil {
		return nil, err
	}
	b.tried(s.level(), s.Property, r.Try)
	y := b.sides[side]
	moved := b.moved(r.At)
	if s.level() >= len(y.nodes) {
		return nil, nil
	}
	var l []*prove.Check
	for level, n := range y.nodes[:s.level()] {
		if others := b.sides[1-side].nodes; level < len(others) && !SameDuplicates(n.Props, others[level].Props) {
			continue
		}
		isKey := level+1 == s.level() && len(s.Tail) == 0 && slices.Contains(n.Props.XListMapKeys, s.Property)
		if n.Props.Type == "array" && (isKey || sample.IsSet(n.Props)) && b.merges(side, r.At) {
			l = append(l, b.unclear(y.places[level]))
		}
	}
	n, place := y.nodes[s.level()].Property(s.Property), y.places[s.level()].Child(s.Property)
	if n == nil {
		return suspects(moved, l...), nil
	}
	if len(s.Tail) > 0 {
		if b.inContainer(side, s, r.At) {
			l = append(l, b.unclear(place))
		}
		return suspects(moved, l...), nil
	}
	l = append(l, b.onNull(side, place, *n.Props)...)
	if given := place.Defaulted(); n.Props.Default != nil && !n.AcceptsDefault(b.Source.Context()) {
		l = append(l, b.never(side, place, given))
	}
	if s.level()+1 == len(y.nodes) || y.nodes[s.level()+1] != n { // otherwise the chain has its checks
		for _, t := range n.Rules() {
			if t.Changing() {
				l = append(l, b.poseProperty(side, s.level(), Clause{Property: s.Property, Rule: t.Validation})...)
			}
		}
	}
	if comparesBelow(n.Props) {
		l = append(l, b.unclear(place))
	}
	return suspects(moved, l...), nil
}

// merges reports whether a side decodes several values at a path (absent, null, the default) to one
// value that the other side keeps apart. Only then can it find duplicates that the other side does
// not find.
func (b *pathComparison) merges(side int, at schemapath.Path) bool {
	n, other := at.Schema(b.sides[side].nodes[0].Props), at.Schema(b.sides[1-side].nodes[0].Props)
	if n == nil || other == nil {
		return false // both sides accept only objects without the value
	}
	return other.Nullable && !n.Nullable || n.Default != nil && !sameDefault(n, other)
}

// inContainer reports whether the decoding of a value in a list or map may change the result of a
// side for the value, or for the list or map.
func (b *pathComparison) inContainer(side int, s Seat, at schemapath.Path) bool {
	nodes := [2]*sample.Schema{}
	for i, y := range b.sides {
		if s.level() < len(y.nodes) {
			nodes[i] = y.nodes[s.level()].Property(s.Property)
		}
	}
	var last schemapath.Step
	for _, st := range s.Tail {
		last = st
		n := nodes[side]
		if n == nil || nodes[1-side] == nil {
			return true
		}
		k := n.Props
		unique := sample.IsSet(k) && SameDuplicates(k, nodes[1-side].Props) && b.merges(side, at)
		if last != schemapath.Items && counts(k, n.Child(last)) || unique || len(k.Enum)+len(k.AllOf)+len(k.AnyOf)+len(k.OneOf)+len(n.Rules()) > 0 || k.Not != nil {
			return true
		}
		nodes = [2]*sample.Schema{nodes[0].Child(last), nodes[1].Child(last)}
	}
	n, other := nodes[side], nodes[1-side]
	if n == nil || other == nil {
		return true
	}
	refusesNull := func(n *sample.Schema) bool {
		switch {
		case n.Props.Nullable:
			return !sample.AcceptsNull(*n.Props)
		case n.Props.Default != nil:
			return false
		}
		return last == schemapath.Items // maps drop the null
	}
	return refusesNull(n) && !refusesNull(other) || slices.ContainsFunc(n.Rules(), (*sample.Test).Changing) || comparesBelow(n.Props)
}

// counts reports whether a map may have too few entries because null entries are dropped, or too
// many because they are kept.
func counts(of *apiextensionsv1.JSONSchemaProps, values *sample.Schema) bool {
	kept := values == nil || values.Props.Nullable || values.Props.Default != nil
	return kept && of.MaxProperties != nil || !kept && of.MinProperties != nil
}

// SameDuplicates reports whether two schemas find the same duplicates in a list. The other schema may
// be nil.
func SameDuplicates(a, b *apiextensionsv1.JSONSchemaProps) bool {
	return b != nil && a.UniqueItems == b.UniqueItems && reflect.DeepEqual(a.XListType, b.XListType) && slices.Equal(a.XListMapKeys, b.XListMapKeys)
}

// comparesBelow reports whether a child of a schema has transition rules.
func comparesBelow(s *apiextensionsv1.JSONSchemaProps) bool {
	found := false
	schemapath.Walk(s, func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		found = found || len(p) > 0 && slices.ContainsFunc(s.XValidations, formula.ReadsOld)
		return !found
	})
	return found
}

// onNull adds the check that the value at a place is not null, if the keywords reject null.
func (b *pathComparison) onNull(side int, place *formula.Place, keywords apiextensionsv1.JSONSchemaProps) []*prove.Check {
	keywords.Nullable = true
	if place.Null() == logic.False || sample.AcceptsNull(keywords) {
		return nil
	}
	return []*prove.Check{b.never(side, place, place.Null())}
}

// never adds the check that a formula about a place does not hold.
func (b *pathComparison) never(side int, place *formula.Place, when logic.Lit) *prove.Check {
	c := &prove.Check{Test: &sample.Test{Rule: &formula.Rule{}}, Place: place, Holds: when.Not()}
	b.sides[side].checks = append(b.sides[side].checks, c)
	return c
}

// differing returns the checks that both sides have and whose formulas may differ.
func (b *pathComparison) differing(side int) []*prove.Check {
	y, other := b.sides[side], b.sides[1-side]
	var l []*prove.Check
	for _, c := range y.checks {
		for _, d := range other.checks {
			if c.Schema != nil && d.Schema != nil && c.Level == d.Level && c.Test.Equal(d.Test) && (c.Holds != d.Holds || c.Fails != d.Fails) {
				l = append(l, c)
			}
		}
	}
	for level, tests := range y.unread {
		for _, t := range tests {
			// A test that is broken on both sides does not contribute to the difference.
			same := func(u *sample.Test) bool { return t.Equal(u) && t.Broken != nil && u.Broken != nil }
			if !slices.ContainsFunc(other.unread[level], same) {
				l = append(l, b.unclear(b.Places[level]))
			}
		}
	}
	return l
}
