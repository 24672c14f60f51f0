package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Proof is what trying the states of one union found out. The caller owns it.
type Proof struct {
	Union *union.Union
	// Complete says that every state, and every pair of states, was tried. It is
	// false for large unions, of which a sample was; see the package comment.
	Complete bool
	// States is how many states were tried, each by creating an object in it,
	// and Transitions how many pairs of an old and a new one, other ways to write
	// a state, removals and additions of the union object included. Nothing that
	// was skipped counts.
	States, Transitions int
	// Rules is how many rules and constraints of the schemas read something of the
	// union, those that cannot be evaluated included. Without any, nothing is
	// enforced.
	Rules int
	// Differences between the rules and the union, one of each kind, with the
	// smallest counterexample found; those with the smallest come first.
	Differences []Difference
	// Inconclusive says what could not be evaluated, and why.
	Inconclusive []string
	// Notes tell of rules that older API servers judge otherwise than this proof has
	// them; see the package comment.
	Notes []string
}

// Proved reports whether the rules mean what the union says: there is no
// difference, and nothing that could not be evaluated.
func (p Proof) Proved() bool { return len(p.Differences) == 0 && len(p.Inconclusive) == 0 }

// Difference is a resource that the API server accepts although the union
// forbids it, or rejects although the union allows it.
type Difference struct {
	// Accepted though the union forbids it; else rejected though it allows it.
	Accepted bool
	// Violations are what an accepted state, or change, breaks.
	Violations []union.Violation
	// Removal says that the union object is removed, at path Removed of the
	// resource, which may not be.
	Removal bool
	Removed string
	// Rule is what rejects: the text of the CEL rule, or the constraint of the
	// schema, such as "oneOf" or "maxProperties: 1".
	Rule string
	// RuleAt is the path of the schema that the rule stands on.
	RuleAt string
	// Message is what the API server says, or that the rule fails to evaluate.
	Message string
	// Was and Is are the union's states before and after. Was is nil for a
	// creation, Is when the union object is removed; where it is added, Was is
	// nil and Old is not.
	Was, Is *union.State
	// Beside says what else the example needs to be judged so: another property
	// and its value, or a way of writing. [Compare] fills it in, [Object] does not.
	Beside []string
	// Old and New are whole resources. Old is nil for a creation.
	Old, New map[string]any
}

// Object proves the unions declared on one schema of a CRD. Steps lead from
// openAPIV3Schema of the version with that index to the schema, as they are
// written: "properties", "spec", "items", "additionalProperties". Nil unions are
// left out. The CRD is only read.
//
// An error means that there is no such schema, that a union does not fit it, or
// that ctx ended. What is wrong with the rules is in the proofs.
func Object(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, unions []*union.Union) ([]Proof, error) {
	root, err := newRoot(crd, version)
	if err != nil {
		return nil, err
	}
	c, err := newChain(root, path)
	if err != nil {
		return nil, err
	}
	g := newGenerator(ctx, crd, version)
	var proofs []Proof
	for _, u := range unions {
		if u == nil {
			continue
		}
		proof, err := prove(g, c, u, unions)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, proof)
	}
	return proofs, ctx.Err()
}

func prove(g *generator, c *chain, u *union.Union, unions []*union.Union) (Proof, error) {
	proof := Proof{Union: u}
	if doubt := tooLarge(u); doubt != "" {
		proof.Inconclusive = []string{doubt}
		return proof, nil
	}
	p, err := newProver(g.ctx, c, u)
	if err != nil {
		return proof, err
	}
	broken := p.collect()
	if proof.Inconclusive, err = p.prepare(g, unions, broken); err != nil {
		return proof, err
	}
	proof.Rules = p.rules() + len(broken)
	proof.Notes = p.notes()
	p.links()
	f, err := p.run(g)
	if err != nil {
		return proof, err
	}
	proof.Complete, proof.States, proof.Transitions = f.complete, f.states, f.transitions
	for _, d := range f.doubts {
		proof.Inconclusive = append(proof.Inconclusive, d.describe(p))
	}
	differences, doubts := f.differences(nil)
	proof.Differences = differences
	proof.Inconclusive = append(proof.Inconclusive, doubts...)
	return proof, g.ctx.Err()
}

// notes tell of rules that read the old object through an optional oldSelf. Servers
// whose cel-go is older than 0.29 take it for a raw map there.
func (p *prover) notes() []string {
	var l []string
	for _, k := range p.checks {
		if k.readsThroughOptional() {
			l = append(l, fmt.Sprintf("servers before Kubernetes 1.37 may judge this rule at %s otherwise: in an optional oldSelf they treat null as a value, and never find a field whose name CEL escapes, such as namespace or a-b; only oldSelf.hasValue() means the same everywhere: %s",
				k.at, k.text))
		}
	}
	return l
}

// tooLarge says that a union has more members than can be tried, or nothing.
func tooLarge(u *union.Union) string {
	if len(u.Members) <= maxMembers {
		return ""
	}
	return fmt.Sprintf("the union has %d members, more than the %d that can be verified", len(u.Members), maxMembers)
}

