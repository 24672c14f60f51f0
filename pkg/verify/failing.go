package verify

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Failure is a rule that fails to evaluate on an object which the union allows and which
// nothing else that reads the union refuses, if other rules may fail to evaluate, too. The
// API server rejects the object, and does not ratchet errors: where it is stored, it cannot
// be updated.
type Failure struct {
	// Rule is the index of the rule in x-kubernetes-validations of the schema.
	Rule int
	// Message is the evaluator's.
	Message string
	// Was and Is are the union's states before and after. Was is nil for a creation,
	// and where there was no union object.
	Was, Is *union.State
	// Old and New are whole resources. Old is nil for a creation.
	Old, New map[string]any
}

// Words says in a line when the rule fails.
func (f Failure) Words(u *union.Union) string {
	return Difference{Was: f.Was, Is: f.Is}.Words(u)
}

// Failing finds the rules of one schema that read something of a union and fail to
// evaluate, each with the smallest object found. Path leads to the schema as for
// [Object]; its errors are those of it. The CRD and the union are only read.
func Failing(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) ([]Failure, error) {
	if u == nil {
		return nil, errNoUnion
	}
	c, err := chainTo(crd, version, path)
	if err != nil || len(c.object().schema.XValidations) == 0 {
		return nil, err
	}
	p, err := newProblem(newGenerator(ctx, crd, version), c, u)
	if err != nil {
		return nil, err
	}
	others := p.collect()
	p.classify()
	p.assume(others)
	if _, err := p.finish([]*union.Union{u}); err != nil {
		return nil, err
	}
	own := c.object().tests()[:len(c.object().schema.XValidations)]
	legal, _ := p.legal()
	var l []Failure
	for _, k := range p.checks {
		i := slices.Index(own, k.test)
		if i < 0 || !k.touches {
			continue
		}
		fails := []logic.Lit{p.new.exists, legal, k.fails}
		for _, other := range p.checks {
			if other != k {
				fails = append(fails, p.space.Or(other.holds, other.fails))
			}
		}
		for _, mode := range p.modes() {
			e, err := p.find(nil, append(mode, fails...)...)
			if err != nil && !undecided(err) {
				return nil, err
			}
			if e == nil {
				continue
			}
			said, detail := p.asked(k, e.new, e.old)
			if said != errs {
				continue
			}
			d := (&findings{problem: p}).difference(finding{example: e, level: -1})
			l = append(l, Failure{Rule: i, Message: detail, Was: d.Was, Is: d.Is, Old: d.Old, New: d.New})
			break
		}
	}
	return l, ctx.Err()
}
