package schemadiff

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// pathComparison compares two schemas over the objects that either accepts. The chain has the
// schemas for values that both accept.
type pathComparison struct {
	*prove.Problem
	to    schemapath.Path
	loose *sample.Chain // for values that either schema accepts
	sides [2]*party     // by prove.New and prove.Old
	try   map[property][]any

	// The current question: the side that has to accept the example, and the checks of the other
	// side of which one has to reject it.
	accepting int
	suspected []suspect
	exempt    logic.Lit // see Witness.Exempt
}

// property is a property of the object at a level.
type property struct {
	level int
	name  string
}

// party is one of the two schemas.
type party struct {
	Side
	nodes  []*sample.Schema // the schemas on the path, as far as they exist
	places []*formula.Place
	view   *formula.View
	checks []*prove.Check
	// unread are the tests that cannot be translated into checks, by level.
	unread map[int][]*sample.Test
	// stored are the formulas that the old object is valid. Those of rules with optionalOldSelf,
	// which may exempt updates of other objects, are in created.
	stored, created []logic.Lit
	doubt           string // the last error of the accepting side about an example
	masked          string // the last errors that kept the other side from evaluating rules
}

func (p *Pair) comparison(ctx context.Context, path schemapath.Path, shifts []Shift) (*pathComparison, error) {
	c, err := sample.NewChain(p.tight, path)
	if err != nil {
		return nil, err
	}
	loose, err := sample.NewChain(p.loose, path)
	if err != nil {
		return nil, err
	}
	b := &pathComparison{to: path, loose: loose, try: map[property][]any{}}
	old := p.sides[prove.Old]
	b.Problem = prove.NewProblem(sample.NewSource(ctx, old.CRD, old.Version), c, p.loose, prove.Subject{
		Start:   func(own map[string]any) map[string]any { return own },
		Legal:   func() []logic.Lit { return nil },
		Widen:   b.widen,
		Confirm: b.confirms,
	})
	for side, s := range p.sides {
		y := &party{Side: s, unread: map[int][]*sample.Test{}, view: b.Space.View(prove.WithTypeMeta(p.roots[side]), p.structural[side])}
		at, place := p.roots[side], y.view.New
		for level := 0; at != nil; level++ {
			y.nodes, y.places = append(y.nodes, at), append(y.places, place)
			if level == len(path) {
				break
			}
			at, place = at.Child(path[level]), prove.Child(place, path[level])
		}
		b.sides[side] = y
	}
	b.nameItems(shifts)
	for side := range b.sides {
		if b.read(side); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return b, nil
}

// nameItems names the items of lists with keys that rules on the path or in the shifts read.
func (b *pathComparison) nameItems(shifts []Shift) {
	lists, constants := []*formula.Place{}, map[*formula.Place][]any{}
	note := func(at *formula.Place, r *formula.Rule) {
		for _, path := range r.Paths {
			list := at.Lookup(path...)
			if len(r.Literals) > 0 && !slices.Contains(lists, list) {
				lists = append(lists, list)
			}
			constants[list] = append(constants[list], r.Literals...)
		}
	}
	for _, y := range b.sides {
		for level, n := range y.nodes {
			for _, t := range n.Rules() {
				if t.Broken == nil {
					note(b.Places[level], t.Rule)
				}
			}
		}
	}
	for _, s := range shifts {
		for _, c := range slices.Concat(s.Clauses[prove.Old], s.Clauses[prove.New]) {
			if c.Rule == nil || c.Property == "" || len(c.At) >= len(b.Places) {
				continue
			}
			if r, err := formula.Parse(c.Rule.Rule); err == nil {
				note(b.Places[len(c.At)].Child(c.Property), r)
			}
		}
	}
	for _, list := range lists {
		list.NameItems(constants[list])
	}
}

// read adds the requirements of a side at the schemas on the path.
func (b *pathComparison) read(side int) {
	y, other := b.sides[side], b.sides[1-side]
	chain := &sample.Chain{Schemas: y.nodes, Path: b.to}
	for level, n := range y.nodes {
		for _, t := range n.Rules() {
			at, of := chain.OnItem(level, t)
			b.check(side, at, of)
		}
		for _, t := range n.Constraints() {
			b.check(side, level, t)
		}
		if sample.Composite(n.Props) && len(n.Props.Enum) > 0 {
			b.check(side, level, sample.NewConstraint(n, "enum", apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Enum: n.Props.Enum}))
		}
		for _, name := range n.Props.Required {
			mine, theirs := n.Props.Properties[name], apiextensionsv1.JSONSchemaProps{}
			required := false
			if level < len(other.nodes) {
				theirs, required = other.nodes[level].Props.Properties[name], slices.Contains(other.nodes[level].Props.Required, name)
			}
			if !required || !formula.SameShape(&mine, &theirs) {
				b.check(side, level, sample.NewConstraint(n, requiredText(name), apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Required: []string{name}}))
			}
		}
	}
}

