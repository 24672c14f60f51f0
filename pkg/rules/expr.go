package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func selectPath(object cel.Expr, path schemapath.Path) cel.Expr {
	return object.Field(path.Properties()...)
}

// there tests whether an object has the property at the end of path. It tests every property on the
// path, because reading an absent property is an error in CEL.
func there(object cel.Expr, path schemapath.Path) cel.Expr {
	return cel.And(cel.Each(indices(len(path)), func(i int) cel.Expr { return cel.Has(selectPath(object, path[:i+1])) })...)
}

// fieldPath returns path in the syntax of a rule's fieldPath.
func fieldPath(path schemapath.Path) string {
	text := path.String()
	if strings.HasPrefix(text, "[") {
		return text
	}
	return "." + text
}

// empty is the value of an unset discriminator.
var empty = cel.String("")

// count is the number of conditions that hold.
func count(conditions []cel.Expr) cel.Expr {
	return sum(cel.Each(conditions, func(c cel.Expr) cel.Expr { return cel.If(c, cel.Int(1), cel.Int(0)) }))
}

// flat is the largest number of operands in a sum without parentheses. CEL parses a sum of n
// operands into n levels, and the API server's parser stops at 250 levels (cel-go's
// MaxRecursionDepth). The parser balances && and || itself.
const flat = 100

func sum(operands []cel.Expr) cel.Expr {
	for len(operands) > flat {
		var sums []cel.Expr
		for part := range slices.Chunk(operands, flat) {
			sums = append(sums, cel.Paren(cel.Add(part...)))
		}
		operands = sums
	}
	return cel.Add(operands...)
}

// chained is the largest number of conditions in a chain of ternaries. A chain costs half as much
// as a sum, but its text grows quadratically.
const chained = 12

func atMostOneOf(conditions []cel.Expr) cel.Expr { return chain(conditions, cel.True, cel.Expr.Le) }

func exactlyOneOf(conditions []cel.Expr) cel.Expr { return chain(conditions, cel.False, cel.Expr.Eq) }

func chain(conditions []cel.Expr, none cel.Expr, compare func(a, b cel.Expr) cel.Expr) cel.Expr {
	if len(conditions) > chained {
		return compare(count(conditions), cel.Int(1))
	}
	last := len(conditions) - 1
	e := cel.True
	if none == cel.False {
		e = conditions[last]
	} else if last > 0 {
		last--
		e = cel.Not(cel.And(conditions[last], conditions[last+1]))
	}
	for i := last - 1; i >= 0; i-- {
		e = cel.If(conditions[i], cel.Not(cel.Or(conditions[i+1:]...)), e)
	}
	return e
}

// variable is the union object of a rule in CEL: self, oldSelf, or a property of oldSelf.
type variable struct {
	u *union.Union
	cel.Expr
	// brief compares the keys of items with a list: shorter, but costlier than one by one. Messages
	// do not name the members that are set.
	brief bool
	// If the union has groups, these are the members of u, and whole is the union.
	whole  *union.Union
	groups []union.Group
}

func self(u *union.Union) variable    { return variableOf(u, cel.Var("self")) }
func oldSelf(u *union.Union) variable { return variableOf(u, cel.Var("oldSelf")) }

// present tests whether member i is set.
func (o variable) present(i int) cel.Expr {
	if o.whole != nil {
		return cel.Or(cel.Each(o.groups[i].Members, o.wholly().present)...)
	}
	m := o.u.Members[i]
	if m.Item != nil {
		return o.macro(cel.Expr.Exists, []int{i})
	}
	path := o.u.Path(m.Name)
	f, there := selectPath(o.Expr, path), there(o.Expr, path)
	switch m.Empty {
	case union.EmptyString:
		return cel.And(there, f.Ne(empty))
	case union.EmptyBoolean:
		return cel.And(there, f)
	case union.EmptyInteger:
		return cel.And(there, f.Ne(cel.Int(0)))
	case union.EmptyNumber:
		return cel.And(there, f.Ne(cel.Var("0.0")))
	case union.EmptyCollection:
		return cel.And(there, cel.Size(f).Ne(cel.Int(0)))
	case union.EmptyObject:
		return cel.And(there, cel.Or(cel.Each(m.Fields, func(name string) cel.Expr { return cel.Has(f.Field(name)) })...))
	}
	return there
}

// members returns present(i) for all members.
func (o variable) members() []cel.Expr { return o.presentAmong(indices(len(o.u.Members))) }

// presentAmong returns present(i) for some members.
func (o variable) presentAmong(members []int) []cel.Expr {
	return cel.Each(members, o.present)
}

// selection is [union.Union.Selection] in CEL, for a union with a discriminator.
func (o variable) selection() cel.Expr {
	if !o.u.Deduce {
		return o.value()
	}
	// Only strings are deduced.
	present := o.members()
	first := func(i int) cel.Expr { return cel.String(o.u.Members[i].Values[0]) }
	e := empty
	if len(present) > maxExplained {
		// More members cannot be nested. Only one of them is present, so the sum is its value.
		values := cel.Each(indices(len(present)), func(i int) cel.Expr { return cel.If(present[i], first(i), empty) })
		return cel.If(o.typeSet(), o.discriminator(), cel.If(exactlyOneOf(present), sum(values), empty))
	}
	for i := len(present) - 1; i >= 0; i-- {
		then := first(i)
		if rest := present[i+1:]; len(rest) > 0 && len(present) <= chained {
			then = cel.If(cel.Or(rest...), empty, then)
		}
		e = cel.If(present[i], then, e)
	}
	if len(present) > chained {
		e = cel.If(exactlyOneOf(present), e, empty)
	}
	return cel.If(o.typeSet(), o.discriminator(), e)
}

// show returns a value of the discriminator, or a member, for a message.
func show(u *union.Union, v string) string { return u.Type.Quoted(plain(v)) }

// plain escapes line breaks and unprintable characters: a message has to be a single line.
func plain(v string) string {
	q := strconv.Quote(v)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
}

func showAll(u *union.Union, values []string) string { return enumerated(shown(u, values)) }

// shown returns values for a message. The value of an unset discriminator stands for "unset", too.
func shown(u *union.Union, values []string) []string {
	var l []string
	for _, v := range values {
		l = append(l, show(u, v))
	}
	if u.Unset != "" && slices.Contains(values, u.Unset) {
		l = append(l, "unset")
	}
	return l
}

func alternatives(u *union.Union, values []string) string { return conjoined(shown(u, values), "or") }

// conjoined is enumerated with a conjunction before the last name.
func conjoined(l []string, conjunction string) string {
	if last := len(l) - 1; last > 0 && len(l) <= maxNamed {
		l = append(slices.Clone(l[:last-1]), l[last-1]+" "+conjunction+" "+l[last])
	}
	return enumerated(l)
}

// maxNamed is the largest number of names that a message lists.
const maxNamed = 20

// enumerated joins names for a message. Only the first maxNamed names are listed.
func enumerated(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}
