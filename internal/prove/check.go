package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Check is a test on a schema of the chain, translated into formulas.
type Check struct {
	*sample.Test
	Level  int // index of the schema in the chain; the length of the chain for schemas below the object
	Schema *sample.Schema
	Place  *formula.Place
	Holds  logic.Lit // true if the API server does not run the test
	Fails  logic.Lit // the evaluation fails
	// Exceeds is the part of Fails that the evaluation exceeds the cost limit (see [formula.Rule]).
	Exceeds logic.Lit

	// Touches, Links and Changing report whether the test depends on the state of the subject, on
	// the existence of the object, and on the old object. Narrow reports whether it depends only on
	// the state and the existence. Other has all other facts that the test depends on.
	Touches, Links, Narrow, Changing bool
	Other                            []*formula.Fact
}

// Add adds a test on the schema at a level. It returns nil if the test cannot be evaluated.
func (p *Problem) Add(level int, t *sample.Test) *Check {
	return p.take(&Check{Test: t, Level: level, Schema: p.Schemas[level], Place: p.Places[level]})
}

// AddAt is Add for a schema below the one at a level, and not on the way to the object.
func (p *Problem) AddAt(level int, path schemapath.Path, t *sample.Test) *Check {
	return p.take(&Check{Test: t, Level: len(p.Schemas), Schema: p.Schemas[level].Lookup(path), Place: p.Places[level].Lookup(path.Properties()...)})
}

// take adds a check. If the test cannot be evaluated, take adds it to Broken and returns nil.
func (p *Problem) take(c *Check) *Check {
	t := c.Test
	if t.Broken == nil {
		t.Broken = p.Read(c)
	}
	if t.Broken != nil {
		p.Broken = append(p.Broken, fmt.Sprintf("%s at %s: %v", t.Name(), t.At, t.Broken))
		return nil
	}
	p.Checks = append(p.Checks, c)
	return c
}

// Read translates the test of a check into formulas.
func (p *Problem) Read(c *Check) error {
	s, matched := p.Space, p.matched(c.Level)
	there := c.Place.Present()
	if c.Keywords != nil {
		c.Holds = s.Implies(there, s.Schema(c.Keywords, c.Place))
		return nil
	}
	before := formula.Plain
	switch {
	case !matched && c.ReadsOld && !c.Optional():
		c.Holds = logic.True // the API server never evaluates the rule
		return nil
	case !matched:
		before = formula.Missing
	case c.Optional():
		before = formula.Optional
	case c.ReadsOld:
		there = s.And(there, c.Place.Counterpart().Present())
	}
	f, err := s.Rule(c.Rule, c.Place, before)
	c.Holds, c.Fails, c.Exceeds = s.Implies(there, f.Holds), s.And(there, f.Fails), s.And(there, f.Exceeds)
	return err
}

// Classify determines the dependencies of the checks. Callers must have added all checks.
func (p *Problem) Classify() {
	p.Space.Close()
	facts := map[logic.Lit]*formula.Fact{}
	for _, f := range p.Space.Facts {
		facts[f.Lit] = f
	}
	for _, c := range p.Checks {
		c.Narrow = true
		for _, l := range p.Space.Support(c.Holds) {
			f := facts[l]
			touches, links, narrow := p.relate(f)
			c.Touches, c.Links = c.Touches || touches, c.Links || links
			if !narrow {
				c.Narrow = false
				c.Other = append(c.Other, f)
			}
			c.Changing = c.Changing || f.ReadsOld()
		}
		c.Touches = c.Touches || slices.ContainsFunc(c.Paths, func(path []string) bool { return p.reaches(c.Level, path) })
		c.Changing = c.Changing || c.Optional()
		c.Touches = c.Touches || c.Links && c.Optional() // such as oldSelf.hasValue()
	}
}

