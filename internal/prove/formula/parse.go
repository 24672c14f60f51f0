package formula

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// environmentOf parses rules like the API server. It also records macro calls.
var environmentOf = sync.OnceValues(func() (*cel.Env, error) {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().Extend(cel.EnableMacroCallTracking())
})

// Rule is a parsed CEL rule, or the content of a schema's keywords.
type Rule struct {
	tree *ast.AST
	// quote encloses the strings in the rule. It is empty if the rule has none, or both quotes.
	quote string
	// Paths are the paths that the rule reads in the object or the old object. An empty path is the
	// whole object.
	Paths [][]string
	// Literals are the strings and integers (int64) in the rule.
	Literals []any
	// Patterns are the regular expressions in the rule.
	Patterns []string
	// ReadsOld means that the rule mentions oldSelf. AsksOld means that it reads more of the old
	// value than its existence.
	ReadsOld, AsksOld bool
	// Costly means that the estimated cost of the rule, for objects up to the size [server.LargestObject], exceeds
	// the limit of one evaluation (PerCallLimit in k8s.io/apiserver/pkg/apis/cel), and not the budget
	// of a rule, beyond which the API server rejects the CRD. A [Program] knows it.
	Costly bool
}

// Parse parses a rule.
func Parse(rule string) (*Rule, error) {
	env, err := environmentOf()
	if err != nil {
		return nil, err
	}
	parsed, issues := env.Parse(rule)
	if issues.Err() != nil {
		line, _, _ := strings.Cut(issues.Err().Error(), "\n")
		return nil, fmt.Errorf("the rule is not CEL: %s", line)
	}
	r := &Rule{tree: parsed.NativeRep()}
	switch single, double := strings.Contains(rule, "'"), strings.Contains(rule, `"`); {
	case single && !double:
		r.quote = "'"
	case double && !single:
		r.quote = `"`
	}
	r.visit(r.tree.Expr(), nil)
	return r, nil
}

// visit collects the content of an expression. shadowed are the variables of enclosing macros.
func (r *Rule) visit(e ast.Expr, shadowed []string) {
	if old, path, ok := selection(e, shadowed); ok {
		r.Paths = append(r.Paths, path)
		r.ReadsOld, r.AsksOld = r.ReadsOld || old, r.AsksOld || old
		return
	}
	switch e.Kind() {
	case ast.LiteralKind:
		switch l := e.AsLiteral().(type) {
		case types.String:
			r.Literals = append(r.Literals, string(l))
		case types.Int:
			r.Literals = append(r.Literals, int64(l))
		}
	case ast.CallKind:
		c := e.AsCall()
		if c.IsMemberFunction() && c.FunctionName() == "hasValue" {
			if old, path, ok := selection(c.Target(), shadowed); ok && len(path) == 0 {
				r.ReadsOld = r.ReadsOld || old
				return
			}
		}
		if pattern, ok := literal(last(c.Args())).(string); ok && c.FunctionName() == "matches" {
			r.Patterns = append(r.Patterns, pattern)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		r.visit(c.IterRange(), shadowed)
		r.visit(c.AccuInit(), shadowed)
		inner := append(slices.Clip(shadowed), c.IterVar(), c.AccuVar(), c.IterVar2())
		for _, sub := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
			r.visit(sub, inner)
		}
		return
	}
	for _, sub := range operands(e) {
		r.visit(sub, shadowed)
	}
}

func last(l []ast.Expr) ast.Expr {
	if len(l) == 0 {
		return nil
	}
	return l[len(l)-1]
}

// EachItem returns an equivalent rule on the items of a list. list is the property with the list,
// or "" if r is on the list itself. ok is true if r is all() over the list, optionally guarded
// against an absent list, and reads only the item.
func (r *Rule) EachItem() (list, rule string, ok bool) {
	e, guard := r.tree.Expr(), []string(nil)
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.LogicalOr {
		or := e.AsCall().Args()
		not := or[0]
		if len(or) != 2 || not.Kind() != ast.CallKind || not.AsCall().FunctionName() != operators.LogicalNot {
			return "", "", false
		}
		has := not.AsCall().Args()[0]
		if has.Kind() != ast.SelectKind || !has.AsSelect().IsTestOnly() {
			return "", "", false
		}
		_, guard, _ = selection(has, nil)
		e = or[1]
	}
	path, condition, ok := eachItem(e, r.tree.SourceInfo())
	if !ok || len(path) > 1 || !slices.Equal(path, guard) {
		return "", "", false
	}
	text, err := parser.Unparse(condition, r.tree.SourceInfo())
	return strings.Join(path, ""), fmt.Sprintf("[self].all(%s, %s)", e.AsComprehension().IterVar(), text), err == nil
}

