package prove

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
)

// bound excludes impossible objects: values that their own schema rejects, and objects without the
// list or map that contains them.
func (p *Problem) bound() {
	if p.Widen == nil {
		p.exclude()
	}
	s := p.Space
	stays := func(at *formula.Place) {
		s.Require(at.Present())
		s.Require(s.Implies(s.Old.Present(), at.Counterpart().Present()))
	}
	stays(p.Places[p.Anchor()])
	if !p.Correlates() {
		stays(p.Self(New))
	}
	for _, of := range p.Parts {
		if of.ByValue && len(of.Path) == 1 && slices.Contains(p.Keys, of.Path[0]) {
			// In a list-map, an item with another key is another item.
			s.Require(s.Implies(s.And(p.Self(New).Present(), p.Self(Old).Present()), p.SameValue(of)))
		}
	}
}

// exclude excludes values that their own schema rejects.
func (p *Problem) exclude() {
	s := p.Space
	for _, of := range p.Parts {
		if of.ByValue && p.closed(of) {
			s.RequireAny(known(p.Self(New).Lookup(of.Path...))...)
			s.RequireAny(known(p.Self(Old).Lookup(of.Path...))...)
		}
	}
	for _, f := range s.Facts {
		n := p.schema(f.Place)
		if n == nil {
			continue
		}
		var v any
		switch {
		case f.Kind == formula.Equals:
			v = f.Constant
		case f.Kind == formula.Empty && n.Props.Type == "array":
			v = []any{}
		case f.Kind == formula.Empty && n.Props.Type == "object":
			v = map[string]any{}
		default:
			continue
		}
		if p.Source.Refuses(n, v) {
			s.Require(f.Lit.Not())
		}
	}
}

// known returns the formulas for the known values of a place: absent, or a constant of its facts.
func known(d *formula.Place) []logic.Lit {
	l := []logic.Lit{d.Present().Not()}
	for _, f := range d.Constants() {
		l = append(l, f.Lit)
	}
	return l
}

// closed reports whether the pattern of a part, or a rule on it, excludes all values except the
// constants of its facts. It requires a proof: a failed search for another value is not enough.
func (p *Problem) closed(of *Part) bool {
	s, d := p.Space, p.Self(New).Lookup(of.Path...)
	n := p.schema(d)
	if of.other || len(n.Props.Enum) > 0 || n.Props.Type == "boolean" {
		return false // or the schema lists the values
	}
	var other []logic.Lit
	if l, ok := sample.Language(n.Props.Pattern); ok {
		var any []logic.Lit
		for _, text := range l {
			any = append(any, d.Equals(text))
		}
		other = append(other, s.Or(any...))
	}
	for _, t := range n.Rules() {
		if t.Broken != nil || t.ReadsOld {
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
	return p.Never(other...)
}

// schema returns the schema of a place on the path to the object, or of a property below. It
// returns nil for other places.
func (p *Problem) schema(pl *formula.Place) *sample.Schema {
	if pl == nil {
		return nil
	}
	level, path := p.Locate(pl)
	n := p.Schemas[min(level, len(p.Schemas)-1)]
	for _, name := range path {
		if n = n.Part(name); n == nil {
			return nil
		}
	}
	return n
}

// maxInquired bounds the values for which a question is asked in advance. Answers for other values
// are learned from examples.
const maxInquired = 1000

// inquire asks the questions that depend on a single property, for each constant of its facts. The
// answers hold for all objects.
func (p *Problem) inquire() {
	for _, f := range slices.Clone(p.Space.Facts) {
		q := f.Question
		if q == nil || f != q.Holds || len(q.Reads) == 0 || slices.ContainsFunc(q.Reads, func(pl *formula.Place) bool { return pl != q.Reads[0] }) {
			continue
		}
		at := q.Reads[0]
		if _, path := p.Locate(at); len(path) == 0 {
			continue
		}
		learn := func(when logic.Lit, v any) {
			resource := at.Put(v)
			if holds, fails, ok := p.answers.Ask(p.Source.Context(), q, resource, resource); ok {
				p.Space.RequireAny(when.Not(), q.Holds.Lit.If(holds))
				p.Space.RequireAny(when.Not(), q.Fails.Lit.If(fails))
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
