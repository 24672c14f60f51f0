package verify

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Proof is what was found out about one union. The caller owns it.
type Proof struct {
	Union *union.Union
	// Rules is how many rules and constraints of the schemas read something of the
	// union, those that cannot be evaluated included. Without any, nothing is
	// enforced.
	Rules int
	// Differences between the rules and the union, one of each kind, with the
	// smallest counterexample found; those with the smallest come first.
	Differences []Difference
	// Inconclusive says what could not be decided, and why.
	Inconclusive []string
	// Restrictions are rules and constraints that also depend on something else than the
	// state of the union, and reject some objects in a legal state but not all.
	Restrictions []Restriction
	// Notes tell of rules that older API servers judge otherwise than this proof has
	// them; see the package comment.
	Notes []string
}

// Proved reports whether the rules mean what the union says: there is no
// difference, and nothing that could not be decided.
func (p Proof) Proved() bool { return len(p.Differences) == 0 && len(p.Inconclusive) == 0 }

// Restriction is a rule, or a constraint, that reads something of the union and rejects
// more than the union forbids, depending on something else. That is none of the union's
// business.
type Restriction struct {
	// Rule and RuleAt are as those of a [Difference].
	Rule, RuleAt string
	// Reads says what else it depends on.
	Reads string
	// Accepted and Refused are resources, the union of both in the same state, of
	// which it accepts one and rejects the other, with the stored ones for an update.
	Accepted, AcceptedOld, Refused, RefusedOld map[string]any
}

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
// that ctx was cancelled. What is wrong with the rules is in the proofs. Unions that are not
// decided at the deadline of ctx (see [WithDeadline]) are inconclusive.
func Object(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, unions []*union.Union) ([]Proof, error) {
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, err
	}
	var proofs []Proof
	for i, u := range unions {
		if u == nil {
			continue
		}
		share, done := prove.Share(ctx, len(unions)-i)
		proof, err := proofOf(sample.NewSource(share, crd, version), c, u, unions)
		done()
		switch {
		case prove.Late(err):
			proof.Inconclusive = append(proof.Inconclusive, err.Error())
		case err != nil:
			return nil, err
		}
		proofs = append(proofs, proof)
	}
	if err := context.Cause(ctx); err != nil && !prove.Late(err) {
		return nil, err
	}
	return proofs, nil
}

func proofOf(g *sample.Source, c *sample.Chain, u *union.Union, unions []*union.Union) (Proof, error) {
	proof := Proof{Union: u}
	p, doubts, err := concerning(g, c, u, unions)
	if err != nil {
		return proof, err
	}
	proof.Inconclusive = doubts
	for _, c := range p.Checks {
		if c.Touches {
			proof.Rules++
		}
	}
	proof.Rules += len(p.Broken)
	proof.Notes = p.notes()
	f := &findings{problem: p, doubtful: map[*prove.Check]bool{}}
	if err := f.run(proof.Rules > 0); err != nil {
		return proof, err
	}
	proof.Restrictions = f.restrictions
	differences, doubts := f.differences(false)
	proof.Differences = differences
	proof.Inconclusive = append(append(proof.Inconclusive, f.doubts...), doubts...)
	return proof, g.Err()
}

// concerning is the problem of all rules that have to do with a union, and what makes it
// inconclusive.
func concerning(g *sample.Source, c *sample.Chain, u *union.Union, unions []*union.Union) (*problem, []string, error) {
	p, err := newProblem(g, c, u)
	if err != nil {
		return nil, nil, err
	}
	others := p.collect()
	p.Classify()
	p.Checks = slices.DeleteFunc(p.Checks, func(c *prove.Check) bool { return !c.Touches && !c.Links })
	p.Assume(others)
	doubts, err := p.finish(unions)
	return p, doubts, err
}

// collect reads the tests that may have to do with the union, and returns the others.
func (p *problem) collect() []*prove.Check {
	var others []*prove.Check
	add := func(level int, t *sample.Test) {
		if t.Keywords != nil || len(t.Paths) == 0 && t.Broken != nil || p.About(level, t.Paths) {
			p.Add(level, t)
		} else if t.Broken == nil && !t.ReadsOld {
			others = append(others, &prove.Check{Test: t, Level: level, Place: p.Places[level]})
		}
	}
	for level, n := range p.Schemas {
		for _, t := range n.Rules() {
			add(p.OnItem(level, t))
		}
		for _, t := range n.Constraints() {
			add(level, t)
		}
	}
	if d := p.u.Path(p.u.Discriminator); p.u.Discriminator != "" {
		// What the discriminator may be is a matter of its schema. How it may change
		// is not.
		for _, t := range p.Object().At(d).Rules() {
			if t.ReadsOld {
				p.AddAt(d, t)
			}
		}
	}
	for _, names := range p.u.Holders() {
		path := schemapath.Of(names...)
		n := p.Object().At(path)
		for _, t := range slices.Concat(n.Rules(), n.Constraints()) {
			p.AddAt(path, t)
		}
	}
	return others
}

// notes tell of rules that read the old object through an optional oldSelf. Servers
// whose cel-go is older than 0.29 take it for a raw map there.
func (p *problem) notes() []string {
	var l []string
	for _, c := range p.Checks {
		if c.Optional() && c.AsksOld {
			l = append(l, fmt.Sprintf("servers before Kubernetes 1.37 may judge this rule at %s otherwise: in an optional oldSelf they treat null as a value, and never find a field whose name CEL escapes, such as namespace or a-b; only oldSelf.hasValue() means the same everywhere: %s",
				c.At, c.Text))
		}
	}
	return l
}
