package infer

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

const (
	// maxFormula is how large a formula may be, since comprehensions repeat their
	// predicate.
	maxFormula = 10_000
	// maxNumber keeps sums far from overflow.
	maxNumber = 1_000_000
)

// newParser returns a parser that leaves filter, exists_one and the like as they
// are written. What they expand to is hard to recognize.
func newParser() (*parser.Parser, error) {
	return parser.NewParser(parser.Macros(parser.HasMacro), parser.EnableOptionalSyntax(true))
}

// ruleFormula reads a rule; ok is false when it asks for anything else than a
// formula can say, or is not CEL.
func (o *object) ruleFormula(rule string) (f *formula, form Form, ok bool) {
	parsed, errs := o.parser.Parse(common.NewTextSource(rule))
	if len(errs.GetErrors()) > 0 || parsed == nil {
		return nil, "", false
	}
	r := &ruleReader{object: o, bound: map[string]*formula{}}
	f = r.condition(parsed.Expr())
	if f == nil || r.size > maxFormula {
		return nil, "", false
	}
	return f, r.form(parsed.Expr()), true
}

// ruleReader turns expressions into formulas; nil stands for what is none.
type ruleReader struct {
	*object
	bound map[string]*formula // variables of comprehensions
	size  int

	filters, sums, conditionals bool // what the rule is made of
}

func (r *ruleReader) form(top ast.Expr) Form {
	switch {
	case r.filters:
		return Filter
	case r.sums:
		return Count
	case r.conditionals && isCall(top, operators.Conditional):
		return Conditional
	}
	return Pairs // or Presence, when there turns out to be no discriminator
}

// new counts the formula.
func (r *ruleReader) new(f *formula) *formula {
	if r.size++; r.size > maxFormula {
		return nil
	}
	for _, a := range f.args {
		if a == nil {
			return nil
		}
	}
	return f
}

func (r *ruleReader) conditions(kind kind, l ...ast.Expr) *formula {
	f := &formula{kind: kind}
	for _, e := range l {
		a := r.condition(e)
		if a == nil {
			return nil
		}
		f.args = append(f.args, a)
	}
	return r.new(f)
}

// condition reads an expression of type bool.
func (r *ruleReader) condition(e ast.Expr) *formula {
	switch e.Kind() {
	case ast.LiteralKind:
		if b, ok := e.AsLiteral().(types.Bool); ok {
			return r.new(truthFormula(bool(b)))
		}
	case ast.IdentKind:
		return r.bound[e.AsIdent()]
	case ast.SelectKind:
		if slot, ok := r.property(e); ok && e.AsSelect().IsTestOnly() {
			return r.new(isPresent(slot))
		}
	case ast.CallKind:
		return r.call(e.AsCall())
	}
	return nil
}

func (r *ruleReader) call(c ast.CallExpr) *formula {
	args := c.Args()
	if c.IsMemberFunction() {
		return r.method(c)
	}
	switch name := c.FunctionName(); {
	case name == operators.LogicalNot && len(args) == 1:
		return r.conditions(not, args...)
	case name == operators.LogicalAnd:
		return r.conditions(all, args...)
	case name == operators.LogicalOr:
		return r.conditions(some, args...)
	case name == operators.Conditional && len(args) == 3:
		r.conditionals = true
		return r.conditions(choice, args...)
	case name == operators.In && len(args) == 2 && args[1].Kind() == ast.ListKind:
		f := &formula{kind: some}
		for _, item := range args[1].AsList().Elements() {
			f.args = append(f.args, r.equality(args[0], item))
		}
		return r.new(f)
	case len(args) == 2 && orders[name] != 0:
		return r.comparison(orders[name], args[0], args[1])
	}
	return nil
}

var orders = map[string]order{
	operators.Equals: equal, operators.NotEquals: unequal, operators.Less: less, operators.LessEquals: lessOrEqual,
	operators.Greater: greater, operators.GreaterEquals: greaterOrEqual,
}

// method reads self.?x.hasValue() and list.exists_one(x, ...).
func (r *ruleReader) method(c ast.CallExpr) *formula {
	if c.FunctionName() == "hasValue" && len(c.Args()) == 0 {
		if slot, ok := r.optional(c.Target()); ok {
			return r.new(isPresent(slot))
		}
		return nil
	}
	f := &formula{kind: sum, order: equal, limit: 1}
	switch c.FunctionName() {
	case "exists":
		f.kind = some
	case "all":
		f.kind = all
	case "exists_one", "existsOne":
	default:
		return nil
	}
	if f.args = r.each(c); f.args == nil {
		return nil
	}
	for range f.args {
		f.weights = append(f.weights, 1)
	}
	r.filters = r.filters || f.kind == sum
	return r.new(f)
}