// Assume requires tests to hold, or perhaps to fail to evaluate, if they read a property outside of the
// subject that a check reads. An object that such a test rejects is not an example for the check.
func (p *Problem) Assume(tests []*Check, orFail bool) {
	read := map[string]bool{}
	name := func(level int, path []string) string { return fmt.Sprint(level, path[0]) }
	for _, c := range p.Checks {
		for _, f := range c.Other {
			for _, pl := range f.Places() {
				if level, path := p.Locate(pl); len(path) > 0 {
					read[name(level, path)] = true
				}
			}
		}
	}
	for _, c := range tests {
		if slices.ContainsFunc(c.Paths, func(path []string) bool {
			level, path := p.follow(c.Level, path)
			return len(path) > 0 && read[name(level, path)]
		}) && p.Read(c) == nil {
			allowed := c.Holds
			if orFail {
				allowed = p.Space.Or(c.Holds, c.Fails)
			}
			p.Space.Require(allowed)
		}
	}
}

// Unrejected returns the formulas that the other checks hold or fail to evaluate.
func (p *Problem) Unrejected(but *Check) (l []logic.Lit) {
	for _, c := range p.Checks {
		if c != but {
			l = append(l, p.Space.Or(c.Holds, c.Fails))
		}
	}
	return l
}

// MayFail reports whether a check may fail to evaluate on an object that satisfies formulas, and that no
// other check rejects.
func (p *Problem) MayFail(c *Check, l ...logic.Lit) bool {
	return c.Rule.MayFail(c.Schema.Props) && !p.Never(append(p.Unrejected(c), l...)...)
}

// matched reports whether the API server correlates the values at a level.
func (p *Problem) matched(level int) bool { return min(level, len(p.Schemas)-1) < p.Correlated }

// Ask evaluates a check on an update or, if old is nil, on a creation.
func (p *Problem) Ask(c *Check, new, old map[string]any) (sample.Answer, string) {
	value, before := p.values(c, new, old)
	return c.Evaluate(p.Source.Context(), value, before)
}

// Message returns the error of the API server for a check that rejects an update or, if old is nil,
// a creation.
func (p *Problem) Message(c *Check, new, old map[string]any) string {
	value, before := p.values(c, new, old)
	return c.Test.Message(p.Source.Context(), c.Schema, value, before)
}

// values returns the values to evaluate a check on. The old value is nil if the API server does not
// correlate it with the new one.
func (p *Problem) values(c *Check, new, old map[string]any) (value, before any) {
	if old != nil && p.matched(c.Level) {
		before = c.Place.Value(old)
	}
	return c.Place.Value(new), before
}

// Others describes the properties outside of the subject that a check reads.
func (p *Problem) Others(c *Check) string {
	var l []string
	for _, f := range c.Other {
		for _, pl := range f.Places() {
			level, path := p.Locate(pl)
			name := called(path)
			if len(path) == 0 {
				name = "the object as a whole"
			} else if pl.Unnamed() {
				name = "other items"
			} else if level < len(p.Schemas)-1 {
				name = strings.Join(append(p.Path[:level].Properties(), path...), ".")
			}
			if !slices.Contains(l, name) {
				l = append(l, name)
			}
		}
	}
	slices.Sort(l)
	return english.List(l, "and")
}

// StateOf returns formulas for the state of the subject in a model. They contain only facts that a
// check may depend on.
func (p *Problem) StateOf(c *Check, m logic.Model) []logic.Lit {
	asked := map[logic.Lit]bool{}
	for _, v := range p.Space.Support(c.Holds) {
		asked[v] = true
	}
	var read []*formula.Place
	for _, f := range c.Other {
		read = append(read, f.Places()...)
	}
	var l []logic.Lit
	for _, f := range p.Space.Facts {
		if _, _, narrow := p.relate(f); narrow && (asked[f.Lit] || f.Place != nil && slices.ContainsFunc(read, f.Place.IsWithin)) {
			l = append(l, f.Lit.If(m(f.Lit)))
		}
	}
	return l
}
