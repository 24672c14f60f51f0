package verify

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
)

// bound excludes what no object can be, however it is made: values that their own schema
// does not admit, and unions below lists that are not there.
func (p *problem) bound() {
	if p.loose == nil {
		p.exclude()
	}
	s := p.space
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

// exclude excludes values that their own schema does not admit.
func (p *problem) exclude() {
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
		if n = n.part(name); n == nil {
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

// maxInquired bounds the values that a question is asked about in advance. Answers for others
// are learned from the objects that have them.
const maxInquired = 1000

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
		constants := at.Constants()
		for _, c := range constants[:min(len(constants), maxInquired)] {
			learn(c.Lit, c.Constant)
		}
		if at.Null() != logic.False {
			learn(at.Null(), nil)
		}
	}
}
