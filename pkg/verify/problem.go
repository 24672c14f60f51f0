package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
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
	paths    [][]string       // those of pathsOf
	new, old symbolic
	checks   []*check
	broken   []string // checks that cannot be evaluated

	// What objects are made of; see connect.
	slots      []*slot
	lazies     []*formula.Fact
	made       logic.Lit
	otherValue bool // the discriminator may have one that nothing mentions

	// Of two schemas that are compared; see Between. The chain is of what both admit then.
	loose     *chain // what either admits
	try       map[slotKey][]any
	accepting int
	judge     func(*example) bool
	// question guards the examples that judge has rejected: another question may have them.
	question logic.Lit
}

// newProblem reads the schemas on the way to a union object. Checks are to be added.
func newProblem(g *generator, c *chain, u *union.Union) (*problem, error) {
	return newProblemIn(g, c, c.nodes[0], u)
}

// newProblemIn is a problem about the objects of a root that need not be that of the chain.
func newProblemIn(g *generator, c *chain, root *node, u *union.Union) (*problem, error) {
	n := c.object()
	if u.Discriminator != "" && n.at(u.Path(u.Discriminator)) == nil {
		return nil, fmt.Errorf("%s has no property %q, the discriminator", n.path, u.Discriminator)
	}
	g.work = 0
	p := &problem{ctx: g.ctx, g: g, u: u, chain: c, space: formula.New(withTypeMeta(root)), question: logic.True}
	w, err := g.newWriting(n, u)
	if err != nil {
		return nil, err
	}
	p.writing = w
	p.paths = pathsOf(u)
	p.answers = formula.NewAnswers()
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

// finish makes what objects are built of. It is called when all checks are there. It
// returns what makes the proof inconclusive.
func (p *problem) finish(unions []*union.Union) ([]string, error) {
	var doubts []string
	own, err := p.g.neighbours(p.chain.object(), p.u, unions)
	if err != nil {
		doubts = append(doubts, err.Error())
	}
	p.surroundings = &surroundings{chain: p.chain, own: own}
	p.space.Close()
	if err := p.makeSlots(); err != nil {
		return nil, err
	}
	p.bound()
	p.inquire()
	return append(doubts, p.broken...), nil
}

// surround finds what is around the union object when that is first needed. Most proofs need
// no object, and what else is required may be much.
func (p *problem) surround() {
	if p.around == nil {
		p.surroundings = p.g.surround(p.chain, p.start(), p.own)
	}
}

// start is a legal union object, if there is one that is easily found.
func (p *problem) start() map[string]any {
	object, paths := maps.Clone(p.own), pathsOf(p.u)
	if object == nil {
		object = map[string]any{}
	}
	try := func(value string, members ...int) bool {
		o := runtime.DeepCopyJSON(object)
		if value != "" {
			if _, err := p.g.accept(p.discriminator(), value); err != nil {
				return false
			}
			nested.Put(o, paths[len(p.u.Members)], value)
		}
		for _, i := range members {
			if len(p.set[i]) == 0 {
				return false
			}
			nested.Put(o, paths[i], p.set[i][0])
		}
		if len(p.u.Violations(p.u.StateOf(p.chain.object().value(o)))) > 0 {
			return false
		}
		object = o
		return true
	}
	mayLack := true
	if p.u.Discriminator != "" {
		mayLack = p.chain.object().mayLack(p.u.Path(p.u.Discriminator))
	}
	if mayLack && try("") {
		return object
	}
	for i, m := range p.u.Members {
		for _, v := range append(slices.Clone(m.Values), "") {
			if (v != "" || mayLack) && (try(v) || try(v, i) || try(v, p.u.MembersOf(v)...)) {
				return object
			}
		}
	}
	for _, v := range p.u.Values {
		if try(v) {
			return object
		}
	}
	return object
}

// pathsOf are the names that lead from the object of a union to its members, then to the
// discriminator if there is one.
func pathsOf(u *union.Union) [][]string {
	var l [][]string
	for _, m := range u.Members {
		if m.Item != nil {
			keys := map[string]any{}
			for _, k := range m.Item {
				keys[k.Name] = k.Value
			}
			l = append(l, []string{formula.ItemOf(keys)})
		} else {
			l = append(l, u.Path(m.Name).Properties())
		}
	}
	if u.Discriminator != "" {
		l = append(l, u.Path(u.Discriminator).Properties())
	}
	return l
}

// discriminator is the schema of the union's.
func (p *problem) discriminator() *node { return p.chain.object().at(p.u.Path(p.u.Discriminator)) }

// anchor is the level from which properties lead to the union object: what is above,
// or holds it in a list or map, stays.
func (p *problem) anchor() int {
	level := len(p.steps)
	for level > 0 && p.steps[level-1].kind == property {
		level--
	}
	return level
}

// state is that of the union object in a model.
func (p *problem) state(m logic.Model, st symbolic) union.State {
	s := union.State{Present: make([]bool, len(st.present))}
	for i, l := range st.present {
		s.Present[i] = m(l)
	}
	if st.discriminator != nil && !m(st.unset) {
		s.Value = union.AnotherValue
		for _, f := range st.discriminator.Constants() {
			if v, ok := f.Constant.(string); ok && m(f.Lit) {
				s.Value = v
			}
		}
	}
	return s
}
