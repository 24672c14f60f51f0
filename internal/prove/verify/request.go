package verify

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Request decides whether the rules of a version together may cost more than the API server spends
// on the evaluations for one request (RuntimeCELCostBudget in k8s.io/apiserver/pkg/apis/cel), though
// each of them is within its limits. It considers objects of up to 256 KiB that
// a version of the CRD accepted accepts, which may be the same.
//
// The finding is [Rejected], with an object that shows it, or [Undecided] if the estimate of the
// API server is higher and no such object was found. It is nil if the estimate is within the budget, or
// if there is none because a rule does not compile.
func Request(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, accepted *apiextensionsv1.CustomResourceDefinition, acceptedVersion int) (*Finding, error) {
	estimator, err := server.EstimatorOf(crd)
	if err != nil {
		return nil, nil
	}
	total, err := estimator.Request(version)
	if err != nil || total <= server.RequestLimit {
		return nil, nil
	}
	root, err := sample.RootOf(crd, version)
	if err != nil {
		return nil, nil
	}
	from, err := sample.RootOf(accepted, acceptedVersion)
	if err != nil {
		return nil, nil
	}
	f := &Finding{Kind: Rejected, RuleAt: schemapath.Path{}.Structural(version),
		Text: fmt.Sprintf("the rules of version %s together cost more than the API server spends on a request (%s)", crd.Spec.Versions[version].Name, english.Number(server.RequestLimit))}
	if f.New, f.Message = sample.NewSource(ctx, accepted, acceptedVersion).Overrun(from, root.Props); f.New == nil {
		f.Kind = Undecided
		f.Text = fmt.Sprintf("for an object of 256 KiB, %s, by an estimate (%s); no object was found that shows it", f.Text, english.Number(total))
	}
	return f, context.Cause(ctx)
}
