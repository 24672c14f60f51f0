package formula

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// total reports whether a function or operator never fails itself for arguments of the given types.
func total(what string, kinds []string) bool {
	all := func(l ...string) bool {
		return !slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(l, k) })
	}
	switch what {
	case "==":
		return true
	case "startsWith", "endsWith", "contains", "lowerAscii", "upperAscii", "trim":
		return all("string")
	case "size":
		return hasSize(kinds[0]) || len(kinds) == 2 && all("integer") // a size and a number
	case "<", "<=", ">", ">=":
		return all("integer", "number") || all("string")
	case "in":
		return kinds[1] == "array" || all("string", "object") && kinds[0] == "string"
	}
	return false
}

// opaque returns the value of an unsupported expression.
func (r *ruleReader) opaque(e ast.Expr, what string) value {
	if symbol, ok := operators.FindReverse(what); ok && symbol != "" {
		what = symbol
	}
	q := r.ask(e, what)
	args, isCall := r.args[e.ID()]
	fails, combinations := logic.False, [][]string{nil}
	for _, v := range args {
		fails = r.Or(fails, v.fails)
		var more [][]string
		for _, c := range v.cases {
			for _, kinds := range combinations {
				more = append(more, append(slices.Clip(kinds), kindOf(c.is)))
			}
		}
		combinations = more
		isCall = isCall && !unclear(v)
	}
	_, added := q.summand(e)
	if isCall && (added != 0 || !slices.ContainsFunc(combinations, func(kinds []string) bool { return !total(what, kinds) })) {
		r.Require(r.Equal(q.Fails.Lit, fails))
	} else {
		fails = r.Or(fails, q.Fails.Lit)
	}
	return value{fails, []choice{{fails.Not(), unknown{q}}}}
}

// ask returns the question for an expression.
func (r *ruleReader) ask(e ast.Expr, what string) *Question {
	q := Question{At: r.self, What: what, Optional: r.old != Plain, alone: r.old == Missing, Reads: r.reads(e)}
	text, err := parser.Unparse(e, r.info)
	_, shadowed := r.vars["self"]
	_, oldShadowed := r.vars["oldSelf"]
	askable := err == nil && !shadowed && !oldShadowed
	for _, name := range slices.Sorted(maps.Keys(free(e))) {
		v, bound := r.vars[name]
		if !bound {
			continue
		}
		bindings, ok := r.written(v)
		if askable = askable && ok; ok {
			text = "[" + bindings + "].all(" + name + ", " + text + ")"
		}
		for _, c := range v.cases {
			if p, ok := c.is.(*Place); ok {
				q.Reads = append(q.Reads, p)
			}
		}
	}
	if askable {
		q.Text = text
	}
	return r.question(q)
}

// unclear reports whether a value may be a question.
func unclear(v value) bool {
	return slices.ContainsFunc(v.cases, func(c choice) bool { _, ok := c.is.(unknown); return ok })
}

// written returns a value with one case as CEL.
func (r *ruleReader) written(v value) (string, bool) {
	if v.fails != logic.False || len(v.cases) != 1 {
		return "", false
	}
	switch is := v.cases[0].is.(type) {
	case string:
		return strconv.Quote(is), true
	case bool:
		return strconv.FormatBool(is), true
	case number:
		return strconv.FormatInt(is.n, 10), !is.more
	case *Place:
		return r.expression(is)
	}
	return "", false
}

// expression returns a CEL expression that selects a place.
func (r *ruleReader) expression(p *Place) (string, bool) {
	var steps []string
	root := "self"
	if p.Old {
		root = "oldSelf"
	}
	for q := p; ; q = q.Parent {
		if q == r.self || q.Old && q.Counterpart() == r.self {
			break
		}
		if q.Parent == nil || strings.HasPrefix(q.Name, Item) || q.Name == Entry {
			return "", false
		}
		if s := q.Parent.Schema; s != nil && len(s.Properties) == 0 {
			steps = append(steps, fmt.Sprintf("[%q]", q.Name))
			continue
		}
		name, ok := apiservercel.Escape(q.Name)
		if !ok {
			return "", false
		}
		steps = append(steps, "."+name)
	}
	slices.Reverse(steps)
	return root + strings.Join(steps, ""), !(p.Old && r.old != Plain)
}

// free returns the identifiers in an expression.
func free(e ast.Expr) map[string]bool {
	names := map[string]bool{}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			names[e.AsIdent()] = true
		}
	}))
	return names
}

// reads returns the places that an expression reads, as deep as known.
func (r *ruleReader) reads(e ast.Expr) []*Place {
	var l []*Place
	add := func(p *Place) {
		if !slices.Contains(l, p) {
			l = append(l, p)
		}
	}
	var visit func(e ast.Expr)
	visit = func(e ast.Expr) {
		if p := r.place(e); p != nil {
			add(p)
			return
		}
		for _, sub := range operands(e) {
			visit(sub)
		}
	}
	visit(e)
	return l
}

// place returns the place that e selects from self or oldSelf, or the innermost known place on the
// way to it. It returns nil for other expressions.
func (r *ruleReader) place(e ast.Expr) *Place {
	field := func(of ast.Expr, name string) *Place {
		p := r.place(of)
		if p == nil {
			return nil
		}
		if q := r.property(p, name); q != nil {
			return q
		}
		return p // the whole value
	}
	switch e.Kind() {
	case ast.IdentKind:
		switch e.AsIdent() {
		case "self":
			return r.self
		case "oldSelf":
			return r.self.Counterpart()
		}
	case ast.SelectKind:
		return field(e.AsSelect().Operand(), e.AsSelect().FieldName())
	case ast.CallKind:
		c := e.AsCall()
		switch name := c.FunctionName(); {
		case name == "value" && c.IsMemberFunction():
			return r.place(c.Target())
		case name == operators.OptSelect || name == operators.Index || name == operators.OptIndex:
			if key, ok := literal(c.Args()[1]).(string); ok {
				return field(c.Args()[0], key)
			}
		}
	}
	return nil
}

// operands returns the subexpressions of an expression.
func operands(e ast.Expr) []ast.Expr {
	var l []ast.Expr
	switch e.Kind() {
	case ast.SelectKind:
		l = append(l, e.AsSelect().Operand())
	case ast.CallKind:
		if c := e.AsCall(); c.IsMemberFunction() {
			l = append([]ast.Expr{c.Target()}, c.Args()...)
		} else {
			l = c.Args()
		}
	case ast.ListKind:
		l = e.AsList().Elements()
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			l = append(l, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			l = append(l, f.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		l = append(l, c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
	}
	return l
}
