package formula

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/parser"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// The macros over lists and maps whose bodies are conditions.
var conditionMacros = []string{operators.All, operators.Exists, operators.ExistsOne}

// Guarded returns the rule with has() for each read of a value that may be absent, unless an
// enclosing condition guards the read already. Optional reports whether the value at a path from
// self may be absent; [Item] in the path stands for an item. The operator of a condition tells
// whether the condition holds for absent values; where it does not, the condition holds if accepting.
// It is not ok if there is nothing to guard, or if the rule cannot be printed.
func (r *Rule) Guarded(optional func(path []string) bool, accepting bool) (rule string, ok bool) {
	g := r.guarding(optional)
	g.accepting = accepting
	text, _ := g.print(r.tree.Expr(), nil)
	return r.Quoted(text), len(g.added) > 0 && !g.failed
}

// GuardedOld is Guarded, but the rule holds where the old value lacks something that it reads.
func (r *Rule) GuardedOld(optional func(path []string) bool) (rule string, ok bool) {
	g := r.guarding(optional)
	g.print(r.tree.Expr(), nil)
	var unless, known []string
	for _, selected := range g.added {
		if strings.HasPrefix(selected, "oldSelf.") {
			unless, known = append(unless, g.guard(selected, true)), append(known, selected)
		}
	}
	text, l := g.print(r.tree.Expr(), known)
	if l > disjunction {
		text = "(" + text + ")"
	}
	return r.Quoted(strings.Join(append(unless, text), " || ")), len(unless) > 0 && !g.failed
}

// infallible are the functions that have a result for all values of their types.
var infallible = []string{
	operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.NotStrictlyFalse,
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In,
	"size", "startsWith", "endsWith", "contains", "lowerAscii", "upperAscii", "trim", "isURL", "isIP", "isCIDR", "isQuantity", "isSemver",
	"family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "prefixLength", "masked",
	"getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery",
	"isInteger", "sign", "isGreaterThan", "isLessThan", "compareTo", "major", "minor", "patch",
}

// conversions have a result for the strings for which another function holds.
var conversions = map[string]string{"url": "isURL", "ip": "isIP", "cidr": "isCIDR", "quantity": "isQuantity", "semver": "isSemver"}

// MayFail reports whether the evaluation of the rule on a schema may fail for values of their types:
// unless all reads of optional values are guarded by has() or in, all functions have a result, no item or
// entry is null, and no value may have one of two types.
func (r *Rule) MayFail(s *apiextensionsv1.JSONSchemaProps) bool {
	g := r.guarding(func(path []string) bool { return MayLack(s, false, path) })
	g.print(r.tree.Expr(), nil)
	fails := len(g.added) > 0 || g.failed || g.unchecked
	for _, path := range r.Paths {
		schemapath.Walk(schemapath.New(path[:min(len(path), 1)]...).Schema(s), func(_ schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			items, values := schemapath.Items.Schema(s), schemapath.Values.Schema(s)
			fails = fails || s.XIntOrString || items != nil && items.Nullable || values != nil && values.Nullable
			return !fails
		})
	}
	ast.PreOrderVisit(r.tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			name := function(e)
			if _, ok := g.path(e); ok {
				return // with a guard
			}
			args := e.AsCall().Args()
			literal := name == "matches" && last(args).Kind() == ast.LiteralKind
			_, converts := conversions[name] // see guarding.unchecked
			// exists_one counts.
			counts := name == operators.Add && args[0].Kind() == ast.IdentKind && args[0].AsIdent() == parser.HiddenAccumulatorName
			fails = fails || !literal && !converts && !counts && !slices.Contains(infallible, name)
		case ast.ComprehensionKind:
			fails = fails || !g.printed[e.ID()]
		}
	}))
	return fails
}

// MayLack reports whether the value at a path from a schema may be absent or null while its parent is
// there. [Item] in the path stands for an item. A root schema is that of a resource.
func MayLack(s *apiextensionsv1.JSONSchemaProps, root bool, path []string) bool {
	optional := false
	for i, name := range path {
		if s == nil {
			return true // the metadata of an embedded resource, which schemas do not name
		}
		p, ok := s.Properties[name]
		switch {
		case name == Item:
			optional, s = false, schemapath.Items.Schema(s)
		case i == 0 && root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name):
			return false
		case ok:
			optional, s = !slices.Contains(s.Required, name) && p.Default == nil || p.Nullable, &p
		default:
			optional, s = true, schemapath.Values.Schema(s)
		}
	}
	return optional
}

