package cost

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	"k8s.io/apiserver/pkg/cel"
)

// PerProperty is the time for copying one property of an object's schema. The API server copies all
// properties whenever a rule reads a field. BenchmarkRequest in pkg/rules measured 0.15 to 0.3 µs
// for objects of 8 to 300 properties, on two busy cores of an AMD EPYC, with garbage collection.
// Other machines may take half or twice the time.
const PerProperty = 250 * time.Nanosecond

// Noticeable is the time of rules above which it matters, because the rest of a request takes some
// milliseconds.
const Noticeable = time.Millisecond

// Format formats a time with two digits. Estimates are less precise than that.
func Format(d time.Duration) string {
	v, unit := float64(d)/float64(time.Millisecond), "ms"
	switch {
	case d < time.Millisecond:
		v, unit = v*1000, "µs"
	case d >= time.Second:
		v, unit = v/1000, "s"
	}
	text := strconv.FormatFloat(v, 'g', 2, 64)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(f, 'f', -1, 64) // without an exponent
	}
	return text + " " + unit
}

// Time estimates the evaluation time of a rule on an object whose schema has the given number of
// properties. The estimate is an order of magnitude, and does not depend on the machine.
//
// The time depends on the fields that the rule reads. For each lookup of a field, the API server's
// CEL values copy the map of all properties of the object (schema/cel/model.Structural.Properties
// in k8s.io/apiextensions-apiserver, called by unstructuredMap.Find in
// k8s.io/apiserver/pkg/cel/common): once for an absent field, and twice for a present field. So the
// time for rules that read every member of a union grows with the square of the number of members.
//
// In has(self.x), only fields in present count as present. present are names of properties; in a
// union, these are discriminators, because most members are absent. A field whose value is read is
// present. If either branch may be taken, Time assumes the more expensive one. A messageExpression
// does not count, because it is evaluated only after its rule has failed.
func Time(rule string, properties int, present ...string) (time.Duration, error) {
	n, err := copies(rule, present)
	return time.Duration(n) * time.Duration(properties) * PerProperty, err
}

// copies returns how many times an evaluation of a rule copies the object's properties.
func copies(rule string, present []string) (int, error) {
	p, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.EnableOptionalSyntax(true), parser.MaxRecursionDepth(maxDepth))
	if err != nil {
		return 0, err
	}
	parsed, errs := p.Parse(common.NewTextSource(rule))
	if l := errs.GetErrors(); len(l) > 0 {
		return 0, fmt.Errorf("rule %s: %s", rule, l[0].Message)
	}
	r := presenceReader{}
	for _, name := range present {
		escaped, _ := cel.Escape(name) // a name without an escaped form is in no rule
		r.present = append(r.present, escaped)
	}
	n, _ := r.expr(parsed.Expr())
	return n, nil
}

// maxDepth is the maximum depth of expressions in the API server's parser.
const maxDepth = 250

// truth is the known value of a condition.
type truth int

const (
	unknown truth = iota
	yes
	no
)

func known(v bool) truth {
	if v {
		return yes
	}
	return no
}

func (t truth) not() truth {
	switch t {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

// presenceReader counts the copies that an expression causes.
type presenceReader struct{ present []string }

// expr returns how many times an expression copies properties. It also returns the value of a
// condition if the value is known.
func (r presenceReader) expr(e ast.Expr) (copies int, value truth) {
	switch e.Kind() {
	case ast.LiteralKind:
		if v, ok := e.AsLiteral().Value().(bool); ok {
			return 0, known(v)
		}
	case ast.SelectKind:
		s := e.AsSelect()
		n, _ := r.expr(s.Operand())
		switch {
		case !s.IsTestOnly():
			return n + 2, unknown
		case slices.Contains(r.present, s.FieldName()):
			return n + 2, yes
		}
		return n + 1, no
	case ast.CallKind:
		return r.call(e.AsCall())
	case ast.ListKind:
		return r.all(e.AsList().Elements()), unknown
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			copies += r.all([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()})
		}
	case ast.ComprehensionKind:
		// Count one element, because the rule does not contain the number of elements.
		c := e.AsComprehension()
		return r.all([]ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}), unknown
	}
	return copies, unknown
}

func (r presenceReader) call(c ast.CallExpr) (int, truth) {
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		n, v := r.expr(args[0])
		return n, v.not()
	case operators.LogicalAnd:
		return r.until(no, args)
	case operators.LogicalOr:
		return r.until(yes, args)
	case operators.Conditional:
		n, v := r.expr(args[0])
		then, isThen := r.expr(args[1])
		otherwise, isOtherwise := r.expr(args[2])
		switch {
		case v == yes:
			return n + then, isThen
		case v == no:
			return n + otherwise, isOtherwise
		case isThen == isOtherwise:
			return n + max(then, otherwise), isThen
		}
		return n + max(then, otherwise), unknown
	case operators.OptSelect: // as in has()
		n, _ := r.expr(args[0])
		if name, ok := args[1].AsLiteral().Value().(string); ok && !slices.Contains(r.present, name) {
			return n + 1, unknown
		}
		return n + 2, unknown
	}
	n := r.all(args)
	if c.IsMemberFunction() {
		target, _ := r.expr(c.Target())
		n += target
	}
	return n, unknown
}

// until adds up the operands of && or || up to the first one that decides the value. CEL does not
// evaluate the operands after it.
func (r presenceReader) until(decides truth, operands []ast.Expr) (copies int, value truth) {
	value = decides.not()
	for _, o := range operands {
		n, v := r.expr(o)
		copies += n
		if v == decides {
			return copies, v
		}
		if v == unknown {
			value = unknown
		}
	}
	return copies, value
}

func (r presenceReader) all(l []ast.Expr) (copies int) {
	for _, e := range l {
		n, _ := r.expr(e)
		copies += n
	}
	return copies
}
