package cel

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// node is an expression that consists of parts. It is on one line if it fits. Otherwise it breaks
// before each part with a break.
type node struct {
	prec  precedence
	parts []nodePart
	width int // the width on one line
	links int // parts that follow the first one after a dot or in brackets
}

// nodePart is a text or an expression.
type nodePart struct {
	brk    brk // the break before the part
	indent int // the indentation of the line after the break, relative to the node
	hang   int // the indentation of further lines of the part, relative to its first line
	text   string
	expr   Expr
}

// brk is a possible line break.
type brk int

const (
	never brk = iota
	soft      // line break, or nothing
	line      // line break, or space
	fill      // line break before a part that does not fit, or space
	dot       // line break in a chain of more than two macros, or nothing
)

// unbounded is the width of an expression that never fits on a line.
const unbounded = 1 << 20

func newExpr(p precedence, parts ...nodePart) Expr {
	n := &node{prec: p, parts: parts}
	for _, part := range parts {
		n.width += part.width()
	}
	return Expr{n}
}

func (p nodePart) width() int {
	w := utf8.RuneCountInString(p.text)
	if p.expr.node != nil {
		w += p.expr.width
	}
	if p.brk == line || p.brk == fill {
		w++
	}
	return w
}

// bracketed returns items in brackets, with breaks before the first item and before the others. A
// single item with brackets of its own shares their lines.
func bracketed[T Expr | MapEntry](open, end string, first, other brk, items []T) Expr {
	if len(items) == 0 {
		return Var(open + end)
	}
	sole := Expr(items[0])
	if len(items) == 1 && sole.prec == precAtom && (first == soft || sole.links == 0) {
		if first == line {
			open += " "
		}
		return newExpr(precAtom, nodePart{text: open}, nodePart{expr: sole}, nodePart{text: end})
	}
	parts := []nodePart{{text: open}, {brk: first, indent: 1, expr: sole}}
	for _, item := range items[1:] {
		parts = append(parts, nodePart{text: ","}, nodePart{brk: other, indent: 1, expr: Expr(item)})
	}
	return newExpr(precAtom, append(parts, nodePart{brk: soft, text: end})...)
}

// link appends a selection or a call to e.
func (e Expr) link(b brk, behind Expr) Expr {
	head := []nodePart{{expr: e.operand(precAtom)}}
	if e.links > 0 {
		head = e.parts
	}
	linked := newExpr(precAtom, append(slices.Clip(head), nodePart{brk: b, indent: 1, expr: behind})...)
	linked.links = e.links + 1
	return linked
}

// String returns the expression on one line.
func (e Expr) String() string { return e.print(math.MaxInt) }

// Layout returns the expression on lines of about 100 columns, as far as it can be broken.
func (e Expr) Layout() string { return e.print(100) }

func (e Expr) print(limit int) string {
	p := printer{limit: limit}
	p.print(e.node, 0)
	return p.text.String()
}

// printer prints nodes on lines of limited length.
type printer struct {
	text   strings.Builder
	column int
	limit  int
}

func (p *printer) print(n *node, indent int) {
	broken, in := p.column+n.width > p.limit, indent
	for _, part := range n.parts {
		switch {
		case broken && p.breaks(n, part):
			in = indent + part.indent
			p.text.WriteString("\n" + strings.Repeat("  ", in))
			p.column = 2 * in
		case part.brk == line || part.brk == fill:
			p.write(" ")
		}
		if p.write(part.text); part.expr.node != nil {
			p.print(part.expr.node, in+part.hang)
		}
	}
}

func (p *printer) write(text string) {
	p.text.WriteString(text)
	p.column += utf8.RuneCountInString(text)
}

// breaks reports whether a line breaks before a part of a node that does not fit on one line.
func (p *printer) breaks(n *node, next nodePart) bool {
	switch next.brk {
	case fill:
		return p.column+next.width() >= p.limit // a comma follows
	case dot:
		macros := slices.DeleteFunc(slices.Clone(n.parts), func(p nodePart) bool { return p.brk != dot })
		return len(macros) > 2
	}
	return next.brk != never
}
