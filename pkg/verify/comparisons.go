package verify

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// compare recognizes the comparisons that say what is read to be told from what:
// with the old value, with nothing, with literals.
func (v *reader) compare(operator string, a, b ast.Expr) bool {
	switch operator {
	case operators.Equals, operators.NotEquals:
		return v.same(a, b) || v.empty(operator, a, b) || v.empty(operator, b, a) || v.oneOf(a, b)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return v.empty(operator, a, b) || v.empty(mirrored[operator], b, a)
	case operators.In:
		return b.Kind() == ast.ListKind && v.oneOf(append([]ast.Expr{a}, b.AsList().Elements()...)...)
	}
	return false
}

var mirrored = map[string]string{
	operators.Less: operators.Greater, operators.LessEquals: operators.GreaterEquals,
	operators.Greater: operators.Less, operators.GreaterEquals: operators.LessEquals,
}

// same recognizes self.x == oldSelf.x, either way round.
func (v *reader) same(a, b ast.Expr) bool {
	oldA, pathA, okA := v.path(a)
	oldB, pathB, okB := v.path(b)
	if !okA || !okB || oldA == oldB || !slices.Equal(pathA, pathB) || isTest(a) || isTest(b) {
		return false
	}
	v.add(false, pathA, sameness)
	v.add(true, pathB, sameness)
	return true
}

// empty recognizes a comparison of x with an empty value, and those of its size
// that say whether it is empty.
func (v *reader) empty(operator string, x, with ast.Expr) bool {
	sized := false
	if x.Kind() == ast.CallKind && x.AsCall().FunctionName() == "size" {
		sized = true
		switch c := x.AsCall(); {
		case c.IsMemberFunction() && len(c.Args()) == 0:
			x = c.Target()
		case !c.IsMemberFunction() && len(c.Args()) == 1:
			x = c.Args()[0]
		default:
			return false
		}
	}
	old, path, ok := v.path(x)
	if !ok || isTest(x) {
		return false
	}
	equality := operator == operators.Equals || operator == operators.NotEquals
	switch with.Kind() {
	case ast.LiteralKind:
		n, number := with.AsLiteral().(types.Int)
		s, text := with.AsLiteral().(types.String)
		ok = sized && number && tellsEmpty(operator, int64(n)) || !sized && equality && text && s == ""
	case ast.ListKind:
		ok = !sized && equality && with.AsList().Size() == 0
	case ast.MapKind:
		ok = !sized && equality && with.AsMap().Size() == 0
	default:
		ok = false
	}
	if ok {
		v.add(old, path, emptiness)
	}
	return ok
}

// tellsEmpty reports whether comparing a size with n says whether it is 0, and no
// more.
func tellsEmpty(operator string, n int64) bool {
	switch operator {
	case operators.Less, operators.GreaterEquals:
		return n == 1
	}
	return n == 0
}

// oneOf recognizes comparisons of one path, in either object, with literals and
// with each other. Where it is absent a literal may stand for it.
func (v *reader) oneOf(operands ...ast.Expr) bool {
	var o operand
	for _, e := range operands {
		if !v.operand(e, &o) {
			return false
		}
	}
	if len(o.paths) == 0 {
		return false
	}
	for _, p := range o.paths {
		if !slices.Equal(p.path, o.paths[0].path) {
			return false
		}
	}
	for _, p := range o.paths {
		v.add(p.old, p.path, compared)
	}
	v.literals = append(v.literals, o.literals...)
	for _, c := range o.conditions {
		v.visit(c)
	}
	return true
}

// operand is what values are compared.
type operand struct {
	paths      []read
	literals   []any
	conditions []ast.Expr
}

// operand adds what e may be: a path, a literal, c ? x : y or x.orValue(y).
func (v *reader) operand(e ast.Expr, o *operand) bool {
	if old, path, ok := v.path(e); ok {
		o.paths = append(o.paths, read{old: old, path: path})
		return !isTest(e)
	}
	if text, ok := literalText(e); ok {
		o.literals = append(o.literals, text)
		return true
	}
	if e.Kind() != ast.CallKind {
		return false
	}
	c := e.AsCall()
	switch {
	case c.FunctionName() == operators.Conditional && len(c.Args()) == 3:
		o.conditions = append(o.conditions, c.Args()[0])
		return v.operand(c.Args()[1], o) && v.operand(c.Args()[2], o)
	case c.IsMemberFunction() && c.FunctionName() == "orValue" && len(c.Args()) == 1:
		return v.operand(c.Target(), o) && v.operand(c.Args()[0], o)
	}
	return false
}
