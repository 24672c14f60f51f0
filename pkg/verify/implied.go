package verify

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Implied returns the constraints that a union implies: a CRD that enforces the union needs none of
// them. They depend only on the members and the discriminator, in the object or its old version.
// They reject nothing that the union allows, including the removal of its object. Undecided
// constraints are not included, nor are rules that older API servers may evaluate differently (see
// [Noted]).
//
// Errors are the same as for [Compare].
func Implied(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) ([]Constraint, error) {
	kept := make([]bool, len(constraints))
	p, owner, err := newComparison(ctx, crd, version, path, u, nil, constraints, kept)
	if err != nil {
		return nil, err
	}
	p.u = u // with its restrictions on changes
	legal, _ := p.legal()
	allowed := p.Space.Choose(p.new.exists, legal, p.Space.Or(p.old.exists.Not(), p.removable()))
	for i, c := range p.Checks {
		if !c.Touches && !c.Links || !c.Narrow || c.Optional() && c.AsksOld {
			kept[owner[i]] = true
			continue
		}
		m, err := p.Possible(allowed, c.Holds.Not())
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