// each reads the predicate of a comprehension for each item of a list of
// conditions; nil when it is nothing of the kind.
func (r *ruleReader) each(c ast.CallExpr) []*formula {
	args := c.Args()
	if len(args) != 2 || args[0].Kind() != ast.IdentKind || c.Target().Kind() != ast.ListKind {
		return nil
	}
	name := args[0].AsIdent()
	outer, shadows := r.bound[name]
	defer func() {
		if delete(r.bound, name); shadows {
			r.bound[name] = outer
		}
	}()
	var l []*formula
	for _, item := range c.Target().AsList().Elements() {
		if delete(r.bound, name); shadows {
			r.bound[name] = outer
		}
		f := r.condition(item)
		if f == nil {
			return nil
		}
		r.bound[name] = f
		// What the variable stands for is written out once per use.
		if f = r.condition(args[1]); f == nil || r.size > maxFormula {
			return nil
		}
		l = append(l, f)
	}
	return l
}

// comparison reads a op b: of counts, of sizes with 0, of strings with literals,
// and of conditions with each other.
func (r *ruleReader) comparison(o order, a, b ast.Expr) *formula {
	if _, ok := number(a); ok {
		a, b, o = b, a, o.mirrored()
	}
	if limit, ok := number(b); ok {
		if f := r.emptiness(o, a, limit); f != nil {
			return r.new(f)
		}
		f := &formula{kind: sum, order: o, limit: limit}
		if !r.add(f, a, 1) {
			return nil
		}
		return r.new(f)
	}
	if o != equal && o != unequal {
		return nil
	}
	f := r.equality(a, b)
	if f == nil {
		f = r.conditions(same, a, b)
	}
	if f != nil && o == unequal {
		return r.new(negation(f))
	}
	return f
}

func number(e ast.Expr) (int, bool) {
	if e.Kind() != ast.LiteralKind {
		return 0, false
	}
	n, ok := e.AsLiteral().(types.Int)
	return int(n), ok && n >= -maxNumber && n <= maxNumber
}

// add adds the number e, so many times, to a sum.
func (r *ruleReader) add(f *formula, e ast.Expr, times int) bool {
	if n, ok := number(e); ok {
		f.base += n * times
		return true
	}
	if e.Kind() != ast.CallKind {
		return false
	}
	c := e.AsCall()
	args := c.Args()
	switch {
	case c.FunctionName() == operators.Add && len(args) == 2:
		return r.add(f, args[0], times) && r.add(f, args[1], times)
	case c.FunctionName() == operators.Conditional && len(args) == 3:
		then, isNumber := number(args[1])
		otherwise, isToo := number(args[2])
		test := r.condition(args[0])
		if !isNumber || !isToo || test == nil {
			return false
		}
		r.sums = true
		f.base += otherwise * times
		f.args, f.weights = append(f.args, test), append(f.weights, (then-otherwise)*times)
		return true
	}
	list, ok := sized(e)
	if !ok || list.Kind() != ast.CallKind || list.AsCall().FunctionName() != "filter" || !list.AsCall().IsMemberFunction() {
		return false
	}
	l := r.each(list.AsCall())
	for _, a := range l {
		f.args, f.weights = append(f.args, a), append(f.weights, times)
	}
	r.filters = true
	return l != nil
}

// sized returns x of size(x) and x.size().
func sized(e ast.Expr) (ast.Expr, bool) {
	if !isCall(e, "size") {
		return nil, false
	}
	switch c := e.AsCall(); {
	case c.IsMemberFunction() && len(c.Args()) == 0:
		return c.Target(), true
	case !c.IsMemberFunction() && len(c.Args()) == 1:
		return c.Args()[0], true
	}
	return nil, false
}

// emptiness reads a comparison of a size that tells whether it is 0.
func (r *ruleReader) emptiness(o order, e ast.Expr, limit int) *formula {
	x, ok := sized(e)
	if !ok {
		return nil
	}
	f := r.choose(x, func(slot int) *formula {
		if !sizeable(r.schema.Properties[r.names[slot]]) {
			return nil
		}
		return &formula{kind: filled, slot: slot}
	}, func(e ast.Expr) *formula {
		n, ok := literalSize(e)
		if !ok {
			return nil
		}
		return truthFormula(n > 0)
	})
	if f == nil || o.holds(1, limit) != o.holds(maxNumber, limit) {
		return nil
	}
	switch zero, one := o.holds(0, limit), o.holds(1, limit); {
	case !zero && one:
		return f
	case zero && !one:
		return negation(f)
	}
	return nil
}

