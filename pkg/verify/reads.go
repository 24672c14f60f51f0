package verify

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// read is one thing that a rule, or a constraint, wants to know of the object
// it stands on.
type read struct {
	old  bool // of the old object
	path []string
	kind readKind
	by   string // the function that reads content, when it is one
}

type readKind int

const (
	presence readKind = iota + 1 // has()
	emptiness
	sameness // compared with the same path of the old object
	compared // with literals, by == or in
	content
)

// reading is what a rule reads.
type reading struct {
	reads []read
	// literals are the strings and numbers it mentions.
	literals []any
	// patterns are the regular expressions it mentions.
	patterns []string
	usesOld  bool
}

// paths are where the rule looks, in either object.
func (r *reading) paths() [][]string {
	var l [][]string
	for _, r := range r.reads {
		l = append(l, r.path)
	}
	return l
}

// readRule finds out what a CEL rule reads.
func readRule(rule string) (*reading, error) {
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	parsed, issues := env.Parse(rule)
	if issues.Err() != nil {
		return nil, fmt.Errorf("the rule is not CEL: %s", firstLine(issues.Err().Error()))
	}
	v := &reader{reading: &reading{}, shadowed: map[string]int{}}
	v.visit(parsed.NativeRep().Expr())
	return v.reading, nil
}

type reader struct {
	*reading
	shadowed map[string]int // variables of comprehensions
	within   string         // the function whose arguments are visited
}

func (v *reader) add(old bool, path []string, kind readKind) {
	r := read{old: old, path: path, kind: kind}
	if kind == content {
		r.by = v.within
	}
	v.reads = append(v.reads, r)
	v.usesOld = v.usesOld || old
}

func (v *reader) visit(e ast.Expr) {
	if old, path, ok := v.path(e); ok {
		kind := content
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			kind = presence
		}
		v.add(old, path, kind)
		return
	}
	switch e.Kind() {
	case ast.LiteralKind:
		switch l := e.AsLiteral().(type) {
		case types.String:
			v.literals = append(v.literals, string(l))
		case types.Int:
			v.literals = append(v.literals, int64(l))
		}
	case ast.SelectKind:
		v.visit(e.AsSelect().Operand())
	case ast.CallKind:
		v.call(e.AsCall())
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			v.visit(item)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			v.visit(entry.AsMapEntry().Key())
			v.visit(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			v.visit(field.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		v.visit(c.IterRange())
		v.visit(c.AccuInit())
		vars := []string{c.IterVar(), c.AccuVar(), c.IterVar2()}
		for _, name := range vars {
			v.shadowed[name]++
		}
		v.visit(c.LoopCondition())
		v.visit(c.LoopStep())
		v.visit(c.Result())
		for _, name := range vars {
			v.shadowed[name]--
		}
	}
}

func (v *reader) call(c ast.CallExpr) {
	args := c.Args()
	if c.IsMemberFunction() && c.FunctionName() == "hasValue" {
		if old, path, ok := v.path(c.Target()); ok {
			v.usesOld = v.usesOld || old
			if len(path) > 0 {
				v.add(old, path, presence)
			}
			return
		}
	}
	if c.FunctionName() == "matches" && len(args) > 0 {
		if pattern, ok := literalText(args[len(args)-1]); ok {
			v.patterns = append(v.patterns, pattern)
		}
	}
	if len(args) == 2 && v.compare(c.FunctionName(), args[0], args[1]) {
		return
	}
	defer func(outer string) { v.within = outer }(v.within)
	if v.within = c.FunctionName(); v.within == operators.Conditional {
		v.within = "?:"
	} else if symbol, ok := operators.FindReverse(v.within); ok {
		v.within = symbol
	}
	if c.IsMemberFunction() {
		v.visit(c.Target())
	}
	for _, a := range args {
		v.visit(a)
	}
}

func isTest(e ast.Expr) bool { return e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() }

// path follows selections down to self or oldSelf.
func (v *reader) path(e ast.Expr) (old bool, path []string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		if v.shadowed[name] > 0 {
			return false, nil, false
		}
		return name == "oldSelf", nil, name == "self" || name == "oldSelf"
	case ast.SelectKind:
		s := e.AsSelect()
		if isTest(s.Operand()) {
			return false, nil, false
		}
		if old, path, ok = v.path(s.Operand()); !ok {
			return false, nil, false
		}
		return old, append(slices.Clip(path), unescape(s.FieldName())), true
	case ast.CallKind:
		c := e.AsCall()
		switch {
		case c.IsMemberFunction() && c.FunctionName() == "value" && len(c.Args()) == 0:
			return v.path(c.Target())
		case (c.FunctionName() == operators.OptSelect || c.FunctionName() == operators.Index || c.FunctionName() == operators.OptIndex) && len(c.Args()) == 2:
			key, isText := literalText(c.Args()[1])
			if old, path, ok = v.path(c.Args()[0]); !ok || !isText {
				return false, nil, false
			}
			if c.FunctionName() == operators.OptSelect {
				key = unescape(key)
			}
			return old, append(slices.Clip(path), key), true
		}
	}
	return false, nil, false
}

func literalText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// unescape turns the name of a field in CEL into that of the property.
func unescape(name string) string {
	if plain, ok := apiservercel.Unescape(name); ok {
		return plain
	}
	return name
}
