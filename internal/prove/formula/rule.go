package formula

import (
	"errors"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Bounds of the translation.
const (
	maxSteps = 200_000   // expressions that are evaluated for one rule
	maxGates = 2_000_000 // formulas of a space
	// maxConstants bounds the constants of a place, because every pair of them needs a clause.
	maxConstants = 600
	// maxNumber bounds the terms of sums, so that sums cannot overflow.
	maxNumber = 1 << 31
)

// unread is a panic that ends the translation of a rule.
type unread struct{ error }

var (
	errTooLarge = unread{errors.New("the rule is too large to be read")}
	errDyn      = unread{errors.New("the rule hides the type of a value that is not understood")}
)

// Formula is a CEL rule, or a keyword of a schema, as a formula of a [Space].
type Formula struct {
	// Holds and Fails state that the rule is true, and that its evaluation fails. Both assume that
	// the value of the rule exists and, if the rule reads oldSelf without optionalOldSelf, that the
	// old value exists, too.
	Holds, Fails logic.Lit
	// Exceeds is the part of Fails that the evaluation exceeds the cost limit: see [Rule.Costly].
	Exceeds logic.Lit
}

// Old is the form of oldSelf in a rule.
type Old int

// The forms of oldSelf. It is Optional in a rule with optionalOldSelf. It is Missing if it never
// has a value: in lists whose items the API server does not correlate.
const (
	Plain Old = iota
	Optional
	Missing
)

// Rule translates a rule on the value at self, a place of the new object. An error is the reason
// why the rule cannot be translated.
func (s *Space) Rule(rule *Rule, self *Place, old Old) (f Formula, err error) {
	r := &ruleReader{Space: s, self: self, old: old, info: rule.tree.SourceInfo(), most: 2, vars: map[string]value{}, args: map[int64][]value{}}
	ast.PreOrderVisit(rule.tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch v := literal(e).(type) {
		case number:
			r.most = max(r.most, v.n+1)
			r.constants = append(r.constants, v.n)
		case string, bool:
			r.constants = append(r.constants, v)
		}
	}))
	defer func() {
		switch e := recover().(type) {
		case nil:
		case unread:
			err = e
		default:
			panic(e)
		}
	}()
	v := r.read(rule.tree.Expr())
	holds, refused := r.truths(v)
	exceeds := logic.False
	if rule.Costly {
		q := r.ask(rule.tree.Expr(), "the cost limit")
		q.Costly = true
		exceeds = q.Fails.Lit
		holds, refused = s.And(holds, exceeds.Not()), s.And(refused, exceeds.Not())
	}
	return Formula{Holds: holds, Fails: s.Or(holds, refused).Not(), Exceeds: exceeds}, nil
}

// ruleReader translates one rule.
type ruleReader struct {
	*Space
	self      *Place
	old       Old
	info      *ast.SourceInfo
	most      int64 // the rule does not distinguish integers from this one on
	constants []any // strings, int64s and bools in the rule
	vars      map[string]value
	args      map[int64][]value // of calls, by the id of the expression
	steps     int
}

// truths returns the conditions that v is true, and that v is false. If neither holds, v is not a
// bool, which is an error for a condition.
func (r *ruleReader) truths(v value) (holds, refused logic.Lit) {
	holds, refused = logic.False, logic.False
	for _, c := range v.cases {
		var t logic.Lit
		switch is := c.is.(type) {
		case bool:
			t = logic.True.If(is)
		case *Place:
			if !isBool(is) {
				continue
			}
			t = is.Equals(true)
		case unknown:
			t = is.q.Holds.Lit
		default:
			continue
		}
		holds, refused = r.Or(holds, r.And(c.when, t)), r.Or(refused, r.And(c.when, t.Not()))
	}
	return holds, refused
}

func (r *ruleReader) boolean(v value) value {
	holds, refused := r.truths(v)
	return r.truth(holds, r.Or(holds, refused).Not())
}