func (r *Rule) guarding(optional func(path []string) bool) *guarding {
	g := &guarding{printer: printer{info: r.tree.SourceInfo(), accepts: map[int64]bool{}}, optional: optional, items: map[string][]string{}, entries: map[string]string{}, printed: map[int64]bool{}}
	g.replace = g.guarded
	return g
}

// quoted matches a string of a printed expression.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// Quoted returns a printed expression with the quotes of the rule, so that it fits into a YAML
// string with the same quotes as the rule.
func (r *Rule) Quoted(text string) string {
	if r.quote == "" {
		return text
	}
	return quoted.ReplaceAllStringFunc(text, func(s string) string {
		content := s[1 : len(s)-1]
		if strings.ContainsAny(content, `'"`) {
			return s
		}
		return r.quote + content + r.quote
	})
}

// NotAll is a negated all() over a list: it holds as soon as one item breaks the condition.
type NotAll struct {
	// List is the path of the list from self.
	List []string
	// Broken is a rule on an item: it holds for items with the condition under the negation.
	Broken string
	// Each is the whole rule, requiring of every item that it breaks the condition.
	Each string
	// Conjuncts are the number of conditions that && connects.
	Conjuncts int
}

// NotAll returns the negated all() over a list that the rule evaluates without a further negation.
func (r *Rule) NotAll() (n NotAll, ok bool) {
	p := &printer{info: r.tree.SourceInfo()}
	tests := map[int64]bool{} // the conditions of ?:, which the rule does not simply evaluate to
	p.replace = func(e ast.Expr, _ []string) (string, level, bool) {
		switch name := function(e); {
		case tests[e.ID()]:
			return p.unparse(e), conditional, true
		case name == operators.Conditional:
			tests[e.AsCall().Args()[0].ID()] = true
			return "", 0, false
		case name != operators.LogicalNot:
			return "", 0, false
		}
		all := e.AsCall().Args()[0]
		list, body, each := eachItem(all, p.info)
		if ok || !each {
			return p.unparse(e), atom, true
		}
		c, text := all.AsComprehension(), p.unparse(body)
		n = NotAll{List: list, Broken: "[self].all(" + c.IterVar() + ", " + text + ")", Conjuncts: len(conjuncts(body))}
		ok = true
		return p.unparse(c.IterRange()) + ".all(" + c.IterVar() + ", !(" + text + "))", atom, true
	}
	each, _ := p.print(r.tree.Expr(), nil)
	n.Each = r.Quoted(each)
	return n, ok && !p.failed
}

// function returns the name of the function or operator that an expression calls, or "".
func function(e ast.Expr) string {
	if e.Kind() != ast.CallKind {
		return ""
	}
	return e.AsCall().FunctionName()
}

func isLogical(e ast.Expr) bool {
	return slices.Contains([]string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional}, function(e))
}

// levelOf returns the precedence of an expression without logical operators at the top.
func levelOf(e ast.Expr) level {
	if symbol, ok := operators.FindReverseBinaryOperator(function(e)); ok && symbol != "" {
		return relation
	}
	return atom
}

func conjuncts(e ast.Expr) []ast.Expr {
	if function(e) == operators.LogicalAnd {
		var l []ast.Expr
		for _, sub := range e.AsCall().Args() {
			l = append(l, conjuncts(sub)...)
		}
		return l
	}
	return []ast.Expr{e}
}

// level is the precedence of a printed expression: an operand with a higher one needs parentheses.
type level int

const (
	atom level = iota
	relation
	conjunction
	disjunction
	conditional
)

// printer prints the logical operators of a rule. Replace, called for the operands of &&, || and ?:,
// and for the rule itself, may print them otherwise. Known are the conditions that hold there.
type printer struct {
	info    *ast.SourceInfo
	replace func(e ast.Expr, known []string) (text string, l level, ok bool)
	failed  bool
	// accepts has the conditions with guards, and whether they hold for absent values.
	accepts map[int64]bool
	// accepting conditions hold for absent values, unless their operator tells otherwise; not under a
	// negation.
	accepting, negated bool
}

