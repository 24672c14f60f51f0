package verify

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Proof is the result for one union. The caller owns it.
type Proof struct {
	Union *union.Union
	// Rules is the number of rules and constraints that read the union, including those that cannot
	// be evaluated. If it is 0, the CRD does not enforce the union.
	Rules int
	// Findings starts with the differences, in order of size. Each sort of difference has the
	// smallest example found. The other findings follow by kind.
	Findings []Finding
}

// OfKind returns the findings of the given kinds.
func (p Proof) OfKind(kinds ...Kind) []Finding {
	return slices.DeleteFunc(slices.Clone(p.Findings), func(f Finding) bool { return !slices.Contains(kinds, f.Kind) })
}

// Differences returns the findings on which the CRD and the union differ.
func (p Proof) Differences() []Finding { return p.OfKind(Accepted, Rejected) }

// Proved reports whether the CRD enforces exactly the union: there are no differences and no
// undecided questions.
func (p Proof) Proved() bool { return len(p.OfKind(Accepted, Rejected, Undecided)) == 0 }

// Object proves the unions declared on one schema of a CRD. path leads from openAPIV3Schema of the
// version with the given index to this schema, in the keys of the schema: "properties", "spec",
// "items", "additionalProperties". Object skips nil unions, and does not change the CRD.
//
// An error means that there is no such schema, that a union does not fit it, or that ctx was
// cancelled. Problems of the rules are findings of the proofs. The search for a proof takes a bounded
// number of steps; a union that needs more is inconclusive, on any machine.
func Object(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, unions []*union.Union) ([]Proof, error) {
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, err
	}
	var proofs []Proof
	for _, u := range unions {
		if u == nil {
			continue
		}
		proof, err := proofOf(sample.NewSource(ctx, crd, version), c, u, unions)
		switch {
		case logic.IsExhausted(err):
			proof.Findings = add(proof.Findings, Undecided, err.Error())
		case err != nil:
			return nil, err
		}
		proofs = append(proofs, proof)
	}
	return proofs, ctx.Err()
}

func proofOf(g *sample.Source, c *sample.Chain, u *union.Union, unions []*union.Union) (Proof, error) {
	proof := Proof{Union: u}
	p, doubts, err := concerning(g, c, u, unions)
	if err != nil {
		return proof, err
	}
	for _, c := range p.Checks {
		if c.Touches {
			proof.Rules++
		}
	}
	proof.Rules += len(p.Broken)
	proof.Findings = add(nil, Undecided, doubts...)
	f := &findings{unionProblem: p, others: proof.Findings, doubtful: map[*prove.Check]bool{}}
	if err = f.run(proof.Rules > 0); err == nil {
		proof.Findings, err = f.all(false), g.Err()
	}
	proof.Findings = add(proof.Findings, Noted, p.notes()...)
	return proof, err
}

// concerning returns the problem of all rules that concern a union, and the reasons why its proof
// is inconclusive.
func concerning(g *sample.Source, c *sample.Chain, u *union.Union, unions []*union.Union) (*unionProblem, []string, error) {
	p, err := newProblem(g, c, u)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range unions {
		if o != nil && o != u && o.Shares(u) {
			p.sharing = append(p.sharing, [2]symbolic{prove.New: newSymbolic(p.Space, o, p.Self(prove.New)), prove.Old: newSymbolic(p.Space, o, p.Self(prove.Old))})
		}
	}
	others := p.collect()
	p.Classify()
	p.Checks = slices.DeleteFunc(p.Checks, func(c *prove.Check) bool { return !c.Touches && !c.Links })
	p.Assume(others, false)
	doubts, err := p.finish(unions)
	return p, doubts, err
}

// collect adds the tests that may concern the union. It returns checks for the other tests.
func (p *unionProblem) collect() []*prove.Check {
	var others []*prove.Check
	add := func(level int, t *sample.Test) {
		onlyOnce := t.Optional() && len(t.Paths) == 0 // such as oldSelf.hasValue()
		if t.Keywords != nil || len(t.Paths) == 0 && t.Broken != nil || onlyOnce || p.Concerns(level, t.Paths) {
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
		// Proofs exclude values that the discriminator's own schema rejects, but not changes that
		// its rules reject.
		for _, t := range p.Object().Lookup(d).Rules() {
			if t.ReadsOld {
				p.AddAt(len(p.Path), d, t)
			}
		}
	}
	for _, names := range p.u.Holders() {
		path := schemapath.New(names...)
		n := p.Object().Lookup(path)
		for _, t := range slices.Concat(n.Rules(), n.Constraints()) {
			p.AddAt(len(p.Path), path, t)
		}
	}
	return others
}

// notes describes the rules that read an optional oldSelf. API servers with a cel-go older than
// 0.29 treat it as a raw map.
func (p *unionProblem) notes() []string {
	var l []string
	for _, c := range p.Checks {
		if c.Optional() && c.AsksOld {
			l = append(l, fmt.Sprintf("API servers before Kubernetes 1.37 may evaluate this rule at %s differently: in an optional oldSelf, they treat null as a value, and never find a field whose name CEL escapes, such as namespace or a-b; only oldSelf.hasValue() has the same result in all versions: %s",
				c.At, c.Text))
		}
	}
	return l
}
