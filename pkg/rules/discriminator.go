package rules

import (
	"slices"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

func (o variable) discriminator() cel.Expr { return selectPath(o.Expr, o.u.Path(o.u.Discriminator)) }

// hasType tests whether the discriminator can be read.
func (o variable) hasType() cel.Expr { return there(o.Expr, o.u.Path(o.u.Discriminator)) }

// typeSet tests whether the discriminator has a value.
func (o variable) typeSet() cel.Expr {
	if o.u.Unset != "" {
		return cel.True
	}
	return cel.And(o.hasType(), o.filled())
}

// filled tests whether a discriminator that can be read is not empty.
func (o variable) filled() cel.Expr { return o.noneOf(o.discriminator(), []string{""}) }

// selects tests whether the discriminator selects member i. The caller tests hasType.
func (o variable) selects(i int) cel.Expr { return o.oneOf(o.discriminator(), o.u.Members[i].Values) }

// literal is a value of the discriminator.
func (o variable) literal(value string) cel.Expr {
	switch o.u.Type {
	case union.BooleanValue, union.IntegerValue:
		return cel.Var(value)
	}
	return cel.String(value)
}

// value is the discriminator's value. When it is unset, it is the value that this means, or "" for a
// string.
func (o variable) value() cel.Expr {
	if o.u.Unset != "" {
		return cel.If(cel.And(o.hasType(), o.filled()), o.discriminator(), o.literal(o.u.Unset))
	}
	return cel.If(o.hasType(), o.discriminator(), empty)
}

// sameValue tests whether the discriminator has its old value, or is unset as before.
func (o variable) sameValue(old variable, c Comparison) cel.Expr {
	if o.u.Unset == "" && o.u.Type != union.StringValue {
		return cel.If(o.hasType(), cel.And(old.hasType(), c.same(o.discriminator(), old.discriminator())), cel.Not(old.hasType()))
	}
	return c.same(o.value(), old.value())
}

// text converts a string or boolean of the discriminator to a string.
func (o variable) text(value cel.Expr) cel.Expr {
	if o.u.Type == union.BooleanValue {
		return cel.Paren(cel.If(value, cel.String("true"), cel.String("false")))
	}
	return value
}

// listed is the largest number of values that are compared one by one. For more values, "in" with a
// list costs less.
const listed = 5

// oneOf tests whether a value of the discriminator is one of values.
func (o variable) oneOf(s cel.Expr, values []string) cel.Expr {
	if len(values) > listed || o.u.Type == union.BooleanValue {
		return o.inList(s, values)
	}
	return cel.Or(cel.Each(o.comparable(values), func(v string) cel.Expr { return s.Eq(o.literal(v)) })...)
}

// inList is oneOf with a single occurrence of s, for an s that is costly or long.
func (o variable) inList(s cel.Expr, values []string) cel.Expr {
	values = o.comparable(values)
	if o.u.Type == union.BooleanValue {
		switch yes, no := slices.Contains(values, "true"), slices.Contains(values, "false"); {
		case yes && no:
			return cel.True
		case yes:
			return s
		case no:
			return cel.Not(s)
		}
	}
	switch len(values) {
	case 0:
		return cel.False
	case 1:
		return s.Eq(o.literal(values[0]))
	}
	return s.In(cel.List(cel.Each(values, o.literal)...))
}

// noneOf is the negation of oneOf.
func (o variable) noneOf(s cel.Expr, values []string) cel.Expr {
	if len(values) > listed || o.u.Type == union.BooleanValue {
		return cel.Not(o.oneOf(s, values))
	}
	return cel.And(cel.Each(o.comparable(values), func(v string) cel.Expr { return s.Ne(o.literal(v)) })...)
}

// comparable returns the values that the discriminator may be compared with: only a string may be "".
func (o variable) comparable(values []string) []string {
	if o.u.Type == union.StringValue {
		return values
	}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
}

// mapped tests whether the discriminator is unset or has a value that selects a member.
func (o variable) mapped() cel.Expr {
	if o.u.Unset != "" {
		return o.isOneOf(o.u.MemberValues())
	}
	return o.isOneOf(append([]string{""}, o.u.MemberValues()...))
}

// isOneOf tests whether the discriminator is one of values. The value "" includes an absent
// discriminator, and so does the value of an unset one.
func (o variable) isOneOf(values []string) cel.Expr { return o.is(values, o.oneOf) }

// isInList is isOneOf with a single occurrence of the discriminator.
func (o variable) isInList(values []string) cel.Expr { return o.is(values, o.inList) }

func (o variable) is(values []string, compare func(cel.Expr, []string) cel.Expr) cel.Expr {
	values = o.u.Accepted(values)
	is := compare(o.discriminator(), values)
	if slices.Contains(values, "") {
		return cel.Or(cel.Not(o.hasType()), is)
	}
	return cel.And(o.hasType(), is)
}
