package formula

import (
	"errors"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Bounds of what is read.
const (
	maxSteps = 200_000   // expressions evaluated for one rule
	maxGates = 2_000_000 // of a space
	// maxConstants bounds what a place is compared with: each two exclude each other.
	maxConstants = 600
	// maxNumber bounds what is added up: no rule adds up enough of these to overflow.
	maxNumber = 1 << 31
)

// unread ends reading a rule.
type unread struct{ error }

var (
	errTooLarge = unread{errors.New("the rule is too large to be read")}
	errDyn      = unread{errors.New("the rule hides the type of a value that is not understood")}
)

// Formula is a CEL rule, or a keyword of a schema, as a formula of a [Space].
type Formula struct {
	// Holds and Fails say that it is true, and that evaluating it is an error. Both
	// are about objects in which the value that it stands on is there, and for rules
	// that read oldSelf without optionalOldSelf so is the old one.
	Holds, Fails logic.Lit
}

// Old is what oldSelf is to a rule.
type Old int

// Of a rule with optionalOldSelf it is an optional value; without a value below lists
// where the API server does not match new items with old ones.
const (
	Plain Old = iota
	Optional
	Missing
)

// Rule reads a rule on the value at self, a place of the new object. An error says why
// it cannot be read.
func (s *Space) Rule(rule *Rule, self *Place, old Old) (f Formula, err error) {
	r := &reader{Space: s, self: self, old: old, info: rule.tree.SourceInfo(), most: 2, vars: map[string]value{}, args: map[int64][]value{}}
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
	return Formula{Holds: holds, Fails: s.Or(holds, refused).Not()}, nil
}

// reader reads one rule.
type reader struct {
	*Space
	self      *Place
	old       Old
	info      *ast.SourceInfo
	most      int64 // integers from here on are the same to the rule
	constants []any // strings, int64s and bools in the rule
	vars      map[string]value
	args      map[int64][]value // of calls, by expression
	steps     int
}

// truths are the conditions on which v is true, and false. Where it is neither, using it
// as a condition is an error.
func (r *reader) truths(v value) (holds, refused logic.Lit) {
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

func (r *reader) boolean(v value) value {
	holds, refused := r.truths(v)
	return r.truth(holds, r.Or(holds, refused).Not())
}

func (r *reader) read(e ast.Expr) value {
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

// literal is a constant, or nil for those that are not modelled.
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
	case types.Null:
		return null{}
	}
	return nil
}

func (r *reader) variable(e ast.Expr) value {
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

// field is self.x, has(self.x), and the same of optional values.
func (r *reader) field(e ast.Expr) value {
	s := e.AsSelect()
	return r.selected(e, r.read(s.Operand()), s.FieldName(), s.IsTestOnly())
}

// selected is a field of each case of v, or whether it is there.
func (r *reader) selected(e ast.Expr, v value, field string, test bool) value {
	return r.each(v, func(is any) value {
		switch is := is.(type) {
		case *Place:
			p := r.property(is, field)
			switch {
			case p == nil:
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
		case strays:
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

// property is the place of a field, as CEL calls it, or of a map's key. It is nil when
// fields of p are not known.
func (r *reader) property(p *Place, field string) *Place {
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

// optionalField is x.?field.
func (r *reader) optionalField(e ast.Expr, v value, field string) value {
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

func (r *reader) list(e ast.Expr) value {
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

func (r *reader) mapping(e ast.Expr) value {
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

// comprehension unrolls what macros over lists and maps that are written out stand
// for, and what binds a variable.
func (r *reader) comprehension(e ast.Expr) value {
	c := e.AsComprehension()
	over := r.read(c.IterRange())
	if c.HasIterVar2() || len(over.cases) > 1 {
		return r.opaque(e, "")
	}
	var items list
	var others []strays
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
	// all and exists stop early where the rest does not matter; the others do not stop.
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
		if isStray(item.is) {
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
