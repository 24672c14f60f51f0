package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// schema is what is allowed in a composition: required, value validations of
// properties, and further compositions. A structural schema admits no more there.
type schema = apiextensionsv1.JSONSchemaProps

// OpenAPI returns the static conditions of u as one schema for the allOf of the
// union object, or nil when u forbids no state. It is linear in the number of
// members, and the caller owns it.
//
// Where a member is nullable it does not mean what u says: to required, null is a
// value. Only the schema of the object can tell.
//
// An error says which part of u has no such schema: ratchet, emptyIsUnset, and what is
// in an object below.
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
	if len(u.Members) > 1 && u.Cardinality != union.AtLeastOne && !u.SharesValues() {
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
	case u.Cardinality == union.AtLeastOne, u.Cardinality == union.ExactlyOne && len(u.Members) == 1:
		s.AnyOf = eachRequired(u)
	}
	if s.OneOf == nil && s.AnyOf == nil && s.Not == nil {
		return nil, nil
	}
	return &s, nil
}

// selections are what the discriminator and the members can be together. At most one
// of the members is set, unless some belong together: a member and a value that
// selects it, or all members that a value demands and none that it excludes; nothing
// that has to have a member; and, to be deduced, any member without a value.
func selections(u *union.Union) []schema {
	var l []schema
	if u.SharesValues() {
		for _, c := range u.Classes() {
			l = append(l, together(u, c))
		}
	} else {
		for _, m := range u.Members {
			l = append(l, selected(u, m.Values, u.Discriminator, m.Name))
		}
	}
	l = append(l, memberless(u)...)
	if deduced(u) {
		l = append(l, unset(u))
	}
	return l
}

func deduced(u *union.Union) bool { return u.Deduce && u.Cardinality != union.ExactlyOne }

// together admits the values of a class with the members that belong to them.
func together(u *union.Union, c union.Class) schema {
	required := []string{u.Discriminator}
	for _, i := range c.Required {
		required = append(required, u.Members[i].Name)
	}
	s := selected(u, c.Values, required...)
	var others []schema
	for i, each := range eachRequired(u) {
		if !slices.Contains(c.Members, i) {
			others = append(others, each)
		}
	}
	if len(others) > 0 {
		s.Not = none(others).Not
	}
	return s
}

// memberless are schemas for what has no member: one of them admits an object
// without members whose discriminator selects none that is needed.
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
			l = append(l, selected(u, needy, u.Discriminator))
		}
		if u.Cardinality == union.ExactlyOne {
			l = append(l, unset(u))
		}
		return []schema{none(append(l, eachRequired(u)...))}
	}
	if u.Cardinality != union.ExactlyOne && !u.Deduce {
		l = append(l, unset(u))
	}
	if len(others) > 0 {
		l = append(l, selected(u, others, u.Discriminator))
	}
	for i := range l {
		l[i].Not = none(eachRequired(u)).Not
	}
	return l
}

// selected admits a discriminator that has one of values, where all properties of
// required, the discriminator among them, are there.
func selected(u *union.Union, values []string, required ...string) schema {
	var enum []apiextensionsv1.JSON
	for _, v := range values {
		raw, _ := json.Marshal(v) // strings do not fail
		enum = append(enum, apiextensionsv1.JSON{Raw: raw})
	}
	return schema{
		Properties: map[string]schema{u.Discriminator: {Enum: enum}},
		Required:   slices.Clone(required),
	}
}

// unset admits a discriminator that is absent, "" or, where it can be, null: a
// string too long is the only thing that maxLength rejects. An enum rejects null.
func unset(u *union.Union) schema {
	return schema{Properties: map[string]schema{u.Discriminator: {MaxLength: new(int64)}}}
}

// eachRequired has, for each member, a schema that it is present.
func eachRequired(u *union.Union) []schema {
	var l []schema
	for _, m := range u.Members {
		l = append(l, schema{Required: []string{m.Name}})
	}
	return l
}

// none admits what none of l admits.
func none(l []schema) schema {
	if len(l) == 1 {
		return schema{Not: &l[0]}
	}
	return schema{Not: &schema{AnyOf: l}}
}
