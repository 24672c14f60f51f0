package formula

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// call translates operators and functions.
func (r *ruleReader) call(e ast.Expr) value {
	c := e.AsCall()
	name, args := c.FunctionName(), c.Args()
	if c.IsMemberFunction() {
		if t := c.Target(); t.Kind() == ast.IdentKind && t.AsIdent() == "optional" && r.vars["optional"].cases == nil {
			return r.optionalOf(e, "optional."+name, args)
		}
		args = append([]ast.Expr{c.Target()}, args...)
	}
	switch name {
	case operators.LogicalAnd, operators.LogicalOr:
		return r.connected(name == operators.LogicalAnd, args)
	case operators.LogicalNot:
		holds, refused := r.truths(r.read(args[0]))
		return r.truth(refused, r.Or(holds, refused).Not())
	case "optional.of", "optional.none":
		return r.optionalOf(e, name, args)
	case operators.NotStrictlyFalse:
		_, refused := r.truths(r.read(args[0]))
		return r.truth(refused.Not(), logic.False)
	case operators.Conditional:
		holds, refused := r.truths(r.read(args[0]))
		v := r.choose(holds, r.read(args[1]), r.read(args[2]))
		fails := r.Or(holds, refused).Not()
		v.fails = r.Or(fails, v.fails)
		v.cases = slices.Clone(v.cases) // a variable may share the cases
		for i := range v.cases {
			v.cases[i].when = r.And(fails.Not(), v.cases[i].when)
		}
		return r.normal(v)
	}
	values := make([]value, len(args))
	for i, a := range args {
		values[i] = r.read(a)
	}
	r.args[e.ID()] = values
	var v value
	ok := false
	switch len(values) {
	case 1:
		v, ok = r.unary(e, name, values[0])
	case 2:
		v, ok = r.binary(e, name, values[0], values[1])
	}
	if ok {
		return v
	}
	return r.opaque(e, name)
}

// connected translates && and ||, which absorb errors.
func (r *ruleReader) connected(and bool, args []ast.Expr) value {
	holds, refused := logic.True, logic.False
	if !and {
		holds, refused = refused, holds
	}
	for _, a := range args {
		t, f := r.truths(r.read(a))
		if and {
			holds, refused = r.And(holds, t), r.Or(refused, f)
		} else {
			holds, refused = r.Or(holds, t), r.And(refused, f)
		}
	}
	return r.truth(holds, r.Or(holds, refused).Not())
}

func (r *ruleReader) optionalOf(e ast.Expr, name string, args []ast.Expr) value {
	switch {
	case name == "optional.none" && len(args) == 0:
		return one(none{})
	case name == "optional.of" && len(args) == 1:
		v := r.read(args[0])
		return value{v.fails, []choice{{v.fails.Not(), some{&v}}}}
	}
	return r.opaque(e, name)
}

func (r *ruleReader) unary(e ast.Expr, name string, v value) (value, bool) {
	switch name {
	case "dyn":
		if unclear(v) {
			panic(errDyn) // it might be used as a condition without being a bool
		}
		return v, true
	case "size", "hasValue", "value", "sum":
		return r.each(v, func(is any) value {
			switch is := is.(type) {
			case string:
				if name == "size" {
					return one(number{n: int64(utf8.RuneCountInString(is))})
				}
			case list:
				switch name {
				case "size":
					return r.sum(e, is, func(value) value { return one(number{n: 1}) })
				case "sum":
					return r.sum(e, is, func(v value) value { return v })
				}
			case mapping:
				if name == "size" {
					return one(number{n: int64(len(is.keys))})
				}
			case *Place:
				if name == "size" && hasSize(kindOf(is)) {
					return one(size{is})
				}
			case some:
				switch name {
				case "hasValue":
					return one(true)
				case "value":
					return *is.is
				}
			case none:
				switch name {
				case "hasValue":
					return one(false)
				case "value":
					return failure()
				}
			}
			return r.opaque(e, name)
		}), true
	}
	return value{}, false
}

