package rules

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Of items of a list, conditions on several members are one pass over the list, where
// those on properties are one for each. The passes count an item that is there twice twice,
// which the API server lets no list with keys have.

// any tests whether one of some members is set.
func (o variable) any(members []int) cel.Expr {
	if o.u.OfItems() && len(members) > 0 {
		return o.macro(cel.Expr.Exists, members)
	}
	return cel.Or(o.presentAmong(members)...)
}

// exactlyOne tests whether one of all members is set, and no other.
func (o variable) exactlyOne() cel.Expr {
	if o.u.OfItems() {
		return o.macro(cel.Expr.ExistsOne, indices(len(o.u.Members)))
	}
	return exactlyOneOf(o.members())
}

// item is the variable of macros.
var item = cel.Var("item")

// macro is one over the items of a list, of the condition that an item is one of some
// members. Keys are read where they are there, even though the schema demands them.
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

// keys are the values of the only key of some members; none if there are more keys.
func (o variable) keys(members []int) []cel.Expr {
	if len(o.u.Members[0].Item) > 1 {
		return nil
	}
	return cel.Each(members, func(i int) cel.Expr { return constant(o.u.Members[i].Item[0].Value) })
}

// constant is the value of a key as CEL.
func constant(v any) cel.Expr {
	if s, ok := v.(string); ok {
		return cel.String(s)
	}
	return cel.Var(fmt.Sprint(v))
}
