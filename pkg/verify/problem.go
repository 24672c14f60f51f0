package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/unioncel/unioncel/internal/formula"
	"github.com/unioncel/unioncel/internal/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// problem is whether what a schema enforces and a union agree.
type problem struct {
	ctx context.Context
	g   *generator
	u   *union.Union
	*chain
	*writing
	*surroundings
	space    *formula.Space
	answers  *formula.Answers
	places   []*formula.Place // of the nodes, in the new object
	new, old symbolic
	checks   []*check
	broken   []string // checks that cannot be evaluated

	// What objects are made of; see connect.
	slots      []*slot
	lazies     []*formula.Fact
	made       logic.Lit
	otherValue bool // the discriminator may have one that nothing mentions
}

// check is a test on a schema of the chain.
type check struct {
	*test
	id    int
	level int // index of the schema in the chain; len(chain) is the discriminator
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

// newProblem reads the schemas on the way to a union object. Checks are to be added.
func newProblem(g *generator, c *chain, u *union.Union) (*problem, error) {
	n := c.object()
	if u.Discriminator != "" && n.property(u.Discriminator) == nil {
		return nil, fmt.Errorf("%s has no property %q, the discriminator", n.path, u.Discriminator)
	}
	g.work = 0
	p := &problem{ctx: g.ctx, g: g, u: u, chain: c, space: formula.New(withTypeMeta(c.nodes[0]))}
	w, err := g.newWriting(n, u)
	if err != nil {
		return nil, err
	}
	p.writing = w
	p.answers = formula.NewAnswers(p.space)
	at := p.space.New
	p.places = []*formula.Place{at}
	for _, s := range c.steps {
		above := at
		at = at.Child(s.placeName())
		p.places = append(p.places, at)
		if s.kind != property {
			// Lists and maps that are there have the item or entry in question.
			p.space.Require(p.space.Equal(at.Present(), above.Present()))
			p.space.Require(p.space.Equal(at.Counterpart().Present(), above.Counterpart().Present()))
		}
	}
	p.new, p.old = newSymbolic(p.space, u, at), newSymbolic(p.space, u, at.Counterpart())
	if d := p.new.discriminator; d != nil {
		p.space.Same(p.old.discriminator, d)
	}
	return p, nil
}

// withTypeMeta is the schema of a resource with what every resource has.
func withTypeMeta(root *node) *apiextensionsv1.JSONSchemaProps {
	s := *root.schema
	s.Properties = maps.Clone(s.Properties)
	if s.Properties == nil {
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	s.Properties["apiVersion"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	s.Properties["kind"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	s.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": {Type: "string"}, "generateName": {Type: "string"},
	}}
	s.Required = append(slices.Clone(s.Required), "apiVersion", "kind", "metadata")
	return &s
}

// correlates reports whether the server matches the union object with its old
// self.
func (p *problem) correlates() bool { return p.chain.correlated == len(p.nodes) }

// add reads a test on the schema at a level. It is left out, and nil, when it cannot be
// evaluated.
func (p *problem) add(level int, t *test) *check {
	c := &check{test: t, id: len(p.checks), level: level}
	if level < len(p.nodes) {
		c.node, c.place = p.nodes[level], p.places[level]
	} else {
		c.node, c.place = p.chain.object().property(p.u.Discriminator), p.new.discriminator
	}
	matched := min(level, len(p.nodes)-1) < p.chain.correlated
	if t.broken == nil {
		t.broken = p.read(c, matched)
	}
	if t.broken != nil {
		p.broken = append(p.broken, fmt.Sprintf("%s at %s: %v", t.name(), t.at, t.broken))
		return nil
	}
	p.checks = append(p.checks, c)
	return c
}

func (p *problem) read(c *check, matched bool) error {
	s := p.space
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
			if f.Place != nil && (f.Place.Old || f.Other != nil && f.Other.Old) ||
				f.Question != nil && slices.ContainsFunc(f.Question.Reads, func(pl *formula.Place) bool { return pl.Old }) {
				c.changing = true
			}
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
		case path[0] == p.u.Discriminator && p.u.Discriminator != "":
			touches = true
			narrow = narrow && len(path) == 1 && (f.Question == nil || p.enumerated()) && len(places) < 3
		default:
			i := slices.Index(p.u.MemberNames(), path[0])
			touches = touches || i >= 0
			narrow = narrow && i >= 0 && p.tells(f, i, path[1:])
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
	return len(p.chain.object().property(p.u.Discriminator).schema.Enum) > 0
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
		return len(rest) == 0 || rest[0] == p.u.Discriminator || slices.Contains(p.u.MemberNames(), rest[0]) || len(p.steps) > level
	})
}

// reaches reports whether a path leads to a member or the discriminator.
func (p *problem) reaches(level int, path []string) bool {
	level, path = p.follow(level, path)
	return level >= len(p.steps) && (level > len(p.steps) || len(path) > 0 && (path[0] == p.u.Discriminator || slices.Contains(p.u.MemberNames(), path[0])))
}