// sum adds up the numbers that the function returns for the items of a list.
func (r *ruleReader) sum(e ast.Expr, l list, what func(value) value) value {
	total := one(number{})
	for _, item := range l {
		total = r.choose(item.when, r.both(total, what(item.is), func(x, y any) value { return r.plus(e, x, y) }), total)
	}
	return total
}

func (r *ruleReader) binary(e ast.Expr, name string, a, b value) (value, bool) {
	switch name {
	case operators.Equals:
		return r.equal(e, a, b), true
	case operators.NotEquals:
		return r.each(r.equal(e, a, b), func(is any) value {
			if equal, ok := is.(bool); ok {
				return one(!equal)
			}
			return one(is) // one question for the whole comparison
		}), true
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return r.both(a, b, func(x, y any) value { return r.ordered(e, name, x, y) }), true
	case operators.Add:
		return r.both(a, b, func(x, y any) value {
			switch x := x.(type) {
			case number:
				if _, ok := y.(number); ok {
					return r.plus(e, x, y)
				}
			case string:
				if y, ok := y.(string); ok {
					return one(x + y)
				}
			case list:
				if y, ok := y.(list); ok {
					return one(append(slices.Clone(x), y...))
				}
			}
			return r.opaque(e, "+")
		}), true
	case operators.In:
		return r.each(b, func(in any) value { return r.membership(e, a, in) }), true
	case operators.OptSelect:
		return r.each(b, func(is any) value {
			if field, ok := is.(string); ok {
				return r.optionalField(e, a, field)
			}
			return r.opaque(e, "")
		}), true
	case operators.Index, operators.OptIndex:
		return r.both(a, b, func(x, y any) value { return r.index(e, x, y, name == operators.OptIndex) }), true
	case "orValue":
		return r.each(a, func(is any) value {
			switch is := is.(type) {
			case some:
				return *is.is
			case none:
				return b
			}
			return r.opaque(e, name)
		}), true
	case "or":
		return r.each(a, func(is any) value {
			switch is.(type) {
			case some:
				return one(is)
			case none:
				return b
			}
			return r.opaque(e, name)
		}), true
	}
	return value{}, false
}

func (r *ruleReader) plus(e ast.Expr, x, y any) value {
	a, ok := x.(number)
	b, isNumber := y.(number)
	if !ok || !isNumber || a.n < 0 || b.n < 0 || max(a.n, b.n) > maxNumber {
		return r.opaque(e, "+")
	}
	n := number{a.n + b.n, a.more || b.more}
	if n.n > r.most {
		n = number{r.most, true}
	}
	return one(n)
}

// compares returns the result of a comparison for a given sign of x - y.
func compares(operator string, sign int) bool {
	switch operator {
	case operators.Less:
		return sign < 0
	case operators.LessEquals:
		return sign <= 0
	case operators.Greater:
		return sign > 0
	case operators.GreaterEquals:
		return sign >= 0
	}
	return sign == 0
}

var mirrored = map[string]string{
	operators.Less: operators.Greater, operators.LessEquals: operators.GreaterEquals,
	operators.Greater: operators.Less, operators.GreaterEquals: operators.LessEquals,
	operators.Equals: operators.Equals,
}

// ordered compares two numbers, or a size with a number.
func (r *ruleReader) ordered(e ast.Expr, operator string, x, y any) value {
	if _, ok := y.(size); ok {
		x, y, operator = y, x, mirrored[operator]
	}
	b, ok := y.(number)
	if !ok {
		return r.opaque(e, operator)
	}
	switch a := x.(type) {
	case number:
		switch {
		case !a.more && !b.more:
			return one(compares(operator, cmp.Compare(a.n, b.n)))
		case a.more && !b.more && a.n > b.n:
			return one(compares(operator, 1))
		case b.more && !a.more && b.n > a.n:
			return one(compares(operator, -1))
		}
	case size:
		if b.more {
			break
		}
		empty, other := compares(operator, cmp.Compare(0, b.n)), compares(operator, cmp.Compare(1, b.n))
		if b.n < 1 || b.n == 1 && (operator == operators.Less || operator == operators.GreaterEquals) {
			return r.truth(r.Choose(a.of.Empty(), logic.True.If(empty), logic.True.If(other)), logic.False)
		}
		v := r.opaque(e, "size")
		return r.choose(a.of.Empty(), one(empty), v)
	}
	return r.opaque(e, operator)
}