func (p *printer) unparse(e ast.Expr) string {
	text, err := parser.Unparse(e, p.info, parser.WrapOnColumn(math.MaxInt32))
	p.failed = p.failed || err != nil
	return text
}

// macro returns the call of the macro that an expression comes from, or nil.
func (p *printer) macro(e ast.Expr) ast.Expr {
	if e.Kind() != ast.ComprehensionKind {
		return nil
	}
	return p.info.MacroCalls()[e.ID()]
}

func (p *printer) print(e ast.Expr, known []string) (string, level) {
	if text, l, ok := p.replace(e, known); ok {
		return text, l
	}
	if !isLogical(e) {
		return p.unparse(e), levelOf(e)
	}
	args := e.AsCall().Args()
	operand := func(e ast.Expr, known []string, most level) string {
		text, l := p.print(e, known)
		if l > most {
			return "(" + text + ")"
		}
		return text
	}
	with := func(more []string) []string { return slices.Concat(known, more) }
	switch function(e) {
	case operators.LogicalAnd:
		left := operand(args[0], with(p.stated(args[1], true)), conjunction)
		return left + " && " + operand(args[1], with(p.read(args[0], true)), conjunction), conjunction
	case operators.LogicalOr:
		left := operand(args[0], with(p.stated(args[1], false)), disjunction)
		return left + " || " + operand(args[1], with(p.read(args[0], false)), disjunction), disjunction
	case operators.LogicalNot:
		p.negated = !p.negated
		defer func() { p.negated = !p.negated }()
		return "!" + operand(args[0], known, atom), atom
	default:
		return p.strictly(func() string { return operand(args[0], known, disjunction) }) + " ? " +
			operand(args[1], with(p.read(args[0], true)), disjunction) + " : " +
			operand(args[2], with(p.read(args[0], false)), disjunction), conditional
	}
}

// strictly calls write for an expression that is not simply to hold: conditions in it hold for absent
// values only if their operator tells so.
func (p *printer) strictly(write func() string) string {
	accepting := p.accepting
	p.accepting = false
	defer func() { p.accepting = accepting }()
	return write()
}

// stated returns the values that has() states to be present where e has a result.
func (p *printer) stated(e ast.Expr, result bool) []string {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && result {
		return []string{p.tested(e)}
	}
	if function(e) == operators.In && result {
		args := e.AsCall().Args()
		return []string{p.unparse(args[1]) + "[" + p.unparse(args[0]) + "]"}
	}
	if checks(e) && result {
		return []string{p.unparse(e)}
	}
	return p.both(e, result, p.stated)
}

// checks reports whether an expression asks whether a string can be converted.
func checks(e ast.Expr) bool {
	name := function(e)
	return slices.Contains(slices.Collect(maps.Values(conversions)), name) && len(e.AsCall().Args()) == 1
}

// read returns the values that are present where e, with guards, has a result: stated ones, and
// those that it reads, unless it has this result for absent values.
func (p *printer) read(e ast.Expr, result bool) []string {
	switch accepts, guarded := p.accepts[e.ID()]; {
	case e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly(), function(e) == operators.In && result:
		return append(p.stated(e, result), p.selected(e)...)
	case isLogical(e):
		return p.both(e, result, p.read)
	case !guarded:
		return p.stated(e, result)
	case accepts == result:
		return nil
	}
	return append(p.stated(e, result), p.selected(e)...)
}

// selected returns the selections that an expression certainly evaluates.
func (p *printer) selected(e ast.Expr) []string {
	var l []string
	p.selections(e, func(selected ast.Expr) { l = append(l, p.unparse(selected)) })
	return l
}

// both follows the operators that pass a result on to all operands.
func (p *printer) both(e ast.Expr, result bool, of func(ast.Expr, bool) []string) (l []string) {
	switch name := function(e); {
	case name == operators.LogicalNot:
		return of(e.AsCall().Args()[0], !result)
	case name == operators.LogicalAnd && result, name == operators.LogicalOr && !result:
		return slices.Concat(of(e.AsCall().Args()[0], result), of(e.AsCall().Args()[1], result))
	}
	return nil
}