// finish makes what objects are built of. It is called when all checks are there. It
// returns what makes the proof inconclusive.
func (p *problem) finish(unions []*union.Union) ([]string, error) {
	var doubts []string
	own, err := p.g.neighbours(p.chain.object(), p.u, unions)
	if err != nil {
		doubts = append(doubts, err.Error())
	}
	p.surroundings = &surroundings{chain: p.chain, own: own}
	p.surroundings = p.g.surround(p.chain, p.start(), own)
	p.space.Close()
	if err := p.makeSlots(); err != nil {
		return nil, err
	}
	p.bound()
	p.inquire()
	return append(doubts, p.broken...), nil
}

// start is a legal union object, if there is one that is easily found.
func (p *problem) start() map[string]any {
	object := maps.Clone(p.own)
	if object == nil {
		object = map[string]any{}
	}
	try := func(value string, member int) bool {
		o := maps.Clone(object)
		if value != "" {
			if _, err := p.g.accept(p.chain.object().property(p.u.Discriminator), value); err != nil {
				return false
			}
			o[p.u.Discriminator] = value
		}
		if member >= 0 {
			if len(p.set[member]) == 0 {
				return false
			}
			o[p.u.Members[member].Name] = p.set[member][0]
		}
		if len(p.u.Violations(p.u.StateOf(o))) > 0 {
			return false
		}
		object = o
		return true
	}
	mayLack := true
	if p.u.Discriminator != "" {
		mayLack, _ = p.chain.object().removable(p.u.Discriminator)
	}
	if mayLack && try("", -1) {
		return object
	}
	for i, m := range p.u.Members {
		for _, v := range append(slices.Clone(m.Values), "") {
			if (v != "" || mayLack) && (try(v, -1) || try(v, i)) {
				return object
			}
		}
	}
	for _, v := range p.u.Values {
		if try(v, -1) {
			return object
		}
	}
	return object
}

// bound excludes what no object can be, however it is made: values that their own schema
// does not admit, and unions below lists that are not there.
func (p *problem) bound() {
	s := p.space
	if p.u.Discriminator != "" && p.closed() {
		s.RequireAny(known(p.new.discriminator)...)
		s.RequireAny(known(p.old.discriminator)...)
	}
	for _, f := range s.Facts {
		var v any
		switch n := p.node(f.Place); {
		case n == nil:
			continue
		case f.Kind == formula.Equals:
			v = f.Constant
		case f.Kind == formula.Empty && n.schema.Type == "array":
			v = []any{}
		case f.Kind == formula.Empty && n.schema.Type == "object":
			v = map[string]any{}
		default:
			continue
		}
		if p.refusesItself(p.node(f.Place), v) {
			s.Require(f.Lit.Not())
		}
	}
	anchor := p.anchor()
	s.Require(p.places[anchor].Present())
	s.Require(s.Implies(s.Old.Present(), p.places[anchor].Counterpart().Present()))
	if !p.correlates() {
		last := len(p.places) - 1
		s.Require(p.places[last].Present())
		s.Require(s.Implies(s.Old.Present(), p.places[last].Counterpart().Present()))
	}
	if p.u.Discriminator != "" && slices.Contains(p.keys, p.u.Discriminator) {
		// Another value is another item of the list.
		s.Require(s.Implies(s.And(p.new.exists, p.old.exists), sameValue(s, p.old, p.new)))
	}
}

// known says that a place has nothing but what it has been compared with.
func known(d *formula.Place) []logic.Lit {
	l := []logic.Lit{d.Present().Not()}
	for _, f := range d.Constants() {
		l = append(l, f.Lit)
	}
	return l
}

// closed reports whether the pattern of the discriminator, or a rule on it, lets it have
// no value but those it has been compared with. That none was found does not say so.
func (p *problem) closed() bool {
	s, d := p.space, p.new.discriminator
	n := p.node(d)
	if p.otherValue || len(n.schema.Enum) > 0 {
		return false // or the space knows already
	}
	var other []logic.Lit
	if l, ok := language(n.schema.Pattern); ok {
		var any []logic.Lit
		for _, text := range l {
			any = append(any, d.Equals(text))
		}
		other = append(other, s.Or(any...))
	}
	for _, t := range n.tests() {
		if t.broken != nil || t.ReadsOld {
			continue
		}
		if f, err := s.Rule(t.Rule, d, formula.Plain); err == nil {
			other = append(other, f.Holds)
		}
	}
	s.Close()
	for _, l := range known(d) {
		other = append(other, l.Not())
	}
	m, err := p.possible(other...)
	return m == nil && err == nil
}

