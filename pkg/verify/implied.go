package verify

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Implied returns those of the constraints that a union implies, so that the CRD
// enforces as much without them once it enforces the union: they depend on which members
// are set and the discriminator, in the object or its old self, on nothing else, and
// reject nothing that the union allows. What cannot be decided is not among them, nor is
// a rule that older API servers may judge otherwise (see [Proof.Notes]).
//
// Errors are those of [Compare].
func Implied(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) ([]Constraint, error) {
	kept := make([]bool, len(constraints))
	p, owner, err := newComparison(ctx, crd, version, path, u, constraints, kept)
	if err != nil {
		return nil, err
	}
	p.u = u // with what it says of changes
	legal, _ := p.legal()
	for i, c := range p.Checks {
		if !c.Touches || !c.Narrow || c.Optional() && c.AsksOld {
			kept[owner[i]] = true
			continue
		}
		m, err := p.Possible(p.new.exists, legal, c.Holds.Not())
		if err != nil && !errors.Is(err, logic.ErrUnknown) {
			return nil, err
		}
		kept[owner[i]] = kept[owner[i]] || m != nil || err != nil
	}
	var l []Constraint
	for i, k := range constraints {
		if !kept[i] {
			l = append(l, k)
		}
	}
	return l, nil
}
