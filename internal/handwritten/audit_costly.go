package handwritten

import (
	"context"
	"fmt"
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// costly finds rules that take more than half of the budget of a rule. If the other rules of the
// version together take more than half of the budget of a version, or the budget of a request, it
// reports the costliest of them.
func (v *version) costly(ctx context.Context) []Finding {
	estimator, err := server.EstimatorOf(v.crd)
	if err != nil {
		return nil
	}
	var l []Finding
	var most *rule
	var highest, total uint64
	var mostCost server.Cost
	v.each(func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps, rules []rule) {
		costs, err := estimator.Rules(0, path, s.XValidations)
		if err != nil {
			return
		}
		for i, c := range costs {
			if i >= len(rules) { // compiled
				total = server.AddCosts(total, c.Total())
				continue
			}
			if p := server.PercentOf(c.Rule(), server.RuleLimit); p > server.HalfBudget {
				l = append(l, v.costlyRule(rules[i], c, c.Rule() > server.RuleLimit, nil, "", excess("this rule takes", c.Rule(), p, "one")))
				continue
			}
			total = server.AddCosts(total, c.Total())
			if c.Total() > highest {
				highest, most, mostCost = c.Total(), &rules[i], c
			}
		}
	})
	request, _ := verify.Request(ctx, v.crd, 0, v.crd, 0) // audit reports its errors at the end
	over := total > server.VersionLimit
	switch p := server.PercentOf(total, server.VersionLimit); {
	case most == nil:
	case request != nil && request.Kind == verify.Rejected:
		l = append(l, v.costlyRule(*most, mostCost, over, &prove.Example{New: request.New}, request.Message, request.Text+", and this rule takes the most"))
	case p > server.HalfBudget:
		l = append(l, v.costlyRule(*most, mostCost, over, nil, "", excess("the rules of version "+v.name+" take", total, p, "a version")+", and this rule takes the most"))
	}
	return l
}

// costlyRule returns the finding for a rule that takes most of a budget. It is an error if the rules are
// over the budget, so that the API server rejects a CRD with them.
func (v *version) costlyRule(r rule, c server.Cost, over bool, e *prove.Example, response, message string) Finding {
	f := v.finding(codes.CostlyRule, r, e, response, "%s", message).hinted("%s", v.bounds(r, c))
	if over {
		f.Diagnostic = f.As(diag.Error)
	}
	return f
}

// excess compares a cost with a budget.
func excess(takes string, total, percent uint64, budget string) string {
	times := fmt.Sprintf("%d%% of", percent)
	switch {
	case total == math.MaxUint64:
		times = "an unbounded multiple of"
	case percent >= 1000:
		times = english.Number(percent/100) + " times"
	}
	return takes + " " + times + " the cost that the API server allows for " + budget
}

// bounds returns a fix for a costly rule: bounds of the lists and maps that contain it, and of the values that
// it reads.
func (v *version) bounds(r rule, c server.Cost) string {
	var read []schemapath.Path
	for _, names := range r.Paths {
		path := r.path.Append(schemapath.New(names...)...)
		schemapath.Walk(path.Schema(v.root.Props), func(p schemapath.Path, _ *apiextensionsv1.JSONSchemaProps) bool {
			read = append(read, path.Append(p...))
			return true
		})
	}
	most := min(server.HalfBudget, server.PercentOf(c.Rule(), server.RuleLimit)/2)
	return report.Cheaper(v.crd, schemapath.Place{Path: r.path}, *r.Validation, most, read,
		"nest fewer macros, or read smaller values; the API server knows no bound of optional values, such as self.?a, nor of texts that functions return")
}