// node is the schema of a place that properties lead to from the way to the union, or
// nil.
func (p *problem) node(pl *formula.Place) *node {
	if pl == nil {
		return nil
	}
	level, path := p.locate(pl)
	n := p.nodes[min(level, len(p.nodes)-1)]
	for _, name := range path {
		if n = n.property(name); n == nil {
			return nil
		}
	}
	return n
}

// refusesItself reports whether a value is refused by its own schema, its rules
// included, whatever is around it.
func (p *problem) refusesItself(n *node, v any) bool {
	for _, c := range p.g.own(n) {
		switch {
		case c.schema != nil:
			if len(apiservervalidation.ValidateCustomResource(nil, v, c.schema)) > 0 {
				return true
			}
		case c.test.broken == nil && !c.test.ReadsOld:
			if said, _ := c.test.evaluate(p.ctx, v, nil); said != holds {
				return true
			}
		}
	}
	return false
}

// inquire asks the questions about nothing but one property, for the values that facts
// are about. The answers hold of all objects.
func (p *problem) inquire() {
	for _, f := range slices.Clone(p.space.Facts) {
		q := f.Question
		if q == nil || f != q.Holds || len(q.Reads) == 0 || slices.ContainsFunc(q.Reads, func(pl *formula.Place) bool { return pl != q.Reads[0] }) {
			continue
		}
		at := q.Reads[0]
		if _, path := p.locate(at); len(path) == 0 {
			continue
		}
		learn := func(when logic.Lit, v any) {
			resource := at.Put(v)
			if holds, fails, ok := p.answers.Ask(p.ctx, q, resource, resource); ok {
				p.space.RequireAny(when.Not(), q.Holds.Lit.If(holds))
				p.space.RequireAny(when.Not(), q.Fails.Lit.If(fails))
			}
		}
		for _, c := range at.Constants() {
			learn(c.Lit, c.Constant)
		}
		if at.Null() != logic.False {
			learn(at.Null(), nil)
		}
	}
}

// anchor is the level from which properties lead to the union object: what is above,
// or holds it in a list or map, stays.
func (p *problem) anchor() int {
	level := len(p.steps)
	for level > 0 && p.steps[level-1].kind == property {
		level--
	}
	return level
}

// otherValue stands for a value of the discriminator that nothing mentions, where no
// object has been made with one.
const otherValue = "\x00"

// state is that of the union object in a model.
func (p *problem) state(m logic.Model, st symbolic) union.State {
	s := union.State{Present: make([]bool, len(st.present))}
	for i, l := range st.present {
		s.Present[i] = m(l)
	}
	if st.discriminator != nil && !m(st.unset) {
		s.Value = otherValue
		for _, f := range st.discriminator.Constants() {
			if v, ok := f.Constant.(string); ok && m(f.Lit) {
				s.Value = v
			}
		}
	}
	return s
}

// neighbours are the other properties of the union object: those required, and
// those of other unions in a legal state.
func (g *generator) neighbours(n *node, u *union.Union, unions []*union.Union) (map[string]any, error) {
	own := map[string]any{}
	theirs := map[string]bool{}
	for _, v := range unions {
		if v != nil {
			theirs[v.Discriminator] = true
			for _, name := range v.MemberNames() {
				theirs[name] = true
			}
		}
	}
	var problems []error
	if n.root {
		g.identify(own)
	}
	for _, name := range slices.Sorted(slices.Values(n.schema.Required)) {
		if p := n.property(name); p != nil && !theirs[name] && own[name] == nil {
			v, err := g.valid(p, nil)
			if err != nil {
				problems = append(problems, fmt.Errorf("the required property %s: %w", name, err))
				continue
			}
			own[name] = v
		}
	}
	for _, v := range unions {
		if v == nil || v == u {
			continue
		}
		w, err := g.newWriting(n, v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		other := &problem{g: g, u: v, chain: &chain{nodes: []*node{n}}, writing: w, surroundings: &surroundings{}}
		object := other.start()
		if len(v.Violations(v.StateOf(object))) > 0 {
			problems = append(problems, errors.New("there is no legal state of the union of "+fmt.Sprint(v.MemberNames())))
			continue
		}
		maps.Copy(own, object)
	}
	if d := n.defaults(); d != nil {
		// Defaults are there in every object that rules see.
		d(own)
		delete(own, u.Discriminator)
	}
	return own, errors.Join(problems...)
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
	value, before := c.in(new), any(nil)
	if old != nil && min(c.level, len(p.nodes)-1) < p.chain.correlated {
		before = c.place.In(old)
	}
	return c.evaluate(p.ctx, value, before)
}

func (p *problem) message(c *check, new, old map[string]any) string {
	value, before := c.in(new), any(nil)
	if old != nil && min(c.level, len(p.nodes)-1) < p.chain.correlated {
		before = c.place.In(old)
	}
	return c.test.message(p.ctx, c.node, value, before)
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
		name := strings.Join(path, ".")
		if len(path) == 0 {
			name = "the object as a whole"
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
	return enumerated(l)
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
