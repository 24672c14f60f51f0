package formula

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// value has the possible results of an expression: an error, or one of several cases. The
// conditions of the cases exclude each other, and one of them holds.
type value struct {
	fails logic.Lit
	cases []choice
}

type choice struct {
	when logic.Lit
	is   any
}

// The types of a choice in addition to string, bool and [*Place].
type (
	// number is an integer. With more, it is any integer that is not smaller.
	number struct {
		n    int64
		more bool
	}
	// list is the items of a list, in order.
	list []*element
	// element is an item that exists if the formula holds.
	element struct {
		when logic.Lit
		is   value
	}
	// mapping is a map with string keys.
	mapping struct {
		keys   []string
		values []value
	}
	// size is the number of items, entries or characters at a place.
	size struct{ of *Place }
	// some is an optional value.
	some struct{ is *value }
	none struct{}
	// zero is the number 0.0.
	zero struct{}
	null struct{}
	// unknown is the result of an unsupported expression; see [Question].
	unknown struct{ q *Question }
)

func one(is any) value { return value{logic.False, []choice{{logic.True, is}}} }

func failure() value { return value{fails: logic.True} }

// truth returns a bool with the condition that it is true, and the condition of an error.
func (s *Space) truth(holds, fails logic.Lit) value {
	return s.normal(value{fails, []choice{
		{s.And(fails.Not(), holds), true},
		{s.And(fails.Not(), holds.Not()), false},
	}})
}

// maxCases bounds the cases of an expression.
const maxCases = 1000

// add adds a case, or merges it with an equal case. All lists share one case.
func (s *Space) add(cases []choice, when logic.Lit, is any) []choice {
	if when == logic.False {
		return cases
	}
	for i, c := range cases {
		switch is := is.(type) {
		case list:
			if l, ok := c.is.(list); ok {
				cases[i] = choice{s.Or(c.when, when), s.either(c.when, l, when, is)}
				return cases
			}
		case string, bool, number, size, none, null, *Place, unknown:
			if c.is == is {
				cases[i].when = s.Or(c.when, when)
				return cases
			}
		}
	}
	if len(cases) > maxCases {
		panic(errTooLarge)
	}
	return append(cases, choice{when, is})
}

// either returns l if when holds, and m if otherwise holds. The conditions exclude each other.
func (s *Space) either(when logic.Lit, l list, otherwise logic.Lit, m list) list {
	n := 0
	for n < len(l) && n < len(m) && l[n] == m[n] {
		n++
	}
	out := slices.Clone(l[:n])
	for _, e := range l[n:] {
		out = append(out, &element{s.And(when, e.when), e.is})
	}
	for _, e := range m[n:] {
		out = append(out, &element{s.And(otherwise, e.when), e.is})
	}
	return out
}

// normal removes impossible cases and merges equal cases.
func (s *Space) normal(v value) value {
	var cases []choice
	for _, c := range v.cases {
		cases = s.add(cases, c.when, c.is)
	}
	v.cases = cases
	return v
}

// choose returns a if cond holds, and b otherwise.
func (s *Space) choose(cond logic.Lit, a, b value) value {
	switch cond {
	case logic.True:
		return a
	case logic.False:
		return b
	}
	if same(a, b) { // the result does not depend on cond
		return a
	}
	v := value{fails: s.Choose(cond, a.fails, b.fails)}
	for _, c := range a.cases {
		v.cases = s.add(v.cases, s.And(cond, c.when), c.is)
	}
	for _, c := range b.cases {
		v.cases = s.add(v.cases, s.And(cond.Not(), c.when), c.is)
	}
	return v
}

// same reports whether two values have the same cases. Values that it cannot compare are different.
func same(a, b value) bool {
	return a.fails == b.fails && len(a.cases) == len(b.cases) && !slices.ContainsFunc(a.cases, func(x choice) bool {
		return !slices.ContainsFunc(b.cases, func(y choice) bool {
			if x.when != y.when {
				return false
			}
			switch is := x.is.(type) {
			case list:
				l, ok := y.is.(list)
				return ok && slices.Equal(is, l)
			case string, bool, number, size, none, null, *Place, unknown:
				return x.is == y.is
			}
			return false
		})
	})
}

// each applies a function to every case.
func (s *Space) each(v value, what func(is any) value) value {
	out := value{fails: v.fails}
	for _, c := range v.cases {
		r := what(c.is)
		out.fails = s.Or(out.fails, s.And(c.when, r.fails))
		for _, d := range r.cases {
			out.cases = s.add(out.cases, s.And(c.when, d.when), d.is)
		}
	}
	return out
}

// both applies a function to every pair of cases.
func (s *Space) both(a, b value, what func(x, y any) value) value {
	return s.each(a, func(x any) value {
		return s.each(b, func(y any) value { return what(x, y) })
	})
}
