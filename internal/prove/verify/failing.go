package verify

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// NotShown is the reason why it is undecided whether a rule fails to evaluate.
const NotShown = "no object was found on which it fails to evaluate, though there may be one"

// Failure is a rule that fails to evaluate on an object that the union allows. Every other rule or
// constraint that concerns the union accepts the object or fails to evaluate, too. The API server
// rejects such an object. It never ratchets evaluation errors, so a stored object cannot be
// updated.
type Failure struct {
	// Rule is the index of the rule in x-kubernetes-validations of the schema.
	Rule int
	// Message is the evaluation error. It is empty, and so is Example, if no object was found on which the
	// rule fails, though there may be one.
	Message string
	Example
}

// Failing returns the rules of one schema that read a union and fail to evaluate on an object, each
// with the smallest object found, and the rules that may do so. path and errors are the same as for [Object]. Failing does not
// change the CRD or the union.
func Failing(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) ([]Failure, error) {
	if u == nil {
		return nil, errNoUnion
	}
	c, err := sample.ChainTo(crd, version, path)
	if err != nil || len(c.Object().Props.XValidations) == 0 {
		return nil, err
	}
	p, err := newProblem(sample.NewSource(ctx, crd, version), c, u)
	if err != nil {
		return nil, err
	}
	others := p.collect()
	p.Classify()
	p.Assume(others, true)
	if _, err := p.finish([]*union.Union{u}); err != nil {
		return nil, err
	}
	own := c.Object().Rules()[:len(c.Object().Props.XValidations)]
	legal, _ := p.legal()
	var l []Failure
	for _, k := range p.Checks {
		i := slices.Index(own, k.Test)
		if i < 0 || !k.Touches {
			continue
		}
		fails := []logic.Lit{p.new.exists, legal, k.Fails}
		others := p.Unrejected(k)
		found := Failure{Rule: i}
		for _, mode := range p.modes() {
			e, err := p.Smallest(nil, slices.Concat(mode, others, fails)...)
			if err != nil && !prove.Undecided(err) {
				return nil, err
			}
			if e == nil {
				continue
			}
			if said, detail := p.Ask(k, e.New, e.Old); said == sample.Errs {
				found.Message, found.Example = detail, p.example(e)
				break
			}
		}
		if found.New != nil || p.MayFail(k, fails...) {
			l = append(l, found)
		}
	}
	return l, ctx.Err()
}
