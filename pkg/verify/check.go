package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// check is a test on a schema of the chain.
type check struct {
	*test
	id    int
	level int // index of the schema in the chain; len(chain) is for those below the union object
	node  *node
	place *formula.Place
	holds logic.Lit // of objects and updates for which it is not asked, too
	fails logic.Lit // evaluating it is an error
	// touches says that it depends on the state of the union, links that it does on whether
	// the union object is there. narrow says that it depends on nothing else.
	touches, links, narrow bool
	changing               bool // it depends on the old object
	other                  []*formula.Fact
}

// add reads a test on the schema at a level. It is left out, and nil, when it cannot be
// evaluated.
func (p *problem) add(level int, t *test) *check {
	return p.take(&check{test: t, level: level, node: p.nodes[level], place: p.places[level]})
}

// addAt is add for a schema below the union object.
func (p *problem) addAt(path schemapath.Path, t *test) *check {
	return p.take(&check{test: t, level: len(p.nodes), node: p.chain.object().at(path), place: p.new.object.At(path.Properties()...)})
}

// take reads a check, unless it cannot be evaluated.
func (p *problem) take(c *check) *check {
	t := c.test
	c.id = len(p.checks)
	if t.broken == nil {
		t.broken = p.read(c)
	}
	if t.broken != nil {
		p.broken = append(p.broken, fmt.Sprintf("%s at %s: %v", t.name(), t.at, t.broken))
		return nil
	}
	p.checks = append(p.checks, c)
	return c
}

func (p *problem) read(c *check) error {
	s, matched := p.space, p.matched(c.level)
	there := c.place.Present()
	if c.only != nil {
		c.holds = s.Implies(there, s.Schema(c.only, c.place))
		return nil
	}
	before := formula.Plain
	switch {
	case !matched && c.ReadsOld && !c.optional():
		c.holds = logic.True // it is never asked
		return nil
	case !matched:
		before = formula.Missing
	case c.optional():
		before = formula.Optional
	case c.ReadsOld:
		there = s.And(there, c.place.Counterpart().Present())
	}
	f, err := s.Rule(c.Rule, c.place, before)
	c.holds, c.fails = s.Implies(there, f.Holds), s.And(there, f.Fails)
	return err
}

// classify finds out what the checks depend on, once all are read.
func (p *problem) classify() {
	p.space.Close()
	facts := map[logic.Lit]*formula.Fact{}
	for _, f := range p.space.Facts {
		facts[f.Lit] = f
	}
	for _, c := range p.checks {
		c.narrow = true
		for _, l := range p.space.Support(c.holds) {
			f := facts[l]
			touches, links, narrow := p.relate(f)
			c.touches, c.links = c.touches || touches, c.links || links
			if !narrow {
				c.narrow = false
				c.other = append(c.other, f)
			}
			c.changing = c.changing || f.ReadsOld()
		}
		c.touches = c.touches || slices.ContainsFunc(c.Paths, func(path []string) bool { return p.reaches(c.level, path) })
		c.changing = c.changing || c.optional()
	}
}

// relate says whether a fact is about the state of the union, or about whether its
// object is there, and whether it says nothing else.
func (p *problem) relate(f *formula.Fact) (touches, links, narrow bool) {
	places := []*formula.Place{f.Place}
	if f.Question != nil {
		places = f.Question.Reads
	}
	if f.Other != nil {
		places = append(places, f.Other)
	}
	narrow = true
	for _, pl := range places {
		level, path := p.locate(pl)
		switch {
		case len(path) == 0:
			if f.Kind == formula.Present || f.Kind == formula.Null {
				links = true
			} else {
				touches, narrow = true, false
			}
		case level < len(p.nodes)-1:
			narrow = false
		default:
			of, below := p.part(path)
			switch {
			case of.discriminator:
				touches = true
				narrow = narrow && len(below) == 0 && (f.Question == nil || p.enumerated()) && len(places) < 3
			case of.member >= 0:
				touches = true
				narrow = narrow && p.tells(f, of.member, below)
			case of.holder && len(below) == 0 && (f.Kind == formula.Present || f.Kind == formula.Null):
				links = true
			default:
				narrow = false
			}
		}
	}
	if f.Kind == formula.Same && narrow {
		narrow = f.Place.Counterpart() == f.Other
	}
	return touches, links, narrow
}

