package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// expr is a CEL expression and how tightly it binds, for parentheses.
type expr struct {
	text string
	prec int
}

const (
	precTernary = iota
	precOr
	precAnd
	precCompare
	precAdd
	precUnary
	precAtom
)

// in returns the text of e as an operand of an operator of precedence prec.
func (e expr) in(prec int) string {
	if e.prec < prec {
		return "(" + e.text + ")"
	}
	return e.text
}

func literal(v string) expr { return expr{Quote(v), precAtom} }

var (
	yes  = expr{"true", precAtom}
	no   = expr{"false", precAtom}
	zero = literal("")
)

// Quote returns v as a CEL string.
func Quote(v string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range v {
		switch {
		case r == '\\' || r == '\'':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// field selects a property of an object, whose name Resolve has found
// expressible.
func field(object expr, name string) expr {
	escaped, _ := apiservercel.Escape(name)
	return expr{object.in(precAtom) + "." + escaped, precAtom}
}

// at selects what a path leads to from an object.
func at(object expr, path schemapath.Path) expr {
	for _, name := range path.Properties() {
		object = field(object, name)
	}
	return object
}

// there tests whether there is something where a path leads from an object. Each step is
// tested, as reading what is not there is an error.
func there(object expr, path schemapath.Path) expr {
	var l []expr
	for i := range path {
		l = append(l, has(at(object, path[:i+1])))
	}
	return and(l...)
}

// fieldPath is the fieldPath of a rule that points where a path leads.
func fieldPath(path schemapath.Path) string {
	text := path.String()
	if strings.HasPrefix(text, "[") {
		return text
	}
	return "." + text
}

func has(f expr) expr           { return expr{"has(" + f.text + ")", precAtom} }
func atom(text string) expr     { return expr{text, precAtom} }
func eq(a, b expr) expr         { return infix("==", precCompare, a, b) }
func ne(a, b expr) expr         { return infix("!=", precCompare, a, b) }
func add(operands ...expr) expr { return joined(" + ", precAdd, operands) }

func infix(op string, prec int, a, b expr) expr {
	return expr{a.in(prec+1) + " " + op + " " + b.in(prec+1), prec}
}

func joined(op string, prec int, operands []expr) expr {
	if len(operands) == 1 {
		return operands[0]
	}
	l := make([]string, len(operands))
	for i, o := range operands {
		l[i] = o.in(prec)
	}
	return expr{strings.Join(l, op), prec}
}

// and and or of nothing are their neutral elements, which they leave out.
func and(operands ...expr) expr {
	operands, decided := without(yes, no, operands)
	switch {
	case decided:
		return no
	case len(operands) == 0:
		return yes
	}
	return joined(" && ", precAnd, operands)
}

// without takes the neutral element out of operands, and reports whether the other
// constant is among them, which decides.
func without(neutral, decisive expr, operands []expr) (l []expr, decided bool) {
	l = slices.DeleteFunc(slices.Clone(operands), func(o expr) bool { return o == neutral })
	return l, slices.Contains(l, decisive)
}

func or(operands ...expr) expr {
	operands, decided := without(no, yes, operands)
	switch {
	case decided:
		return yes
	case len(operands) == 0:
		return no
	case len(operands) == 1:
		return operands[0]
	}
	l := make([]string, len(operands))
	for i, o := range operands {
		// && inside || needs no parentheses, but readers want them.
		if o.prec == precAnd {
			o.prec = precTernary
		}
		l[i] = o.in(precOr)
	}
	return expr{strings.Join(l, " || "), precOr}
}

func not(e expr) expr {
	switch e {
	case yes:
		return no
	case no:
		return yes
	}
	return expr{"!" + e.in(precAtom), precUnary}
}

// cond is the ternary operator. Chains of it read as one without parentheses.
func cond(test, then, otherwise expr) expr {
	return expr{test.in(precOr) + " ? " + then.in(precOr) + " : " + otherwise.in(precTernary), precTernary}
}

// listed is the number of values from which on a list of them costs less than
// one comparison each.
const listed = 5

// oneOf tests whether a string is one of values.
func oneOf(s expr, values []string) expr {
	if len(values) > listed {
		return inList(s, values)
	}
	return oneOfAll(s, literals(values))
}

func oneOfAll(s expr, values []expr) expr {
	l := make([]expr, len(values))
	for i, v := range values {
		l[i] = eq(s, v)
	}
	return or(l...)
}

func literals(values []string) []expr {
	l := make([]expr, len(values))
	for i, v := range values {
		l[i] = literal(v)
	}
	return l
}

// inList is oneOf for strings that are costly, or long, to write twice.
func inList(s expr, values []string) expr {
	if len(values) == 1 {
		return eq(s, literal(values[0]))
	}
	return expr{s.in(precAdd) + " in " + list(values).text, precCompare}
}

// noneOf is the negation of oneOf.
func noneOf(s expr, values []string) expr {
	if len(values) > listed {
		return not(oneOf(s, values))
	}
	l := make([]expr, len(values))
	for i, v := range values {
		l[i] = ne(s, literal(v))
	}
	return and(l...)
}

// List returns a CEL list of strings.
func List(values []string) string { return list(values).text }

func list(values []string) expr { return listOf(literals(values)) }

func listOf(values []expr) expr {
	l := make([]string, len(values))
	for i, v := range values {
		l[i] = v.text
	}
	return expr{"[" + strings.Join(l, ", ") + "]", precAtom}
}

func paren(e expr) expr {
	if strings.HasPrefix(e.text, "(") && e.prec == precAtom {
		return e
	}
	return expr{"(" + e.text + ")", precAtom}
}

// count adds up how many of the conditions hold.
func count(conditions []expr) expr {
	l := make([]expr, len(conditions))
	for i, c := range conditions {
		l[i] = cond(c, atom("1"), atom("0"))
	}
	return sum(l)
}

// flat is the number of operands up to which a sum is written without
// parentheses. To CEL it is as deep as it has operands, and the API server's
// parser goes no deeper than 250 (cel-go's MaxRecursionDepth); && and || it
// balances by itself.
const flat = 100

// sum adds any number of operands.
func sum(operands []expr) expr {
	for len(operands) > flat {
		var sums []expr
		for part := range slices.Chunk(operands, flat) {
			sums = append(sums, paren(add(part...)))
		}
		operands = sums
	}
	return add(operands...)
}

// chained is the number of conditions up to which a chain of ternaries is
// preferred to a sum: it costs half, but its text grows quadratically.
const chained = 12

// atMostOneOf holds when at most one of the conditions does.
func atMostOneOf(conditions []expr) expr { return chain(conditions, yes, "<=") }

// exactlyOneOf holds when exactly one of the conditions does.
func exactlyOneOf(conditions []expr) expr { return chain(conditions, no, "==") }

func chain(conditions []expr, none expr, op string) expr {
	if len(conditions) > chained {
		return infix(op, precCompare, count(conditions), atom("1"))
	}
	last := len(conditions) - 1
	e := yes
	if none == no {
		e = conditions[last]
	} else if last > 0 {
		last--
		e = not(and(conditions[last], conditions[last+1]))
	}
	for i := last - 1; i >= 0; i-- {
		e = cond(conditions[i], not(or(conditions[i+1:]...)), e)
	}
	return e
}

// variable is self or oldSelf in a rule.
type variable struct {
	u *union.Union
	expr
	brief bool // items are compared with a list of keys, which costs more than one by one
}

func self(u *union.Union) variable    { return variable{u: u, expr: atom("self")} }
func oldSelf(u *union.Union) variable { return variable{u: u, expr: atom("oldSelf")} }

// present tests whether member i is set.
func (o variable) present(i int) expr {
	m := o.u.Members[i]
	if m.Item != nil {
		return o.macro("exists", []int{i})
	}
	path := o.u.Path(m.Name)
	f, there := at(o.expr, path), there(o.expr, path)
	switch m.Empty {
	case union.EmptyString:
		return and(there, ne(f, zero))
	case union.EmptyCollection:
		return and(there, infix("!=", precCompare, expr{"size(" + f.text + ")", precAtom}, atom("0")))
	case union.EmptyObject:
		l := make([]expr, len(m.Fields))
		for i, name := range m.Fields {
			l[i] = has(field(f, name))
		}
		return and(there, or(l...))
	}
	return there
}

// members lists present(i) for all members.
func (o variable) members() []expr { return o.presentAmong(indices(len(o.u.Members))) }

// presentAmong lists present(i) for some members.
func (o variable) presentAmong(members []int) []expr {
	l := make([]expr, len(members))
	for i, m := range members {
		l[i] = o.present(m)
	}
	return l
}

func (o variable) discriminator() expr { return at(o.expr, o.u.Path(o.u.Discriminator)) }

// hasType tests whether the discriminator can be read.
func (o variable) hasType() expr { return there(o.expr, o.u.Path(o.u.Discriminator)) }

// typeSet tests whether the discriminator is set.
func (o variable) typeSet() expr { return and(o.hasType(), ne(o.discriminator(), zero)) }

// selects tests, where the discriminator can be read, whether it selects
// member i.
func (o variable) selects(i int) expr { return oneOf(o.discriminator(), o.u.Members[i].Values) }

// value is the discriminator's value, "" when it is unset.
func (o variable) value() expr { return cond(o.hasType(), o.discriminator(), zero) }

// selection is Union.Selection of a discriminated union.
func (o variable) selection() expr {
	if !o.u.Deduce {
		return o.value()
	}
	present := o.members()
	first := func(i int) expr { return literal(o.u.Members[i].Values[0]) }
	e := zero
	if len(present) > maxExplained {
		// Too many to nest. The one present is the only one not "" here.
		var values []expr
		for i, p := range present {
			values = append(values, cond(p, first(i), zero))
		}
		return cond(o.typeSet(), o.discriminator(), cond(exactlyOneOf(present), sum(values), zero))
	}
	for i := len(present) - 1; i >= 0; i-- {
		then := first(i)
		if rest := present[i+1:]; len(rest) > 0 && len(present) <= chained {
			then = cond(or(rest...), zero, then)
		}
		e = cond(present[i], then, e)
	}
	if len(present) > chained {
		e = cond(exactlyOneOf(present), e, zero)
	}
	return cond(o.typeSet(), o.discriminator(), e)
}

// message texts

// show quotes a value for a message, which must stay on one line.
func show(v string) string {
	return "'" + plain(v) + "'"
}

// plain makes a text printable on one line.
func plain(v string) string {
	q := strconv.Quote(v)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
}

func showAll(values []string) string { return enumerated(shown(values)) }

func shown(values []string) []string {
	l := make([]string, len(values))
	for i, v := range values {
		l[i] = show(v)
	}
	return l
}

func alternatives(values []string) string { return conjoined(shown(values), "or") }

// conjoined lists names with a conjunction before the last; of many only the first.
func conjoined(l []string, conjunction string) string {
	if last := len(l) - 1; last > 0 && len(l) <= maxNamed {
		l = append(slices.Clone(l[:last-1]), l[last-1]+" "+conjunction+" "+l[last])
	}
	return enumerated(l)
}

// maxNamed is the number of names that a message lists.
const maxNamed = 20

// enumerated lists names for a message; of many only the first.
func enumerated(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}
