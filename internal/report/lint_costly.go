package report

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// costly finds unions and versions in the plan of a CRD whose rules take more than half of a
// budget.
func costly(p *compile.Plan, crd *apiextensionsv1.CustomResourceDefinition) diag.List {
	var l diag.List
	for _, u := range p.Unions {
		var mostExpensive *compile.RulePlan
		for i, r := range u.Rules {
			if !r.Present && (mostExpensive == nil || share(r.Cost) > share(mostExpensive.Cost)) {
				mostExpensive = &u.Rules[i]
			}
		}
		if mostExpensive == nil || share(mostExpensive.Cost) <= server.HalfBudget {
			continue
		}
		hint := "fewer members, or shorter values, cost less"
		if u.Union.OfItems() {
			hint = "maxItems on the list, or fewer members, cost less"
		}
		hint = cheaper(crd, *mostExpensive, hint)
		what := "a rule of this union takes"
		if mostExpensive.Cost.Rule() < mostExpensive.Cost.MessageExpression {
			what = "a messageExpression of this union takes"
		}
		l = append(l, diag.New(codes.CostlyRules, u.Pos,
			"%s %d%% of the cost that the API server allows for one (%s)", what, share(mostExpensive.Cost), reason(mostExpensive.Cost)).In(u.Place).
			Hinted(hint))
	}
	for i, v := range p.Versions {
		sum := server.PercentOf(server.AddCosts(v.Before, v.Added), server.VersionLimit)
		first := slices.IndexFunc(p.Unions, func(u compile.UnionPlan) bool { return u.Place.Version == i })
		if first < 0 || v.Added == 0 || sum <= server.HalfBudget {
			continue
		}
		l = append(l, diag.Diagnostic{Code: codes.CostlyRules, Severity: diag.Warning, Pos: p.Unions[first].Pos, Schema: schemapath.Place{Version: i}.Structural(),
			Message: fmt.Sprintf("the rules of version %s take %d%% of the cost that the API server allows for a version; other rules than those of unions take %s of it",
				v.Name, sum, almost(server.PercentOf(v.Before, server.VersionLimit))),
			Hint: "unioncel explain lists the cost of each rule: bounds on all lists and maps above the most expensive ones lower it"})
	}
	return l
}

// share returns the percentage of the budget that a rule or its messageExpression takes.
func share(c server.Cost) uint64 {
	return max(server.PercentOf(c.Rule(), server.RuleLimit), server.PercentOf(c.MessageExpression, server.MessageLimit))
}

// almost formats a percentage that is rounded down.
func almost(percent uint64) string {
	if percent == 0 {
		return "less than 1%"
	}
	return fmt.Sprintf("%d%%", percent)
}

func reason(c server.Cost) string {
	if c.Rule() < c.MessageExpression {
		return fmt.Sprintf("it costs %d", c.MessageExpression)
	}
	return fmt.Sprintf("it costs %d and is evaluated up to %d times", c.Once, c.Executions)
}

// cheaper returns a hint with bounds for the lists and maps above a rule. With these bounds, the
// rule takes less than half of its budget. If there are no such bounds, it returns the other hint.
func cheaper(crd *apiextensionsv1.CustomResourceDefinition, r compile.RulePlan, other string) string {
	for _, n := range []int64{1000, 500, 250, 100, 64, 50, 32, 16, 10, 8, 4} {
		bounded, texts := bound(crd.DeepCopy(), r.Place, n)
		if len(texts) == 0 {
			return other
		}
		estimator, err := server.EstimatorOf(bounded)
		if err != nil {
			return other
		}
		costs, err := estimator.Rules(r.Place.Version, r.Place.Path, []apiextensionsv1.ValidationRule{r.Rule.Validation()})
		if err != nil {
			return other
		}
		if s := share(costs[0]); s <= server.HalfBudget {
			return fmt.Sprintf("%s would bring it to %s, as the API server's estimator confirms, and tighten the API", strings.Join(texts, " and "), almost(s))
		}
	}
	return other
}

// bound sets the bound n on every list and map above a schema, unless there is a smaller bound. It
// changes the CRD and returns it, with the text of each bound.
func bound(crd *apiextensionsv1.CustomResourceDefinition, p schemapath.Place, n int64) (_ *apiextensionsv1.CustomResourceDefinition, texts []string) {
	s := crd.Spec.Versions[p.Version].Schema.OpenAPIV3Schema
	bounded := func(at **int64, key string, path schemapath.Path) {
		if *at == nil || **at > n {
			*at = &n
			texts = append(texts, fmt.Sprintf("%s: %d on %s", key, n, path))
		}
	}
	for i, step := range p.Path {
		p.Path[:i].Edit(s, func(at *apiextensionsv1.JSONSchemaProps) {
			switch step {
			case schemapath.Items:
				bounded(&at.MaxItems, "maxItems", p.Path[:i])
			case schemapath.Values:
				bounded(&at.MaxProperties, "maxProperties", p.Path[:i])
			}
		})
	}
	return crd, texts
}