// equal translates a == b.
func (r *ruleReader) equal(e ast.Expr, a, b value) value {
	return r.both(a, b, func(x, y any) value { return r.equals(e, x, y) })
}

func (r *ruleReader) equals(e ast.Expr, x, y any) value {
	switch y.(type) {
	case *Place, size, some, unknown:
		x, y = y, x
	}
	if _, ok := y.(unknown); ok {
		return r.opaque(e, "==")
	}
	for _, pair := range [][2]any{{x, y}, {y, x}} {
		if said, known := r.differs(pair[0], pair[1]); said && known {
			return one(false)
		} else if said {
			return r.opaque(e, "==")
		}
	}
	switch a := x.(type) {
	case unknown:
		switch b := y.(type) {
		case bool:
			return r.each(r.boolean(one(a)), func(is any) value { return one(is == b) })
		case *Place:
			if isBool(b) {
				return r.both(r.boolean(one(a)), r.boolean(one(b)), func(x, y any) value { return one(x == y) })
			}
		}
		return r.opaque(e, "==")
	case size:
		if _, ok := y.(number); ok {
			return r.ordered(e, operators.Equals, x, y)
		}
		return r.opaque(e, "==")
	case *Place:
		return r.placeEquals(e, a, y)
	case some:
		switch b := y.(type) {
		case some:
			return r.both(*a.is, *b.is, func(x, y any) value { return r.equals(e, x, y) })
		case none:
			return one(false)
		}
		return r.opaque(e, "==")
	case number:
		if b, ok := y.(number); ok {
			return r.ordered(e, operators.Equals, a, b)
		}
	case zero:
		if x != y {
			return r.opaque(e, "==")
		}
		return one(true)
	case string, bool, none, null:
		if x == y {
			return one(true)
		}
	case list:
		b, ok := y.(list)
		if !ok {
			break
		}
		if len(a) > 0 && len(b) > 0 {
			return r.opaque(e, "==")
		}
		there := logic.False
		for _, item := range append(slices.Clone(a), b...) {
			there = r.Or(there, item.when)
		}
		return r.truth(there.Not(), logic.False)
	case mapping:
		if b, ok := y.(mapping); ok && len(a.keys) > 0 && len(b.keys) > 0 {
			return r.opaque(e, "==")
		} else if ok {
			return one(len(a.keys) == len(b.keys))
		}
	}
	return one(false)
}

// placeEquals translates a == y for the value at place a.
func (r *ruleReader) placeEquals(e ast.Expr, a *Place, y any) value {
	if len(a.Constants()) > maxConstants {
		panic(errTooLarge)
	}
	if _, ok := y.(null); ok {
		return one(false) // the value is present, so it is not null
	}
	if b, ok := y.(*Place); ok && isIntOrString(a) && isIntOrString(b) {
		return r.truth(r.Same(a, b), logic.False)
	}
	if kind := kindOf(a); kind == "" || kind != kindOf(y) {
		return r.opaque(e, "==")
	}
	switch b := y.(type) {
	case *Place:
		if isBool(a) {
			return r.truth(r.Equal(a.Equals(true), b.Equals(true)), logic.False)
		}
		return r.truth(r.Same(a, b), logic.False)
	case string, bool:
		return r.truth(a.Equals(b), logic.False)
	case number:
		if !b.more {
			return r.truth(a.Equals(b.n), logic.False)
		}
	case zero:
		return r.truth(a.Empty(), logic.False)
	case list:
		if len(b) == 0 {
			return r.truth(a.Empty(), logic.False)
		}
	case mapping:
		if len(b.keys) == 0 && len(a.Schema.Properties) == 0 {
			return r.truth(a.Empty(), logic.False)
		}
	}
	return r.opaque(e, "==")
}

