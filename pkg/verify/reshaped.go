package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Reshaping is a value that two schemas decode differently: the API server drops it, sets
// another default, or keeps a null, before it validates the object. Every check at the value,
// above it or in it then validates another object, although its text is the same.
type Reshaping struct {
	At schemapath.Path
	// Try are values, of the property that the path leads through last, that an example may need.
	Try []any
}

// suspect is a check that one side may fail where the other side accepts the object.
type suspect struct {
	*check
	when logic.Lit // the check may differ between the sides at all
}

func suspects(when logic.Lit, l ...*check) []suspect {
	var out []suspect
	for _, c := range l {
		out = append(out, suspect{c, when})
	}
	return out
}

// seat is the property that leads to a value, and the lists and maps between the two.
type seat struct {
	level int // of the object that has the property
	name  string
	tail  []schemapath.Step
}

func (b *between) seat(at schemapath.Path) (seat, error) {
	for i := len(at) - 1; i >= 0; i-- {
		if name, ok := at[i].Property(); ok {
			if i > len(b.to) || !at[:i].Equal(b.to[:i]) {
				break
			}
			return seat{i, name, at[i+1:]}, nil
		}
	}
	return seat{}, fmt.Errorf("no value at %s can be compared", at)
}

// moved says that the sides may decode the value at a path differently, in the object or in
// the stored one. Where the value was sent, and is no null, they do not.
func (b *between) moved(at schemapath.Path) logic.Lit {
	s, err := b.seat(at)
	if err != nil {
		return logic.True
	}
	var nodes [2]*node
	open := false
	for side, y := range b.sides {
		if s.level < len(y.nodes) {
			nodes[side] = y.nodes[s.level].property(s.name)
			open = open || nodes[side] == nil && !y.places[s.level].Prunes()
		}
	}
	decoded := len(s.tail) == 0 && !open && (nodes[oldSide] == nil || nodes[newSide] == nil || sameWhenSent(*nodes[oldSide].schema, *nodes[newSide].schema))
	l := logic.False
	for _, y := range b.sides {
		if s.level >= len(y.places) {
			continue
		}
		for _, holder := range []*formula.Place{y.places[s.level], y.places[s.level].Counterpart()} {
			place := holder.Child(s.name)
			l = b.space.Or(l, place.Decoded())
			if !decoded {
				l = b.space.Or(l, place.Present())
			}
		}
	}
	return l
}

// sameWhenSent reports whether two schemas decode a value alike that was sent and is no null.
func sameWhenSent(a, b apiextensionsv1.JSONSchemaProps) bool {
	a.Default, b.Default = nil, nil
	a.Nullable, b.Nullable = false, false
	return formula.SameShape(&a, &b)
}

// seen returns the checks of a side that see a reshaped value: those on the value and in it, on
// the list or map that contains it, and the uniqueness of lists around it. Checks of the objects
// around it are compared as formulas (see unlike).
func (b *between) seen(side int, r Reshaping) ([]suspect, error) {
	s, err := b.seat(r.At)
	if err != nil {
		return nil, err
	}
	b.tried(s.level, s.name, r.Try)
	y := b.sides[side]
	moved := b.moved(r.At)
	if s.level >= len(y.nodes) {
		return nil, nil
	}
	var l []*check
	for level, n := range y.nodes[:s.level] {
		isKey := level+1 == s.level && len(s.tail) == 0 && slices.Contains(n.schema.XListMapKeys, s.name)
		if n.schema.Type == "array" && (isKey || isSet(n.schema)) && b.merges(side, r.At) {
			l = append(l, b.unclear(y.places[level]))
		}
	}
	n, place := y.nodes[s.level].property(s.name), y.places[s.level].Child(s.name)
	if n == nil {
		return suspects(moved, l...), nil
	}
	if len(s.tail) > 0 {
		if b.inContainer(side, s, r.At) {
			l = append(l, b.unclear(place))
		}
		return suspects(moved, l...), nil
	}
	l = append(l, b.onNull(side, place, *n.schema)...)
	if given := place.Defaulted(); n.schema.Default != nil && !n.acceptsDefault(b.ctx) {
		l = append(l, b.never(side, place, given))
	}
	if s.level+1 == len(y.nodes) || y.nodes[s.level+1] != n { // else they are among those of the way
		for _, t := range n.tests() {
			if t.ReadsOld || t.optional() {
				l = append(l, b.poseProperty(side, s.level, Clause{Property: s.name, Rule: t.rule})...)
			}
		}
	}
	if comparesBelow(n.schema) {
		l = append(l, b.unclear(place))
	}
	return suspects(moved, l...), nil
}

// merges reports whether a side decodes several values at a path (absent, null, the default) to
// one that the other side tells apart. Only then can it find duplicates that the other does not.
func (b *between) merges(side int, at schemapath.Path) bool {
	n, other := at.In(b.sides[side].nodes[0].schema), at.In(b.sides[1-side].nodes[0].schema)
	if n == nil || other == nil {
		return false // nothing but what has none is accepted by both
	}
	return other.Nullable && !n.Nullable || n.Default != nil && !sameDefault(n, other)
}