func (r *ruleReader) read(e ast.Expr) value {
	if r.steps++; r.steps > maxSteps || r.Len() > maxGates {
		panic(errTooLarge)
	}
	switch e.Kind() {
	case ast.LiteralKind:
		if l := literal(e); l != nil {
			return one(l)
		}
	case ast.IdentKind:
		return r.variable(e)
	case ast.SelectKind:
		return r.field(e)
	case ast.CallKind:
		return r.call(e)
	case ast.ListKind:
		return r.list(e)
	case ast.MapKind:
		return r.mapping(e)
	case ast.ComprehensionKind:
		return r.comprehension(e)
	}
	return r.opaque(e, "")
}

// literal returns a constant, or nil for unsupported constants.
func literal(e ast.Expr) any {
	if e == nil || e.Kind() != ast.LiteralKind {
		return nil
	}
	switch l := e.AsLiteral().(type) {
	case types.String:
		return string(l)
	case types.Bool:
		return bool(l)
	case types.Int:
		return number{n: int64(l)}
	case types.Double:
		if l == 0 {
			return zero{}
		}
	case types.Null:
		return null{}
	}
	return nil
}

func (r *ruleReader) variable(e ast.Expr) value {
	name := e.AsIdent()
	if v, ok := r.vars[name]; ok {
		return v
	}
	switch name {
	case "self":
		return one(r.self)
	case "oldSelf":
		old := r.self.Counterpart()
		switch r.old {
		case Plain:
			return one(old)
		case Missing:
			return one(none{})
		}
		there := one(old)
		return r.choose(old.Present(), one(some{&there}), one(none{}))
	}
	return r.opaque(e, "")
}

// field translates self.x and has(self.x), also for optional values.
func (r *ruleReader) field(e ast.Expr) value {
	s := e.AsSelect()
	return r.selected(e, r.read(s.Operand()), s.FieldName(), s.IsTestOnly())
}

// selected returns a field of each case of v or, if test is set, whether the field is present.
func (r *ruleReader) selected(e ast.Expr, v value, field string, test bool) value {
	return r.each(v, func(is any) value {
		switch is := is.(type) {
		case *Place:
			p := r.property(is, field)
			switch {
			case p == nil:
			case p.key != nil: // macros only read existing items
				if test {
					return one(true)
				}
				return one(p)
			case test:
				return r.truth(p.Present(), logic.False)
			default:
				return value{p.Present().Not(), []choice{{p.Present(), p}}}
			}
		case some, none:
			found := r.optionalField(e, one(is), field)
			if !test {
				return found
			}
			return r.each(found, func(is any) value {
				_, ok := is.(some)
				return one(ok)
			})
		case unknownItems:
			v, ok := is.keys[unescaped(field)]
			switch {
			case !ok:
			case test:
				return one(true)
			default:
				if n, ok := v.(int64); ok {
					v = number{n: n}
				}
				return one(v)
			}
		case mapping:
			i := slices.Index(is.keys, field)
			switch {
			case test:
				return one(i >= 0)
			case i >= 0:
				return is.values[i]
			}
			return failure()
		}
		return r.opaque(e, "")
	})
}

// property returns the place of a field, by its name in CEL, or of a map key. It is nil if the
// fields of p are unknown.
func (r *ruleReader) property(p *Place, field string) *Place {
	s := p.Schema
	if s == nil || s.Type != "object" || s.XPreserveUnknownFields != nil && len(s.Properties) == 0 {
		return nil
	}
	if len(s.Properties) == 0 {
		if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil || s.AdditionalProperties.Schema.Nullable {
			return nil
		}
		return p.Child(field)
	}
	field = unescaped(field)
	if _, ok := s.Properties[field]; !ok {
		return nil
	}
	return p.Child(field)
}

// optionalField translates x.?field.
func (r *ruleReader) optionalField(e ast.Expr, v value, field string) value {
	return r.each(v, func(is any) value {
		switch is := is.(type) {
		case *Place:
			p := r.property(is, field)
			if p == nil {
				return r.opaque(e, "")
			}
			there := one(p)
			return r.choose(p.Present(), one(some{&there}), one(none{}))
		case some:
			return r.optionalField(e, *is.is, field)
		case none:
			return one(none{})
		case mapping:
			if i := slices.Index(is.keys, field); i >= 0 {
				return value{is.values[i].fails, []choice{{is.values[i].fails.Not(), some{&is.values[i]}}}}
			}
			return one(none{})
		}
		return r.opaque(e, "")
	})
}