// equality reads a == b where one of them is a literal.
func (r *ruleReader) equality(a, b ast.Expr) *formula {
	if !isLiteral(b) {
		a, b = b, a
	}
	if n, ok := literalSize(b); ok && n == 0 && b.Kind() != ast.LiteralKind {
		f := r.choose(a, func(slot int) *formula {
			if !sizeable(r.schema.Properties[r.names[slot]]) {
				return nil
			}
			return negation(&formula{kind: filled, slot: slot})
		}, func(e ast.Expr) *formula {
			n, ok := literalSize(e)
			if !ok || e.Kind() == ast.LiteralKind {
				return nil
			}
			return truthFormula(n == 0)
		})
		return f
	}
	text, ok := literalText(b)
	if !ok {
		return nil
	}
	return r.choose(a, func(slot int) *formula {
		if !isString(r.schema.Properties[r.names[slot]]) {
			return nil
		}
		return &formula{kind: equals, slot: slot, text: text}
	}, func(e ast.Expr) *formula {
		t, ok := literalText(e)
		if !ok {
			return nil
		}
		return truthFormula(t == text)
	})
}

// choose follows c ? a : b and self.?x.orValue(y) down to properties and literals.
func (r *ruleReader) choose(e ast.Expr, property func(slot int) *formula, literal func(ast.Expr) *formula) *formula {
	if slot, ok := r.property(e); ok && !e.AsSelect().IsTestOnly() {
		f := property(slot)
		if f == nil {
			return nil
		}
		return r.new(f)
	}
	if isLiteral(e) {
		return literal(e)
	}
	if e.Kind() != ast.CallKind {
		return nil
	}
	c := e.AsCall()
	switch {
	case c.FunctionName() == operators.Conditional && len(c.Args()) == 3:
		test := r.condition(c.Args()[0])
		return r.new(&formula{kind: choice, args: []*formula{test, r.choose(c.Args()[1], property, literal), r.choose(c.Args()[2], property, literal)}})
	case c.IsMemberFunction() && c.FunctionName() == "orValue" && len(c.Args()) == 1:
		slot, ok := r.optional(c.Target())
		if !ok {
			return nil
		}
		f := property(slot)
		if f == nil {
			return nil
		}
		return r.new(&formula{kind: choice, args: []*formula{isPresent(slot), f, r.choose(c.Args()[0], property, literal)}})
	}
	return nil
}

// property returns the slot of x in self.x and has(self.x).
func (r *ruleReader) property(e ast.Expr) (int, bool) {
	if e.Kind() != ast.SelectKind || !r.isSelf(e.AsSelect().Operand()) {
		return 0, false
	}
	return r.slot(unescaped(e.AsSelect().FieldName()))
}

// optional returns the slot of x in self.?x.
func (r *ruleReader) optional(e ast.Expr) (int, bool) {
	if !isCall(e, operators.OptSelect) || len(e.AsCall().Args()) != 2 || !r.isSelf(e.AsCall().Args()[0]) {
		return 0, false
	}
	name, ok := literalText(e.AsCall().Args()[1])
	if !ok {
		return 0, false
	}
	return r.slot(unescaped(name))
}

func (r *ruleReader) isSelf(e ast.Expr) bool {
	return e.Kind() == ast.IdentKind && e.AsIdent() == "self" && r.bound["self"] == nil
}

// unescaped turns the name of a field in CEL into that of the property.
func unescaped(name string) string {
	if plain, ok := apiservercel.Unescape(name); ok {
		return plain
	}
	return name
}

func isCall(e ast.Expr, name string) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == name
}

func isLiteral(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind || e.Kind() == ast.ListKind || e.Kind() == ast.MapKind
}

func literalText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// literalSize is the size of a literal string, list or map.
func literalSize(e ast.Expr) (int, bool) {
	switch e.Kind() {
	case ast.ListKind:
		return e.AsList().Size(), true
	case ast.MapKind:
		return e.AsMap().Size(), true
	}
	text, ok := literalText(e)
	return len(text), ok
}

func isString(s apiextensionsv1.JSONSchemaProps) bool { return s.Type == "string" && !s.XIntOrString }

func sizeable(s apiextensionsv1.JSONSchemaProps) bool {
	return isString(s) || s.Type == "array" || s.Type == "object"
}