func newProver(ctx context.Context, c *chain, u *union.Union) (*prover, error) {
	if doubt := tooLarge(u); doubt != "" {
		return nil, errors.New(doubt)
	}
	if u.Discriminator != "" && c.object().property(u.Discriminator) == nil {
		return nil, fmt.Errorf("%s has no property %q, the discriminator", c.object().path, u.Discriminator)
	}
	return &prover{ctx: ctx, u: u, chain: c}, nil
}

// prepare finds out, once the checks are known, how the union's properties can be
// written and what stands around them. It returns what makes the proof
// inconclusive: the checks that are broken, and what could not be found.
func (p *prover) prepare(g *generator, unions []*union.Union, broken []string) ([]string, error) {
	g.work = 0
	var doubts []string
	foreign, unknown := p.foreign()
	w, err := g.newWriting(p.chain.object(), p.u, foreign)
	if err != nil {
		return nil, err
	}
	p.writing = w
	for i, err := range w.failures {
		if err != nil {
			doubts = append(doubts, fmt.Sprintf("states with %s set: %v", p.u.Members[i].Name, err))
		}
	}
	own, err := g.neighbours(p.chain.object(), p.u, unions)
	if err != nil {
		doubts = append(doubts, err.Error())
	}
	p.surroundings = &surroundings{chain: p.chain, own: own}
	start := point{}
	if bases := p.bases(); len(bases) > 0 {
		start = bases[0]
	}
	p.surroundings = g.surround(p.chain, p.object(start), own)
	return append(append(doubts, broken...), unknown...), nil
}

// differences are those found, with their resources and what beside says of them,
// and the counterexamples that something other than the checks rejects.
func (f *findings) differences(beside func(finding) []string) (l []Difference, doubts []string) {
	p := f.prover
	judge := &whole{root: p.chain.nodes[0]}
	for _, n := range f.sorted() {
		d := p.difference(n)
		if beside != nil {
			d.Beside = beside(n)
		}
		if d.Accepted {
			if err := judge.rejects(p, d); err != nil {
				doubts = append(doubts, fmt.Sprintf("%s: no rule on the union rejects it, but this does: %v", d.Words(p.u), err))
				continue
			}
		}
		l = append(l, d)
	}
	return l, doubts
}

// collect finds the checks that have to do with the union. It returns what
// cannot be evaluated.
func (p *prover) collect() []string {
	var broken []string
	add := func(level int, t *test) {
		k, ok := classify(p.chain, level, t, p.u)
		if t.broken != nil && (ok || len(t.reads) == 0) {
			broken = append(broken, fmt.Sprintf("%s at %s: %v", k.name(), t.at, t.broken))
			return
		}
		if ok {
			k.id = len(p.checks)
			p.checks = append(p.checks, k)
		}
	}
	for level, n := range p.nodes {
		for _, t := range n.tests() {
			add(level, t)
		}
		for _, t := range constraints(n) {
			add(level, t)
		}
	}
	if p.u.Discriminator != "" {
		// What the discriminator may be is a matter of its schema. How it may change
		// is not.
		n := p.chain.object().property(p.u.Discriminator)
		for _, t := range n.tests() {
			if t.usesOld {
				add(len(p.nodes), t)
			}
		}
	}
	return broken
}

// links finds the ways to remove the union object. Entries of lists and maps end
// the way: they can always be removed.
func (p *prover) links() {
	if !p.correlates() {
		return
	}
	for level := len(p.steps) - 1; level >= 0 && p.steps[level].kind == property; level-- {
		absent, null := p.nodes[level].removable(p.steps[level].name)
		if p.without[level] == nil {
			p.without[level] = p.around[level].(map[string]any)
		}
		if absent {
			p.removals = append(p.removals, removal{level, false})
		}
		if null {
			p.removals = append(p.removals, removal{level, true})
		}
	}
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
		w, err := g.newWriting(n, v, nil)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		other := &prover{u: v, writing: w, surroundings: &surroundings{}}
		bases := other.bases()
		if len(bases) == 0 {
			problems = append(problems, errors.New("there is no legal state of the union of "+fmt.Sprint(v.MemberNames())))
			continue
		}
		maps.Copy(own, other.object(bases[0]))
	}
	if d := n.defaults(); d != nil {
		// Defaults are there in every object that rules see.
		d(own)
		delete(own, u.Discriminator)
	}
	return own, errors.Join(problems...)
}

// difference is a finding with its resources.
func (p *prover) difference(n finding) Difference {
	d := Difference{Accepted: n.check == nil, Violations: n.violations, Removal: n.removal}
	d.New = p.resource(n.new, n.with)
	if n.old != nothing {
		d.Old = p.resource(n.old, n.with)
	}
	if n.new.exists() {
		s := p.state(n.new)
		d.Is = &s
	} else {
		d.Removed = p.path(p.removals[n.new.gone-1].level + 1)
	}
	if n.old.exists() {
		s := p.state(n.old)
		d.Was = &s
	}
	if k := n.check; k != nil {
		d.Rule, d.RuleAt = k.text, k.at
		old := p.correlate(k.level, n.old)
		d.Message = k.message(p.ctx, k.node, p.at(k.level, n.new, n.with), p.at(k.level, old, n.with))
	}
	return d
}

func (p *prover) resource(pt point, with *completion) map[string]any {
	m, _ := p.at(0, pt, with).(map[string]any)
	return m
}
