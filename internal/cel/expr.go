package cel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Expr is an immutable expression.
type Expr struct{ *node }

// precedence is the precedence of the outermost operator of an expression.
type precedence int

const (
	precTernary precedence = iota
	precOr
	precAnd
	precCompare
	precAdd
	precUnary
	precAtom
)

// Constants. And, Or, Not and If simplify True and False, and recognize only these values.
var (
	True  = Var("true")
	False = Var("false")
	Null  = Var("null")
)

// Var returns a variable, or a namespace of functions.
func Var(name string) Expr { return newExpr(precAtom, nodePart{text: name}) }

// Raw returns an expression in CEL text. A layout puts the expression on its own lines.
func Raw(text string) Expr {
	return Expr{&node{prec: precTernary, parts: []nodePart{{text: text}}, width: unbounded}}
}

func Int(i int) Expr                { return Var(strconv.Itoa(i)) }
func String(v string) Expr          { return Var(quote(v)) }
func Strings(values ...string) Expr { return List(Each(values, String)...) }
func List(items ...Expr) Expr       { return bracketed("[", "]", soft, fill, items) }
func Map(entries ...MapEntry) Expr  { return bracketed("{", "}", soft, fill, entries) }

// MapEntry is an entry of a map or a field of a struct.
type MapEntry Expr

// Entry returns an entry with e as its key or field name.
func (e Expr) Entry(value Expr) MapEntry {
	return MapEntry(newExpr(precTernary, nodePart{expr: e.operand(precAtom)}, nodePart{text: ": "}, nodePart{expr: value}))
}

// Struct returns a struct of a named type.
func Struct(name string, fields ...MapEntry) Expr {
	return bracketed(name+"{", "}", soft, line, fields)
}

// Each returns the expressions for several values.
func Each[T any](values []T, of func(T) Expr) []Expr {
	l := make([]Expr, len(values))
	for i, v := range values {
		l[i] = of(v)
	}
	return l
}