// selections visits the selections that an expression certainly evaluates.
func (p *printer) selections(e ast.Expr, visit func(ast.Expr)) {
	switch {
	case e.Kind() == ast.ComprehensionKind:
		p.selections(e.AsComprehension().IterRange(), visit)
		return
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly(), function(e) == operators.Index:
		visit(e)
	case function(e) == operators.LogicalAnd, function(e) == operators.LogicalOr:
		return
	case function(e) == operators.Conditional:
		p.selections(e.AsCall().Args()[0], visit)
		return
	}
	for _, sub := range operands(e) {
		p.selections(sub, visit)
	}
}

// tested returns the selection in has().
func (p *printer) tested(has ast.Expr) string {
	text := p.unparse(has)
	return strings.TrimSuffix(strings.TrimPrefix(text, "has("), ")")
}

// guarding adds guards to a rule.
type guarding struct {
	printer
	optional func(path []string) bool
	items    map[string][]string // the paths of the items that variables stand for
	added    []string            // the selections with a guard
	entries  map[string]string   // the guards of entries of maps, by selection
	printed  map[int64]bool      // the macros whose conditions have guards
	// unchecked means that a conversion may fail.
	unchecked bool
}

// guard returns the condition that a selection needs, or its negation.
func (g *guarding) guard(selected string, negated bool) string {
	guard, isEntry := g.entries[selected]
	switch {
	case !isEntry && negated:
		return "!has(" + selected + ")"
	case !isEntry:
		return "has(" + selected + ")"
	case negated:
		return "!(" + guard + ")"
	}
	return guard
}

// guarded prints an operand that is no logical operator, with the guards that it needs.
func (g *guarding) guarded(e ast.Expr, known []string) (string, level, bool) {
	if isLogical(e) {
		return "", 0, false
	}
	if left, right, symbol := equivalence(e); symbol != "" {
		return g.strictly(func() string {
			var l []string
			for _, side := range []ast.Expr{left, right} {
				text, level := g.print(side, known)
				if level > atom {
					text = "(" + text + ")"
				}
				l = append(l, text)
			}
			return strings.Join(l, symbol)
		}), relation, true
	}
	text, l := g.unparse(e), levelOf(e)
	of := e
	if macro := g.macro(e); macro != nil && slices.Contains(conditionMacros, macro.AsCall().FunctionName()) && len(macro.AsCall().Args()) == 2 {
		c, call := e.AsComprehension(), macro.AsCall()
		of = c.IterRange()
		_, shadows := g.items[c.IterVar()]
		if path, ok := g.path(of); ok && !shadows {
			g.printed[e.ID()] = true
			g.items[c.IterVar()] = append(slices.Clip(path), Item)
			body, _ := g.print(conditionOf(c), slices.Concat(known, g.selected(of)))
			delete(g.items, c.IterVar())
			text, l = g.unparse(of)+"."+call.FunctionName()+"("+c.IterVar()+", "+body+")", atom
		}
	}
	var guards, missing []string
	g.needs(of, known, func(selected string) {
		if guard := g.guard(selected, false); !slices.Contains(guards, guard) {
			guards, missing, g.added = append(guards, guard), append(missing, g.guard(selected, true)), append(g.added, selected)
		}
	})
	if len(guards) == 0 {
		return text, l, true
	}
	verdict := g.absent(e, len(guards))
	g.accepts[e.ID()] = verdict == accepted || verdict == open && g.accepting && !g.negated
	if !g.accepts[e.ID()] {
		return strings.Join(append(guards, text), " && "), conjunction, true
	}
	if l > disjunction {
		text = "(" + text + ")"
	}
	return strings.Join(append(missing, text), " || "), disjunction, true
}

// conditionOf returns the condition of all, exists or exists_one, whose own macros are expanded, unlike in the
// call of the macro.
func conditionOf(c ast.ComprehensionExpr) ast.Expr {
	args := c.LoopStep().AsCall().Args()
	if function(c.LoopStep()) == operators.Conditional {
		return args[0]
	}
	return args[1] // after the accumulator
}

