package formula

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// Usage is how a rule uses the value at a path of self or oldSelf. A path only in has() has a zero
// usage.
type Usage struct {
	Path []string
	// Literals are the strings, numbers and booleans that ==, != or in compares the value with.
	Literals []any
	Sized    bool // its size is read
	Truth    bool // it is an operand of a logical operator
	Other    bool // it is read in another way
}

// Reads reports whether the rule reads the value.
func (u Usage) Reads() bool { return len(u.Literals) > 0 || u.Sized || u.Truth || u.Other }

// Usages returns the usages of paths.
func (r *Rule) Usages() []Usage {
	u := &usages{}
	if r.tree != nil {
		u.visit(r.tree.Expr())
	}
	return u.list
}

type usages struct{ list []Usage }

// of returns the usage of the value that an expression selects, or nil.
func (u *usages) of(e ast.Expr) *Usage {
	_, path, ok := selection(e, nil)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(u.list, func(known Usage) bool { return slices.Equal(known.Path, path) })
	if i < 0 {
		i, u.list = len(u.list), append(u.list, Usage{Path: path})
	}
	return &u.list[i]
}

func (u *usages) visit(e ast.Expr) {
	if use := u.of(e); use != nil {
		use.Other = use.Other || e.Kind() != ast.SelectKind || !e.AsSelect().IsTestOnly()
		return
	}
	args := operands(e)
	switch name := function(e); name {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional:
		for i, arg := range args {
			if use := u.of(arg); use != nil && (name != operators.Conditional || i == 0) {
				tested := arg.Kind() == ast.SelectKind && arg.AsSelect().IsTestOnly()
				use.Truth = use.Truth || !tested
				continue
			}
			u.visit(arg)
		}
		return
	case operators.Equals, operators.NotEquals:
		if u.compares(args[0], args[1]) || u.compares(args[1], args[0]) {
			return
		}
	case operators.In:
		if args[1].Kind() == ast.ListKind && u.compares(args[0], args[1].AsList().Elements()...) {
			return
		}
	case "size":
		if use := u.of(args[0]); use != nil && len(args) == 1 {
			use.Sized = true
			return
		}
	}
	for _, arg := range args {
		u.visit(arg)
	}
}

// compares records the comparison of a value with literals. It reports whether it is one.
func (u *usages) compares(e ast.Expr, with ...ast.Expr) bool {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
		return false
	}
	var l []any
	for _, w := range with {
		if w.Kind() != ast.LiteralKind {
			return false
		}
		switch v := w.AsLiteral().Value().(type) {
		case string, int64, float64, bool:
			l = append(l, v)
		default:
			return false
		}
	}
	use := u.of(e)
	if use == nil {
		return false
	}
	for _, v := range l {
		if !slices.Contains(use.Literals, v) {
			use.Literals = append(use.Literals, v)
		}
	}
	return true
}