// tells reports whether a fact about a member, or what is in it, says no more than
// whether the member is set.
func (p *problem) tells(f *formula.Fact, member int, below []string) bool {
	m := p.u.Members[member]
	switch {
	case f.Question != nil || f.Kind == formula.Same:
		return false
	case len(below) == 0:
		return f.Kind == formula.Present || f.Kind == formula.Null || isEmptyUnset(m) && (f.Kind == formula.Empty || f.Constant == any(""))
	case len(below) == 1:
		return (f.Kind == formula.Present || f.Kind == formula.Null) && m.Empty == union.EmptyObject && slices.Contains(m.Fields, below[0])
	}
	return false
}

func (p *problem) enumerated() bool {
	return len(p.discriminator().schema.Enum) > 0
}

// about reports, by what a test mentions, whether it may have to do with the union.
func (p *problem) about(level int, t *test) bool {
	if t.only != nil || len(t.Paths) == 0 && t.broken != nil {
		return true
	}
	return slices.ContainsFunc(t.Paths, func(path []string) bool {
		l, rest := p.follow(level, path)
		if l < len(p.steps) {
			// It ends on the way, or leaves it where it cannot be read without a link.
			return l > level || len(rest) == 0
		}
		if len(rest) == 0 || len(p.steps) > level {
			return true
		}
		of, below := p.part(rest)
		return of.named() || of.holder && len(below) == 0
	})
}

// reaches reports whether a path leads to a member or the discriminator.
func (p *problem) reaches(level int, path []string) bool {
	level, path = p.follow(level, path)
	if level < len(p.steps) || len(path) == 0 {
		return level > len(p.steps)
	}
	of, _ := p.part(path)
	return level > len(p.steps) || of.named()
}

// in is the value that a check is asked about, in a resource.
func (c *check) in(resource map[string]any) any {
	if resource == nil {
		return nil
	}
	return c.place.In(resource)
}

// asked is what the server says of an update, or with old nil of a creation.
func (p *problem) asked(c *check, new, old map[string]any) (answer, string) {
	return c.evaluate(p.ctx, c.in(new), p.before(c, old))
}

// before is what a check is asked about in the stored resource; nil where the server does
// not match it with the new one.
func (p *problem) before(c *check, old map[string]any) any {
	if !p.matched(c.level) {
		return nil
	}
	return c.in(old)
}

// matched reports whether the server matches the object at a level with its old self.
func (p *problem) matched(level int) bool { return min(level, len(p.nodes)-1) < p.chain.correlated }

func (p *problem) message(c *check, new, old map[string]any) string {
	return c.test.message(p.ctx, c.node, c.in(new), p.before(c, old))
}

// name is how messages call a test.
func (t *test) name() string {
	if t.rule == nil {
		return t.text
	}
	return fmt.Sprintf("rule %q", t.text)
}

// others says what a check reads beside the union.
func (p *problem) others(c *check) string {
	var l []string
	add := func(pl *formula.Place) {
		level, path := p.locate(pl)
		name := called(path)
		if len(path) == 0 {
			name = "the object as a whole"
		} else if pl.Unnamed() {
			name = "other items"
		} else if level < len(p.nodes)-1 {
			name = strings.Join(append(p.names(level), path...), ".")
		}
		if !slices.Contains(l, name) {
			l = append(l, name)
		}
	}
	for _, f := range c.other {
		if f.Question == nil {
			add(f.Place)
			continue
		}
		for _, pl := range f.Question.Reads {
			add(pl)
		}
	}
	slices.Sort(l)
	return spelling.List(l, "and")
}

func (p *problem) names(level int) []string {
	var l []string
	for _, s := range p.steps[:level] {
		if s.kind == property {
			l = append(l, s.name)
		}
	}
	return l
}