// eachItem returns the list in self and the condition on its items if an expression is all() over the
// list, and reads only the item.
func eachItem(e ast.Expr, info *ast.SourceInfo) (list []string, condition ast.Expr, ok bool) {
	macro := info.MacroCalls()[e.ID()]
	if e.Kind() != ast.ComprehensionKind || macro == nil || macro.AsCall().FunctionName() != operators.All || len(macro.AsCall().Args()) != 2 {
		return nil, nil, false
	}
	c := e.AsComprehension()
	old, path, ok := selection(c.IterRange(), nil)
	inner := &Rule{}
	inner.visit(c.LoopStep(), []string{c.IterVar(), c.AccuVar()})
	return path, macro.AsCall().Args()[1], ok && !old && len(inner.Paths) == 0 && !inner.ReadsOld
}

// selection returns the path that an expression selects from self or oldSelf.
func selection(e ast.Expr, shadowed []string) (old bool, path []string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		return name == "oldSelf", nil, (name == "self" || name == "oldSelf") && !slices.Contains(shadowed, name)
	case ast.SelectKind:
		s := e.AsSelect()
		if old, path, ok = selection(s.Operand(), shadowed); ok {
			path = append(path, unescaped(s.FieldName()))
		}
		return old, path, ok
	case ast.CallKind:
		c := e.AsCall()
		switch name := c.FunctionName(); {
		case name == "value" && c.IsMemberFunction():
			return selection(c.Target(), shadowed)
		case name == operators.OptSelect || name == operators.Index || name == operators.OptIndex:
			key, isText := literal(c.Args()[1]).(string)
			if old, path, ok = selection(c.Args()[0], shadowed); !ok || !isText {
				return false, nil, false
			}
			if name == operators.OptSelect {
				key = unescaped(key)
			}
			return old, append(path, key), true
		}
	}
	return false, nil, false
}

// unescaped returns the name of the property that has a name in CEL.
func unescaped(name string) string {
	if plain, ok := apiservercel.Unescape(name); ok {
		return plain
	}
	return name
}

// Mentioned returns the content of a schema's keywords other than rules.
func Mentioned(s *apiextensionsv1.JSONSchemaProps) *Rule {
	r := &Rule{}
	r.mention(s, nil)
	return r
}

func (r *Rule) mention(s *apiextensionsv1.JSONSchemaProps, path []string) {
	if len(path) > maxDepth {
		return
	}
	below := func(name string) []string { return append(slices.Clip(path), name) }
	for _, name := range s.Required {
		r.Paths = append(r.Paths, below(name))
	}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name]
		r.mention(&p, below(name))
	}
	r.Literals = append(r.Literals, EnumValues(s)...)
	if s.Pattern != "" {
		r.Patterns = append(r.Patterns, s.Pattern)
	}
	if len(path) > 0 {
		r.Paths = append(r.Paths, path)
	}
	for _, l := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range l {
			r.mention(&l[i], path)
		}
	}
	if s.Not != nil {
		r.mention(s.Not, path)
	}
}

// ReadsOld reports whether a rule depends on the old object, or may depend on it. A rule that
// cannot be parsed does so only with optionalOldSelf.
func ReadsOld(r apiextensionsv1.ValidationRule) bool {
	read, err := Parse(r.Rule)
	return err == nil && read.ReadsOld || HasOptionalOldSelf(r)
}

// HasOptionalOldSelf reports whether oldSelf is an optional value in a rule.
func HasOptionalOldSelf(r apiextensionsv1.ValidationRule) bool {
	return r.OptionalOldSelf != nil && *r.OptionalOldSelf
}

// Reads returns the properties that a rule reads, as paths from its schema. The result is empty if
// the rule cannot be parsed.
func Reads(r apiextensionsv1.ValidationRule) [][]string {
	read, err := Parse(r.Rule)
	if err != nil {
		return nil
	}
	return read.Paths
}