// inContainer reports whether decoding a value in a list or map may change the verdict of a side
// on the value, or on the list or map.
func (b *between) inContainer(side int, s seat, at schemapath.Path) bool {
	nodes := [2]*node{}
	for i, y := range b.sides {
		if s.level < len(y.nodes) {
			nodes[i] = y.nodes[s.level].property(s.name)
		}
	}
	last := step{}
	for _, st := range s.tail {
		last = step{kind: value}
		if st == schemapath.Items {
			last.kind = item
		}
		n := nodes[side]
		if n == nil || nodes[1-side] == nil {
			return true
		}
		k := n.schema
		if last.kind == value && counts(k, n.child(last)) || isSet(k) && b.merges(side, at) || len(k.Enum)+len(k.AllOf)+len(k.AnyOf)+len(k.OneOf)+len(n.rules()) > 0 || k.Not != nil {
			return true
		}
		nodes = [2]*node{nodes[0].child(last), nodes[1].child(last)}
	}
	n, other := nodes[side], nodes[1-side]
	if n == nil || other == nil {
		return true
	}
	refusesNull := func(n *node) bool {
		switch {
		case n.schema.Nullable:
			return !acceptsNull(*n.schema)
		case n.schema.Default != nil:
			return false
		}
		return last.kind == item // of a map it is dropped
	}
	return refusesNull(n) && !refusesNull(other) || slices.ContainsFunc(n.tests(), func(t *test) bool { return t.ReadsOld || t.optional() }) || comparesBelow(n.schema)
}

// counts reports whether a map may have too few entries because the nulls among them are
// dropped, or too many because they are kept.
func counts(of *apiextensionsv1.JSONSchemaProps, values *node) bool {
	kept := values == nil || values.schema.Nullable || values.schema.Default != nil
	return kept && of.MaxProperties != nil || !kept && of.MinProperties != nil
}

func isSet(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XListType != nil && *s.XListType == "set" || s.UniqueItems
}

// comparesBelow reports whether a schema contains transition rules below itself.
func comparesBelow(s *apiextensionsv1.JSONSchemaProps) bool {
	found := false
	schemapath.Walk(s, func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		found = found || len(p) > 0 && slices.ContainsFunc(s.XValidations, ReadsOld)
		return !found
	})
	return found
}

// onNull adds the check that there is no null at a place if keywords reject null.
func (b *between) onNull(side int, place *formula.Place, keywords apiextensionsv1.JSONSchemaProps) []*check {
	keywords.Nullable = true
	if place.Null() == logic.False || acceptsNull(keywords) {
		return nil
	}
	return []*check{b.never(side, place, place.Null())}
}

// never adds the check that a condition on a place does not hold.
func (b *between) never(side int, place *formula.Place, when logic.Lit) *check {
	c := &check{test: &test{Rule: &formula.Rule{}}, place: place, holds: when.Not()}
	b.sides[side].checks = append(b.sides[side].checks, c)
	return c
}

// acceptsDefault reports whether a schema accepts its default, with those in it. The API
// server asks that of a CRD, but not of all that it validates objects for.
func (n *node) acceptsDefault(ctx context.Context) bool {
	s, err := formula.Structural(n.schema)
	accepts, broken := Judge(n.schema)
	if err != nil || broken != nil {
		return false
	}
	holder := map[string]any{"it": runtime.DeepCopyJSONValue(decoded(n.schema.Default))}
	around := &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{"it": *s}}
	defaulting.Default(holder, around)
	if !accepts(holder["it"]) || len(listtype.ValidateListSetsAndMaps(nil, around, holder)) > 0 {
		return false
	}
	rules := schemacel.NewValidator(around, false, celconfig.PerCallLimit)
	if rules == nil {
		return true
	}
	wrong, _ := rules.Validate(ctx, nil, around, holder, nil, math.MaxInt64)
	return len(wrong) == 0
}

func acceptsNull(s apiextensionsv1.JSONSchemaProps) bool {
	s.XValidations = nil
	accepts, err := Judge(&s)
	return err == nil && accepts(nil)
}

// unlike returns the checks that both sides have, and whose formulas differ or are not known.
func (b *between) unlike(side int) []*check {
	y, other := b.sides[side], b.sides[1-side]
	var l []*check
	for _, c := range y.checks {
		for _, d := range other.checks {
			if c.node != nil && d.node != nil && c.level == d.level && c.test.like(d.test) && (c.holds != d.holds || c.fails != d.fails) {
				l = append(l, c)
			}
		}
	}
	for level, tests := range y.unread {
		for _, t := range tests {
			// What is broken on both sides is so whatever the change.
			same := func(u *test) bool { return t.like(u) && t.broken != nil && u.broken != nil }
			if !slices.ContainsFunc(other.unread[level], same) {
				l = append(l, b.unclear(b.places[level]))
			}
		}
	}
	return l
}

// like reports whether two tests demand the same, as far as their text tells.
func (t *test) like(u *test) bool {
	return t.text == u.text && (t.rule == nil) == (u.rule == nil) && (t.rule == nil || formula.SameRule(*t.rule, *u.rule))
}