// quote returns a string literal on one line.
func quote(v string) string {
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

// Operators. And without operands is True, and Or without operands is False.

func (e Expr) Eq(other Expr) Expr { return compare("==", e, other) }
func (e Expr) Ne(other Expr) Expr { return compare("!=", e, other) }
func (e Expr) Lt(other Expr) Expr { return compare("<", e, other) }
func (e Expr) Le(other Expr) Expr { return compare("<=", e, other) }
func (e Expr) Gt(other Expr) Expr { return compare(">", e, other) }
func (e Expr) In(list Expr) Expr {
	return newExpr(precCompare, nodePart{expr: e.operand(precAdd)}, nodePart{text: " in "}, nodePart{expr: list.operand(precAdd)})
}

func Add(operands ...Expr) Expr { return joined("+", precAdd, fill, operands) }
func And(operands ...Expr) Expr { return logical("&&", precAnd, True, False, operands) }
func Or(operands ...Expr) Expr  { return logical("||", precOr, False, True, operands) }

func Not(e Expr) Expr {
	switch e {
	case True:
		return False
	case False:
		return True
	}
	return newExpr(precUnary, nodePart{text: "!"}, nodePart{expr: e.operand(precAtom)})
}

// If is the ternary operator. A chain of them needs no parentheses. A constant test, or the same
// expression for both cases, needs no operator.
func If(test, then, otherwise Expr) Expr {
	switch {
	case test == True || then == otherwise:
		return then
	case test == False:
		return otherwise
	}
	hang := 1
	if otherwise.prec == precTernary {
		hang = -1 // the indentation of a chain does not grow
	}
	return newExpr(precTernary, nodePart{expr: test.operand(precOr)},
		nodePart{brk: line, indent: 1, text: "? "}, nodePart{hang: 1, expr: then.operand(precOr)},
		nodePart{brk: line, indent: 1, text: ": "}, nodePart{hang: hang, expr: otherwise})
}

func compare(op string, a, b Expr) Expr {
	return joined(op, precCompare, line, []Expr{a.operand(precAdd), b.operand(precAdd)})
}

// joined returns an expression with an operator between operands.
func joined(op string, p precedence, before brk, operands []Expr) Expr {
	if len(operands) == 1 {
		return operands[0]
	}
	var parts []nodePart
	for i, o := range operands {
		if o = o.operand(p); p == precOr && o.prec == precAnd {
			o = Paren(o) // for readers: CEL does not need them
		}
		operand := nodePart{expr: o}
		if i > 0 {
			operand.brk = before
			parts = append(parts, nodePart{text: " " + op})
		}
		parts = append(parts, operand)
	}
	return newExpr(p, parts...)
}

// logical joins operands. It omits neutral operands, and returns a decisive operand alone.
func logical(op string, p precedence, neutral, decisive Expr, operands []Expr) Expr {
	operands = slices.DeleteFunc(slices.Clone(operands), func(o Expr) bool { return o == neutral })
	switch {
	case slices.Contains(operands, decisive):
		return decisive
	case len(operands) == 0:
		return neutral
	}
	return joined(op, p, line, operands)
}

// operand returns e as an operand of an operator with precedence p.
func (e Expr) operand(p precedence) Expr {
	if e.prec < p {
		return Paren(e)
	}
	return e
}

// Paren adds parentheses for readers unless e has parentheses or is True or False.
func Paren(e Expr) Expr {
	if e == True || e == False || e.parts[0].text == "(" {
		return e
	}
	return newExpr(precAtom, nodePart{text: "("}, nodePart{brk: soft, indent: 1, expr: e}, nodePart{brk: soft, text: ")"})
}

// Functions and methods.

func Func(name string, args ...Expr) Expr { return bracketed(name+"(", ")", soft, line, args) }
func Has(e Expr) Expr                     { return Func("has", e) }
func Size(e Expr) Expr                    { return Func("size", e) }
func Dyn(e Expr) Expr                     { return Func("dyn", e) }
func (e Expr) OrValue(value Expr) Expr    { return e.Call("orValue", value) }

func (e Expr) Call(method string, args ...Expr) Expr {
	return e.link(never, bracketed("."+method+"(", ")", soft, line, args))
}

// Macros. Transforming macros take a value, and optionally a condition before it.

func (e Expr) All(item, holds Expr) Expr        { return e.macro("all", vars{item}, holds) }
func (e Expr) AllEntries(k, v, holds Expr) Expr { return e.macro("all", vars{k, v}, holds) }
func (e Expr) Exists(item, holds Expr) Expr     { return e.macro("exists", vars{item}, holds) }
func (e Expr) ExistsOne(item, holds Expr) Expr  { return e.macro("exists_one", vars{item}, holds) }
func (e Expr) Filter(item, holds Expr) Expr     { return e.macro("filter", vars{item}, holds) }
func (e Expr) Map(item, value Expr) Expr        { return e.macro("map", vars{item}, value) }
func (e Expr) TransformList(k, v Expr, to ...Expr) Expr {
	return e.macro("transformList", vars{k, v}, to...)
}
func (e Expr) TransformMap(k, v Expr, to ...Expr) Expr {
	return e.macro("transformMap", vars{k, v}, to...)
}
func (e Expr) TransformMapEntry(k, v Expr, to ...Expr) Expr {
	return e.macro("transformMapEntry", vars{k, v}, to...)
}

// Let binds a value to a name in an expression.
func Let(name, value, in Expr) Expr { return List(value).Map(name, in).Index(Int(0)) }

type vars []Expr

func (e Expr) macro(name string, variables vars, args ...Expr) Expr {
	open := "." + name + "(" + variables[0].String() + ","
	for _, v := range variables[1:] {
		open += " " + v.String() + ","
	}
	return e.link(dot, bracketed(open, ")", line, line, args))
}

// Selections. Field takes the names of properties in a schema. Optional takes the names of
// properties in an object without a schema. Each property is in the object before it.

func (e Expr) Index(key Expr) Expr      { return e.index("[", key) }
func (e Expr) OptionalAt(key Expr) Expr { return e.index("[?", key) }

func (e Expr) index(open string, key Expr) Expr {
	return e.link(never, bracketed(open, "]", soft, line, []Expr{key}))
}

func (e Expr) Field(names ...string) Expr {
	for _, name := range names {
		escaped, _ := apiservercel.Escape(name)
		e = e.link(never, Var("."+escaped))
	}
	return e
}

func (e Expr) Optional(names ...string) Expr {
	for _, name := range names {
		if IsIdentifier(name) {
			e = e.link(never, Var(".?"+name))
		} else {
			e = e.OptionalAt(String(name))
		}
	}
	return e
}

// IsName reports whether e is a variable or a constant: there is no need to bind it to a name.
func (e Expr) IsName() bool { return e.prec == precAtom && len(e.parts) == 1 }

// IsIdentifier reports whether CEL allows a name for a variable, or for a field without a schema.
func IsIdentifier(name string) bool { return identifier.MatchString(name) && !reserved[name] }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are the words that CEL rejects as identifiers.
var reserved = map[string]bool{"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true,
	"if": true, "import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true}
