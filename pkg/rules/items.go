package rules

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// A condition on several items of a list is a single macro, while a condition on several properties
// has a test for each property. The macro counts duplicate items twice; the API server rejects
// duplicates in a list with keys.

// any tests whether at least one of the given members is set.
func (o variable) any(members []int) cel.Expr {
	if o.u.OfItems() && len(members) > 0 {
		return o.macro(cel.Expr.Exists, members)
	}
	return cel.Or(o.presentAmong(members)...)
}

// exactlyOne tests whether exactly one of all members is set.
func (o variable) exactlyOne() cel.Expr {
	if o.u.OfItems() {
		return o.macro(cel.Expr.ExistsOne, indices(len(o.u.Members)))
	}
	return exactlyOneOf(o.members())
}

// item is the variable of the macros.
var item = cel.Var("item")

// macro applies a CEL macro to the list, with the condition that an item is one of the given
// members. It guards reads of keys, even though the schema requires the keys.
func (o variable) macro(of func(list, item, holds cel.Expr) cel.Expr, members []int) cel.Expr {
	l := cel.Each(members, func(i int) cel.Expr {
		return cel.And(cel.Each(o.u.Members[i].Item, func(k union.ItemKey) cel.Expr {
			at := item.Field(k.Name)
			return cel.And(cel.Has(at), at.Eq(constant(k.Value)))
		})...)
	})
	if keys := o.keys(members); len(keys) > 1 {
		at := item.Field(o.u.Members[0].Item[0].Name)
		is := cel.Or(cel.Each(keys, at.Eq)...)
		if o.brief || len(keys) > listed {
			is = at.In(cel.List(keys...))
		}
		l = []cel.Expr{cel.And(cel.Has(at), is)}
	}
	return of(o.Expr, item, cel.Or(l...))
}

// keys returns the key values of the given members, or nil if items have several keys.
func (o variable) keys(members []int) []cel.Expr {
	if len(o.u.Members[0].Item) > 1 {
		return nil
	}
	return cel.Each(members, func(i int) cel.Expr { return constant(o.u.Members[i].Item[0].Value) })
}

// constant returns the value of a key as a CEL literal.
func constant(v any) cel.Expr {
	if s, ok := v.(string); ok {
		return cel.String(s)
	}
	return cel.Var(fmt.Sprint(v))
}
