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
		if q.Text == "" || !strings.ContainsAny(q.Text, "<>") {
			continue
		}
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

// comparison parses a question that compares a number with a constant integer, or two fields. of is the
// number, or the difference of the fields, as text.
func (s *Space) comparison(q *Question) (of string, c orderComparison, ok bool) {
	rule, err := Parse(q.Text)
	if err != nil || rule.tree.Expr().Kind() != ast.CallKind {
		return "", c, false
	}
	call := rule.tree.Expr().AsCall()
	operator := call.FunctionName()
	if !slices.Contains([]string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals}, operator) {
		return "", c, false
	}
	left, right := call.Args()[0], call.Args()[1]
	if _, isNumber := literal(left).(number); isNumber {
		left, right, operator = right, left, mirrored[operator]
	}
	text, err := parser.Unparse(left, rule.tree.SourceInfo())
	if err != nil {
		return "", c, false
	}
	n, isNumber := literal(right).(number)
	if isField(left) && isField(right) { // no value of a field is NaN, for which this is no order
		other, err := parser.Unparse(right, rule.tree.SourceInfo())
		if err == nil && other < text {
			text, other, operator = other, text, mirrored[operator]
		}
		n, isNumber = number{}, err == nil
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

func isField(e ast.Expr) bool { return e.Kind() == ast.SelectKind || e.Kind() == ast.IdentKind }

// isInteger reports whether the result of an expression is certainly an integer.
func (s *Space) isInteger(q *Question, e ast.Expr) bool {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "size" {
		return true
	}
	return e.Kind() == ast.SelectKind && len(q.Reads) == 1 && kindOf(q.Reads[0]) == "integer"
}