func requiredText(name string) string { return "required: " + name }

// check adds a test of a side. It returns nil if the test cannot be evaluated.
func (b *pathComparison) check(side, level int, t *sample.Test) *prove.Check {
	y := b.sides[side]
	c := &prove.Check{Test: t, Level: level, Schema: y.nodes[level], Place: y.places[level]}
	if t.Broken != nil || b.Read(c) != nil {
		y.unread[level] = append(y.unread[level], t)
		return nil
	}
	c.Changing = t.Validation != nil && t.Changing()
	b.add(y, c)
	before := c.Place.Counterpart()
	switch {
	case t.Keywords != nil:
		y.stored = append(y.stored, b.Space.Implies(before.Present(), b.Space.Schema(t.Keywords, before)))
	case !c.Changing:
		if f, err := b.Space.Rule(t.Rule, before, formula.Plain); err == nil {
			y.stored = append(y.stored, b.Space.Implies(before.Present(), f.Holds))
		}
	}
	return c
}

// add adds a check of a side.
func (b *pathComparison) add(y *party, c *prove.Check) {
	y.checks, b.Checks = append(y.checks, c), append(b.Checks, c)
	if !c.Optional() {
		return
	}
	before := c.Place.Counterpart()
	if f, err := b.Space.Rule(c.Rule, before, formula.Missing); err == nil {
		y.created = append(y.created, b.Space.Implies(before.Present(), f.Holds))
	}
}

// pose returns the checks of a clause, and adds new ones. An error means that the clause is
// invalid.
func (b *pathComparison) pose(side int, k Clause) ([]*prove.Check, error) {
	y, level := b.sides[side], len(k.At)
	if level > len(b.Path) || level < b.Anchor() || level >= len(y.nodes) && k.Property == "" {
		return nil, fmt.Errorf("no schema at %s can be compared", k.At)
	}
	if k.Property != "" {
		b.tried(level, k.Property, k.Try)
		return b.poseProperty(side, level, k), nil
	}
	if k.Rule != nil {
		for _, c := range y.checks {
			if c.Level == level && c.Validation != nil && formula.SameRule(*c.Validation, *k.Rule) {
				return []*prove.Check{c}, nil
			}
		}
	} else if k.Keywords != nil { // nil if the name of the property is empty
		only := *k.Keywords
		only.Type = y.nodes[level].Props.Type
		if c := b.check(side, level, sample.NewConstraint(y.nodes[level], b.posedText(), only)); c != nil {
			return append(b.onNull(side, y.places[level], only), c), nil
		}
	}
	return []*prove.Check{b.unclear(b.Places[level])}, nil
}

// poseProperty adds the checks of a clause on one property.
func (b *pathComparison) poseProperty(side, level int, k Clause) []*prove.Check {
	y, unclear := b.sides[side], []*prove.Check{b.unclear(b.Places[level].Child(k.Property))}
	if level >= len(y.nodes) || k.Rule == nil && k.Keywords == nil {
		return unclear
	}
	n, place := y.nodes[level], y.places[level]
	c := &prove.Check{Level: level, Schema: n, Place: place}
	var onNull []*prove.Check
	if k.Rule == nil {
		keywords := *k.Keywords
		keywords.Nullable = n.Props.Properties[k.Property].Nullable
		c.Test = sample.NewConstraint(n, b.posedText(), apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Properties: map[string]apiextensionsv1.JSONSchemaProps{k.Property: keywords}})
		if c.Test.Broken != nil {
			return unclear
		}
		c.Holds = b.Space.Unread(&keywords, place.Child(k.Property))
		onNull = b.onNull(side, place.Child(k.Property), keywords)
	} else {
		if c.Schema, c.Place = n.Property(k.Property), place.Child(k.Property); c.Schema == nil {
			return unclear
		}
		i := slices.IndexFunc(c.Schema.Rules(), func(t *sample.Test) bool { return formula.SameRule(*t.Validation, *k.Rule) })
		if i < 0 {
			return unclear
		}
		c.Test = c.Schema.Rules()[i]
		if c.Test.Broken != nil || b.Read(c) != nil {
			return unclear
		}
		c.Changing = c.Test.Changing()
	}
	b.add(y, c)
	return append(onNull, c)
}

// posedText returns a unique text for a check.
func (b *pathComparison) posedText() string { return fmt.Sprint("clause ", len(b.Checks)) }

// unclear returns a check that only Side.Refusal can evaluate.
func (b *pathComparison) unclear(at *formula.Place) *prove.Check {
	holds := b.Space.Implies(at.Present(), b.Space.Unknown(at))
	return &prove.Check{Test: &sample.Test{Rule: &formula.Rule{}}, Place: at, Holds: holds, Fails: holds.Not(), Changing: true}
}
