package rules

import (
	"fmt"
)

// Of items of a list, conditions on several members are one pass over the list, where
// those on properties are one for each. The passes count an item that is there twice twice,
// which the API server lets no list with keys have.

// any tests whether one of some members is set.
func (o variable) any(members []int) expr {
	if o.u.OfItems() && len(members) > 0 {
		return o.macro("exists", members)
	}
	return or(o.presentAmong(members)...)
}

// exactlyOne tests whether one of all members is set, and no other.
func (o variable) exactlyOne() expr {
	if o.u.OfItems() {
		return o.macro("exists_one", indices(len(o.u.Members)))
	}
	return exactlyOneOf(o.members())
}

// item is the variable of macros.
var item = atom("item")

// macro is one over the items of a list, of the condition that an item is one of some
// members. Keys are read where they are there, even though the schema demands them.
func (o variable) macro(name string, members []int) expr {
	var l []expr
	for _, i := range members {
		var keys []expr
		for _, k := range o.u.Members[i].Item {
			at := field(item, k.Name)
			keys = append(keys, has(at), eq(at, constant(k.Value)))
		}
		l = append(l, and(keys...))
	}
	if keys := o.keys(members); len(keys) > 1 {
		at := field(item, o.u.Members[0].Item[0].Name)
		is := oneOfAll(at, keys)
		if o.brief || len(keys) > listed {
			is = expr{at.text + " in " + listOf(keys).text, precCompare}
		}
		l = []expr{and(has(at), is)}
	}
	return expr{o.in(precAtom) + "." + name + "(" + item.text + ", " + or(l...).text + ")", precAtom}
}

// keys are the values of the only key of some members; none if there are more keys.
func (o variable) keys(members []int) []expr {
	if len(o.u.Members[0].Item) > 1 {
		return nil
	}
	var l []expr
	for _, i := range members {
		l = append(l, constant(o.u.Members[i].Item[0].Value))
	}
	return l
}

// constant is the value of a key as CEL.
func constant(v any) expr {
	if s, ok := v.(string); ok {
		return literal(s)
	}
	return atom(fmt.Sprint(v))
}