// kindOf returns the CEL type of a case, for the differences that matter to operators. It is "" if
// the type depends on the value.
func kindOf(is any) string {
	switch is := is.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case number, size:
		return "integer"
	case zero:
		return "number"
	case list:
		return "array"
	case mapping:
		return "object"
	case *Place:
		switch {
		case is.Schema == nil:
			return ""
		case is.Schema.Type == "string" && typedFormat(is.Schema.Format):
			return is.Schema.Format
		}
		return is.Schema.Type
	}
	return ""
}

func hasSize(kind string) bool {
	return slices.Contains([]string{"string", "byte", "array", "object"}, kind)
}

// typedFormat reports whether CEL converts strings of a format to another type.
func typedFormat(format string) bool {
	return slices.Contains([]string{"byte", "date", "date-time", "datetime", "duration", "quantity"}, format)
}

// membership translates a in b, for one case of b.
func (r *ruleReader) membership(e ast.Expr, a value, b any) value {
	switch b := b.(type) {
	case list:
		if in := e.AsCall().Args()[1]; in.Kind() == ast.ListKind && len(in.AsList().Elements()) == 0 {
			return value{cases: []choice{{logic.True, false}}} // CEL does not evaluate a then
		}
		any := logic.False
		sure := logic.True
		for _, item := range b {
			equal := r.equal(e, a, item.is)
			if unclear(equal) {
				return r.opaque(e, "in")
			}
			holds, refused := r.truths(equal)
			any = r.Or(any, r.And(item.when, holds))
			sure = r.And(sure, r.Or(item.when.Not(), holds, refused))
		}
		return r.truth(any, r.Or(a.fails, r.And(any.Not(), sure.Not())))
	case mapping:
		return r.each(a, func(is any) value {
			any := logic.False
			for _, k := range b.keys {
				equal := r.equals(e, is, k)
				if unclear(equal) {
					return r.opaque(e, "in")
				}
				holds, _ := r.truths(equal)
				any = r.Or(any, holds)
			}
			return r.truth(any, logic.False)
		})
	case *Place:
		return r.each(a, func(is any) value {
			if key, ok := is.(string); ok && b.Schema != nil && b.Schema.Type == "object" && len(b.Schema.Properties) == 0 {
				if p := r.property(b, key); p != nil {
					return r.truth(p.Present(), logic.False)
				}
			}
			return r.opaque(e, "in")
		})
	}
	return r.opaque(e, "in")
}

// index translates x[y] and x[?y].
func (r *ruleReader) index(e ast.Expr, x, y any, optional bool) value {
	switch x := x.(type) {
	case *Place:
		if key, ok := y.(string); ok && x.Schema != nil && len(x.Schema.Properties) == 0 {
			if optional {
				return r.optionalField(e, one(x), key)
			}
			return r.selected(e, one(x), key, false)
		}
	case mapping:
		v, found := value{fails: logic.True}, logic.False
		for i, k := range x.keys {
			equal := r.equals(e, y, k)
			if unclear(equal) {
				return r.opaque(e, "[]")
			}
			holds, _ := r.truths(equal)
			item := x.values[i]
			if optional {
				item = one(some{&x.values[i]})
			}
			v = r.choose(holds, item, v)
			found = r.Or(found, holds)
		}
		if optional {
			v = r.choose(found, v, one(none{}))
		}
		return v
	case list:
		n, ok := y.(number)
		if ok && !n.more && n.n >= 0 && n.n < int64(len(x)) && !slices.ContainsFunc(x[:n.n+1], func(item *element) bool { return item.when != logic.True }) {
			if optional {
				return one(some{&x[n.n].is})
			}
			return x[n.n].is
		}
	}
	return r.opaque(e, "[]")
}