// equivalence returns the sides of an equation of conditions, and the operator.
func equivalence(e ast.Expr) (left, right ast.Expr, symbol string) {
	name := function(e)
	if name != operators.Equals && name != operators.NotEquals {
		return nil, nil, ""
	}
	args, compares := e.AsCall().Args(), false
	for _, side := range args {
		compared := isLogical(side) || levelOf(side) == relation
		compares = compares || compared
		if !compared && (side.Kind() != ast.SelectKind || !side.AsSelect().IsTestOnly()) {
			return nil, nil, ""
		}
	}
	if !compares {
		return nil, nil, ""
	}
	symbol, _ = operators.FindReverseBinaryOperator(name)
	return args[0], args[1], " " + symbol + " "
}

// verdict is the result of a condition for absent values.
type verdict int

const (
	open verdict = iota // the operator does not tell
	accepted
	rejected
)

// absent returns the verdict that the operator of a condition tells for some absent values: they are
// not equal to others, empty, and false. The verdict is open for bounds: an absent value may be unbounded.
func (g *guarding) absent(e ast.Expr, values int) verdict {
	holds := func(is bool) verdict {
		if is {
			return accepted
		}
		return rejected
	}
	if macro := g.macro(e); macro != nil {
		return holds(macro.AsCall().FunctionName() == operators.All)
	}
	name := function(e)
	if name == "" || name == operators.In {
		return rejected
	}
	args := e.AsCall().Args()
	if len(args) != 2 {
		return open
	}
	a, b := args[0], args[1]
	if literal(a) != nil {
		a, b = b, a
		if other, ok := mirrored[name]; ok {
			name = other
		}
	}
	value, equal := literal(b), name == operators.Equals
	n, isNumber := value.(number)
	switch sized := function(a) == "size" && isNumber; {
	case sized && name == operators.LessEquals, sized && name == operators.Less && n.n > 0:
		return accepted
	case sized && name == operators.Greater && n.n == 0, sized && name == operators.GreaterEquals && n.n == 1:
		return rejected
	case !equal && name != operators.NotEquals:
		return open
	case sized && n.n == 0, value == any(""), value == any(false), value == any(null{}):
		return holds(equal)
	case isNumber && equal && (sized || n.n == 0), isNumber && n.n == 0, equal && values > 1:
		return open
	}
	return holds(!equal)
}

// needs calls add with the selections that need a guard, outermost first.
func (g *guarding) needs(e ast.Expr, known []string, add func(string)) {
	switch {
	case e.Kind() == ast.SelectKind || function(e) == operators.Index:
		for _, sub := range operands(e) {
			g.needs(sub, known, add)
		}
		tests := e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
		if path, ok := g.path(e); ok && !tests && g.optional(path) {
			text := g.unparse(e)
			if e.Kind() == ast.CallKind {
				args := e.AsCall().Args()
				g.entries[text] = g.unparse(args[1]) + " in " + g.unparse(args[0])
			}
			if !slices.ContainsFunc(known, func(present string) bool {
				rest, within := strings.CutPrefix(present, text)
				return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
			}) {
				add(text)
			}
		}
		return
	case function(e) == operators.Conditional:
		args := e.AsCall().Args()
		g.needs(args[0], known, add)
		g.needs(args[1], slices.Concat(known, g.read(args[0], true)), add)
		g.needs(args[2], slices.Concat(known, g.read(args[0], false)), add)
		return
	case e.Kind() == ast.ComprehensionKind:
		g.needs(e.AsComprehension().IterRange(), known, add)
		return
	}
	if check, ok := conversions[function(e)]; ok && !e.AsCall().IsMemberFunction() {
		args := e.AsCall().Args()
		g.unchecked = g.unchecked || len(args) != 1 || !slices.Contains(known, check+"("+g.unparse(args[0])+")")
	}
	for _, sub := range operands(e) {
		g.needs(sub, known, add)
	}
}

// path returns the path of a selection from self or oldSelf, also through variables.
func (g *guarding) path(e ast.Expr) ([]string, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		path, ok := g.items[name]
		return path, ok || name == "self" || name == "oldSelf"
	case ast.SelectKind:
		path, ok := g.path(e.AsSelect().Operand())
		return append(slices.Clip(path), unescaped(e.AsSelect().FieldName())), ok
	case ast.CallKind:
		if key, isText := literal(last(e.AsCall().Args())).(string); isText && function(e) == operators.Index {
			path, ok := g.path(e.AsCall().Args()[0])
			return append(slices.Clip(path), key), ok
		}
	}
	return nil, false
}
