package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// schema is limited to the keywords that a structural schema admits in a composition: required,
// value validations of properties, and further compositions.
type schema = apiextensionsv1.JSONSchemaProps

// OpenAPI returns the static conditions of u as one schema for the allOf of the union object. The
// result is nil if u allows every state. The size of the schema is linear in the number of members,
// and the caller owns it.
//
// The schema deviates from u if a member is nullable, or a discriminator of type integer, because
// required counts null as a value. The caller has to check the schema of the union object for these.
//
// An error names the part of u that a schema cannot express: ratchet, emptyIsUnset, items of a
// list, or a property of a nested object.
func OpenAPI(u *union.Union) (*apiextensionsv1.JSONSchemaProps, error) {
	if u.Ratchet {
		return nil, errors.New("a schema cannot refer to the old object, so it cannot ratchet")
	}
	if u.OfItems() {
		return nil, errors.New("required cannot ask for items of a list")
	}
	for _, name := range u.Names() {
		if len(u.Path(name)) > 1 {
			return nil, fmt.Errorf("%s is not a property of the union object itself", name)
		}
	}
	for _, m := range u.Members {
		if m.Empty != union.PresentWhenEmpty {
			return nil, fmt.Errorf("required counts an empty %s as set, which emptyIsUnset does not", m.Name)
		}
	}
	var s schema
	if u.Relates() {
		s.AllOf = relationSchemas(u)
		return &s, nil
	}
	if len(u.Groups()) > 1 && u.Cardinality != union.AtLeastOne && (u.Discriminator == "" || !u.SharesValues()) {
		s.OneOf = eachRequired(u)
		if u.Discriminator != "" || u.Cardinality == union.AtMostOne {
			s.OneOf = append(s.OneOf, none(eachRequired(u)))
		}
	}
	switch {
	case u.Discriminator != "" && len(u.Members) == 0:
		if u.Cardinality == union.ExactlyOne {
			never := unset(u)
			s.Not = &never
		}
	case u.Discriminator != "":
		s.AnyOf = selections(u)
	case u.Cardinality == union.AtLeastOne, u.Cardinality == union.ExactlyOne && len(u.Groups()) == 1:
		s.AnyOf = eachRequired(u)
	}
	s.AllOf = complete(u)
	if s.OneOf == nil && s.AnyOf == nil && s.Not == nil && s.AllOf == nil {
		return nil, nil
	}
	return &s, nil
}

// selections returns schemas for the legal combinations of discriminator and members; an object has
// to match at least one. A schema requires a member and one of its values or, if members share
// values, all members that a value requires and no member that it does not select. The remaining
// schemas match objects without members and, with deduction, objects without a discriminator.
func selections(u *union.Union) []schema {
	var l []schema
	if u.SharesValues() {
		for _, c := range u.Classes() {
			l = append(l, together(u, c)...)
		}
	} else {
		for _, m := range u.Members {
			l = append(l, selected(u, m.Values, m.Name)...)
		}
	}
	l = append(l, memberless(u)...)
	if deduced(u) {
		l = append(l, unset(u))
	}
	return l
}

func deduced(u *union.Union) bool { return u.Deduce && u.Cardinality != union.ExactlyOne }

// together matches the values of a class with the members that they require and no other members.
func together(u *union.Union, c union.Class) []schema {
	l := selected(u, c.Values, u.NamesOf(c.Required)...)
	var others []schema
	for i, each := range eachRequired(u) {
		if !slices.Contains(c.Members, i) {
			others = append(others, each)
		}
	}
	for i := range l {
		if len(others) > 0 {
			l[i].Not = without(l[i], others)
		}
	}
	return l
}

// memberless returns schemas that match objects without members. Together they allow each
// discriminator that does not require a member.
func memberless(u *union.Union) []schema {
	var needy, others []string
	for _, c := range u.Classes() {
		if len(c.Required) > 0 {
			needy = append(needy, c.Values...)
		} else {
			others = append(others, c.Values...)
		}
	}
	var l []schema
	if !u.ForbidUnmapped {
		if len(needy) > 0 {
			l = append(l, selected(u, needy)...)
		}
		if u.Cardinality == union.ExactlyOne {
			l = append(l, unset(u))
		}
		return []schema{none(append(l, eachRequired(u)...))}
	}
	if u.Cardinality != union.ExactlyOne && !u.Deduce && u.Unset == "" {
		l = append(l, unset(u))
	}
	if len(others) > 0 {
		l = append(l, selected(u, others)...)
	}
	for i := range l {
		l[i].Not = without(l[i], eachRequired(u))
	}
	return l
}

// selected matches a discriminator with one of values if all properties of required are present. A
// second schema matches an unset discriminator if this means one of the values.
func selected(u *union.Union, values []string, required ...string) []schema {
	l := []schema{{
		Properties: map[string]schema{u.Discriminator: {Enum: enumOf(u, values)}},
		Required:   append([]string{u.Discriminator}, required...),
	}}
	if u.Unset != "" && slices.Contains(values, u.Unset) {
		s := unset(u)
		s.Required = slices.Clone(required)
		l = append(l, s)
	}
	return l
}

func enumOf(u *union.Union, values []string) []apiextensionsv1.JSON {
	var enum []apiextensionsv1.JSON
	for _, v := range u.Type.Values(values) {
		raw, _ := json.Marshal(v) // marshaling a scalar cannot fail
		enum = append(enum, apiextensionsv1.JSON{Raw: raw})
	}
	return enum
}

// unset matches a discriminator that is absent, empty or, if nullable, null. It uses maxLength,
// because an enum would reject null. No keyword separates null from integers alone, so an integer has to
// be absent.
func unset(u *union.Union) schema {
	s := schema{MaxLength: new(int64)}
	switch u.Type {
	case union.BooleanValue:
		s = schema{Not: &schema{Enum: enumOf(u, []string{"true", "false"})}}
	case union.IntegerValue:
		return schema{Not: &schema{Required: []string{u.Discriminator}}}
	}
	return schema{Properties: map[string]schema{u.Discriminator: s}}
}

// eachRequired returns one schema per group, which requires a member of this group.
func eachRequired(u *union.Union) []schema {
	var l []schema
	for _, g := range u.Groups() {
		var of []schema
		for _, name := range u.NamesOf(g.Members) {
			of = append(of, schema{Required: []string{name}})
		}
		if len(of) == 1 {
			l = append(l, of[0])
		} else {
			l = append(l, schema{AnyOf: of})
		}
	}
	return l
}

// complete returns one schema per group that requires members: the object has them, or no member of
// the group.
func complete(u *union.Union) []schema {
	var l []schema
	set := eachRequired(u)
	for i, g := range u.Groups() {
		if required := u.Require(g); len(required) > 0 {
			l = append(l, schema{AnyOf: []schema{{Required: u.NamesOf(required)}, none(set[i].AnyOf)}})
		}
	}
	return l
}

// without returns the not of a schema that also excludes the values that match a schema of l.
func without(s schema, l []schema) *schema {
	if s.Not != nil {
		l = append([]schema{*s.Not}, l...)
	}
	return none(l).Not
}

// none matches the values that match no schema of l.
func none(l []schema) schema {
	if len(l) == 1 {
		return schema{Not: &l[0]}
	}
	return schema{Not: &schema{AnyOf: l}}
}
