package formula

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// orderComparison is a question that compares a number with a constant integer, or the difference of two
// values with 0.
type orderComparison struct {
	*Question
	below logic.Lit // the number is below the bound
	bound int64
}

// order relates questions about one number. For example, less than five implies less than ten.
func (s *Space) order() {
	numbers := map[string][]orderComparison{}
	for _, key := range sortedKeys(s.questions) {
		q := s.questions[key]
		if of, c, ok := s.comparison(q); ok {
			numbers[of] = append(numbers[of], c)
		}
	}
	for _, of := range sortedKeys(numbers) {
		l := numbers[of]
		slices.SortStableFunc(l, func(a, b orderComparison) int { return cmp.Compare(a.bound, b.bound) })
		for i := 1; i < len(l); i++ {
			a, b := l[i-1], l[i]
			s.Require(s.Equal(a.Fails.Lit, b.Fails.Lit)) // both fail if there is no number
			s.RequireAny(a.below.Not(), b.below)
			if a.bound == b.bound {
				s.RequireAny(b.below.Not(), a.below)
			}
		}
	}
}

// sides are the operands of a question that compares two values with an order. A number is on the right.
type sides struct {
	rule        *Rule // nil for other questions
	left, right ast.Expr
	operator    string
}

// sides parses the question, once.
func (q *Question) sides() sides {
	if q.compared == nil {
		q.compared = &sides{}
		if strings.ContainsAny(q.Text, "<>") {
			*q.compared = parseSides(q.Text)
		}
	}
	return *q.compared
}

func parseSides(text string) (s sides) {
	rule, err := Parse(text)
	if err != nil || rule.tree.Expr().Kind() != ast.CallKind {
		return s
	}
	call := rule.tree.Expr().AsCall()
	operator := call.FunctionName()
	if !slices.Contains([]string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals}, operator) {
		return s
	}
	left, right := call.Args()[0], call.Args()[1]
	if _, isNumber := literal(left).(number); isNumber {
		left, right, operator = right, left, mirrored[operator]
	}
	return sides{rule, left, right, operator}
}

// comparison parses a question that compares a number with a constant integer, or two fields. of is the
// number, or the difference of the fields, as text.
func (s *Space) comparison(q *Question) (of string, c orderComparison, ok bool) {
	compared := q.sides()
	rule, left, right, operator := compared.rule, compared.left, compared.right, compared.operator
	if rule == nil {
		return "", c, false
	}
	n, isNumber := literal(right).(number)
	var less, more int64
	if !isNumber {
		left, less = q.summand(left)
		right, more = q.summand(right)
	}
	text, err := parser.Unparse(left, rule.tree.SourceInfo())
	if err != nil {
		return "", c, false
	}
	if isField(left) && isField(right) { // no value of a field is NaN, for which this is no order
		other, err := parser.Unparse(right, rule.tree.SourceInfo())
		n, isNumber = number{n: more - less}, err == nil
		if err == nil && other < text {
			text, other, operator, n.n = other, text, mirrored[operator], -n.n
		}
		text += " <> " + other // is not CEL, and so names no number
	}
	const most = math.MaxInt64/2 - 1
	if !isNumber || n.n > most || n.n < -most {
		return "", c, false
	}
	// Integers have even positions. All numbers between two integers share the odd position between
	// them.
	bound := 2 * n.n
	if operator == operators.LessEquals || operator == operators.Greater {
		bound++
	}
	if bound%2 != 0 && s.isInteger(q, left) {
		bound++ // no integer is between two integers
	}
	c = orderComparison{q, q.Holds.Lit, bound}
	if operator == operators.Greater || operator == operators.GreaterEquals {
		c.below = s.And(q.Holds.Lit.Not(), q.Fails.Lit.Not())
	}
	return fmt.Sprint(q.At.view.number(), q.At.Old, q.At.Path(), text), c, true
}

// summand returns the field and the number of a sum or a difference that cannot overflow. It returns other
// expressions with 0.
func (q *Question) summand(e ast.Expr) (field ast.Expr, n int64) {
	name := function(e)
	if name != operators.Add && name != operators.Subtract {
		return e, 0
	}
	args := operands(e)
	number, ok := literal(args[len(args)-1]).(number)
	if !ok || !isField(args[0]) || number.n != int64(int32(number.n)) || slices.ContainsFunc(q.Reads, func(p *Place) bool {
		if p.base != nil {
			p = p.base
		}
		if kindOf(p) != "integer" {
			return true
		}
		i, _ := intervalOf(p.Schema, "integer")
		return i.least == nil || i.limit == nil
	}) {
		return e, 0
	}
	if name == operators.Subtract {
		return args[0], -number.n
	}
	return args[0], number.n
}

func isField(e ast.Expr) bool { return e.Kind() == ast.SelectKind || e.Kind() == ast.IdentKind }

// isInteger reports whether the result of an expression is certainly an integer.
func (s *Space) isInteger(q *Question, e ast.Expr) bool {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "size" {
		return true
	}
	return e.Kind() == ast.SelectKind && len(q.Reads) > 0 && !slices.ContainsFunc(q.Reads, func(p *Place) bool { return kindOf(p) != "integer" })
}