func (r *ruleReader) list(e ast.Expr) value {
	l := e.AsList()
	out, fails := list{}, logic.False
	for i, item := range l.Elements() {
		v := r.read(item)
		fails = r.Or(fails, v.fails)
		if !l.IsOptional(int32(i)) {
			out = append(out, &element{logic.True, v})
			continue
		}
		for _, c := range v.cases {
			switch is := c.is.(type) {
			case some:
				out = append(out, &element{c.when, *is.is})
			case none:
			default:
				return r.opaque(e, "")
			}
		}
	}
	return value{fails, []choice{{fails.Not(), out}}}
}

func (r *ruleReader) mapping(e ast.Expr) value {
	var m mapping
	fails := logic.False
	for _, entry := range e.AsMap().Entries() {
		entry := entry.AsMapEntry()
		key, ok := literal(entry.Key()).(string)
		if !ok || entry.IsOptional() || slices.Contains(m.keys, key) {
			return r.opaque(e, "")
		}
		v := r.read(entry.Value())
		fails = r.Or(fails, v.fails)
		m.keys, m.values = append(m.keys, key), append(m.values, v)
	}
	return value{fails, []choice{{fails.Not(), m}}}
}

// comprehension unrolls macros over literal lists and maps, and over list items distinguished by
// keys. It also translates bindings of variables.
func (r *ruleReader) comprehension(e ast.Expr) value {
	c := e.AsComprehension()
	if c.HasIterVar2() {
		return r.opaque(e, "")
	}
	over := r.read(c.IterRange())
	if len(over.cases) > 1 { // such as self.?list.orValue([])
		return r.each(over, func(is any) value { return r.unrolled(e, one(is)) })
	}
	return r.unrolled(e, over)
}

// unrolled is comprehension over a single list or map.
func (r *ruleReader) unrolled(e ast.Expr, over value) value {
	c := e.AsComprehension()
	var items list
	var others []unknownItems
	if len(over.cases) == 1 {
		switch is := over.cases[0].is.(type) {
		case *Place:
			ok := false
			if items, others, ok = r.items(is); !ok {
				return r.opaque(e, "")
			}
		case list:
			items = is
		case mapping:
			for _, k := range is.keys {
				items = append(items, &element{logic.True, one(k)})
			}
		default:
			return r.opaque(e, "")
		}
	}
	// all and exists may stop before the last item. Other macros do not stop.
	if cond := c.LoopCondition(); !(literal(cond) == true || cond.Kind() == ast.CallKind && cond.AsCall().FunctionName() == operators.NotStrictlyFalse) && len(items) > 0 {
		return r.opaque(e, "")
	}
	bind := func(name string, v value, do func() value) value {
		before, bound := r.vars[name]
		r.vars[name] = v
		defer func() {
			if delete(r.vars, name); bound {
				r.vars[name] = before
			}
		}()
		return do()
	}
	accu := r.read(c.AccuInit())
	step := func(item value) value {
		return bind(c.IterVar(), item, func() value {
			return bind(c.AccuVar(), accu, func() value { return r.read(c.LoopStep()) })
		})
	}
	for _, item := range items {
		if isOther(item.is) {
			if _, ok := effect(accu, step(item.is)); !ok {
				return r.opaque(e, "")
			}
		}
	}
	for _, s := range others {
		changed, ok := effect(accu, step(one(s)))
		if ok && changed {
			var more list
			more, ok = r.counted(over.cases[0].is.(*Place), s, accu)
			items = append(items, more...)
		}
		if !ok {
			return r.opaque(e, "")
		}
	}
	for _, item := range items {
		accu = r.choose(item.when, step(item.is), accu)
	}
	result := bind(c.AccuVar(), accu, func() value { return r.read(c.Result()) })
	result.fails = r.Or(over.fails, result.fails)
	result.cases = slices.Clone(result.cases)
	for i := range result.cases {
		result.cases[i].when = r.And(over.fails.Not(), result.cases[i].when)
	}
	return r.normal(result)
}
