package formula

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// interval has the integers from least up to, but not including, limit. A nil bound excludes none.
type interval struct{ least, limit *int64 }

// scale has the formulas that an integer, or the size of a string or list, is less than a number.
type scale struct {
	*Place // in the sent object
	less   map[int64]logic.Lit
}

func (c *scale) below(n int64) logic.Lit {
	l, ok := c.less[n]
	if !ok {
		l = c.space.Var()
		c.less[n] = l
	}
	return l
}

// within returns the formula that the number is in an interval.
func (c *scale) within(i interval) logic.Lit {
	l := logic.True
	if i.least != nil {
		l = c.space.And(l, c.below(*i.least).Not())
	}
	if i.limit != nil {
		l = c.space.And(l, c.below(*i.limit))
	}
	return l
}

// bounds relates what questions, keywords and constants say of one number: rules and keywords may state
// the same bound, also in several schemas.
func (s *Space) bounds() {
	scales := map[*Place]*scale{}
	var order []*scale
	of := func(p *Place) *scale {
		if p.base != nil {
			p = p.base
		}
		c := scales[p]
		if c == nil {
			c = &scale{p, map[int64]logic.Lit{}}
			scales[p], order = c, append(order, c)
		}
		return c
	}
	for _, key := range sortedKeys(s.questions) {
		q := s.questions[key]
		p := q.At
		if q.Schema == nil {
			p = q.measured()
		}
		// The API server accepts a list for a string with a format, and a stored object may lack defaults.
		if p == nil || p.Schema == nil || p.Old || kindOf(p) == "string" && p.Schema.Format != "" || isIntOrString(p) || p.base != nil && kindOf(p.base) != kindOf(p) {
			continue
		}
		if q.Schema == nil {
			if _, c, ok := s.comparison(q); ok {
				s.implies(p.wasSent(), s.Equal(c.below, of(p).below((c.bound+1)>>1)))
			}
		} else if i, exact := intervalOf(q.Schema, kindOf(p)); i != (interval{}) {
			within := of(p).within(i)
			s.implies(s.And(p.wasSent(), q.Holds.Lit), within)
			if exact {
				s.implies(s.And(p.wasSent(), within), q.Holds.Lit)
			}
		}
	}
	for _, c := range order {
		if i, _ := intervalOf(c.Schema, kindOf(c.Place)); i != (interval{}) {
			s.implies(c.present, c.within(i))
		}
		if c.empty != nil {
			s.implies(c.present, s.Equal(c.empty.Lit, c.below(1)))
		}
		points := slices.Sorted(maps.Keys(c.less))
		for i, point := range points {
			if i > 0 {
				s.implies(c.less[points[i-1]], c.less[point])
			}
			for _, f := range c.equals {
				if n, ok := magnitude(f.Constant); ok {
					s.implies(f.Lit, c.less[point].If(n < point))
				}
			}
		}
	}
}

// magnitude returns an integer, or the size of a string.
func magnitude(v any) (int64, bool) {
	if text, ok := v.(string); ok {
		return int64(utf8.RuneCountInString(text)), true
	}
	n, ok := v.(int64)
	return n, ok
}

// measured returns the integer, string or list whose number or size a question compares with a constant, or nil.
func (q *Question) measured() *Place {
	compared := q.sides()
	if compared.rule == nil || len(q.Reads) != 1 {
		return nil
	}
	left := compared.left
	sized := function(left) == "size"
	if sized {
		left = operands(left)[0]
	}
	p := q.Reads[0]
	_, isNumber := literal(compared.right).(number)
	old, path, ok := selection(left, nil)
	exact := ok && isNumber && old == (p.Old != q.At.Old) && slices.Equal(p.Path(), append(q.At.Path(), path...))
	kind := kindOf(p)
	if !exact || sized != (kind == "string" || kind == "array") || !sized && kind != "integer" {
		return nil
	}
	return p
}

// intervalOf returns the bounds of a schema for an integer, or for the size of a string or list. It is exact if
// the schema has no other keywords.
func intervalOf(k *apiextensionsv1.JSONSchemaProps, kind string) (i interval, exact bool) {
	rest := *k
	rest.Nullable = false
	if rest.Type == kind {
		rest.Type = ""
	}
	switch kind {
	case "integer":
		rest.Minimum, rest.Maximum, rest.ExclusiveMinimum, rest.ExclusiveMaximum = nil, nil, false, false
		whole := func(f *float64) bool { return f == nil || *f == math.Trunc(*f) && math.Abs(*f) < 1<<53 }
		if !whole(k.Minimum) || !whole(k.Maximum) {
			return i, false
		}
		switch k.Format {
		case "int32":
			rest.Format, i = "", interval{after(math.MinInt32, false), after(math.MaxInt32, true)}
		case "int64":
			rest.Format = ""
		}
		if k.Minimum != nil && (i.least == nil || int64(*k.Minimum) >= *i.least) {
			i.least = after(int64(*k.Minimum), k.ExclusiveMinimum)
		}
		if k.Maximum != nil && (i.limit == nil || int64(*k.Maximum) < *i.limit) {
			i.limit = after(int64(*k.Maximum), !k.ExclusiveMaximum)
		}
	case "string":
		i.least, i.limit = k.MinLength, k.MaxLength
		rest.MinLength, rest.MaxLength = nil, nil
	case "array":
		i.least, i.limit = k.MinItems, k.MaxItems
		rest.MinItems, rest.MaxItems = nil, nil
	}
	if kind != "integer" && i.limit != nil {
		if *i.limit == math.MaxInt64 {
			i.limit = nil
		} else {
			i.limit = after(*i.limit, true)
		}
	}
	return i, isAny(&rest)
}

// after returns the next number if next is set, and otherwise the number.
func after(n int64, next bool) *int64 {
	if next {
		n++
	}
	return &n
}
