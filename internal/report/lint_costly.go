package report

import (
	"fmt"
	"math"
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
		hint = Cheaper(crd, mostExpensive.Place, mostExpensive.Rule.Validation(), server.HalfBudget, nil, hint)
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

// Cheaper returns a hint with bounds for the lists and maps above a rule, and for the lists, maps and strings
// at paths. With these bounds, the rule takes at most the given percentage of its budget. If there are no
// such bounds, Cheaper returns the other hint.
func Cheaper(crd *apiextensionsv1.CustomResourceDefinition, on schemapath.Place, rule apiextensionsv1.ValidationRule, most uint64, at []schemapath.Path, other string) string {
	var above, all, missing []schemapath.Path
	for i := range on.Path {
		above = append(above, on.Path[:i])
	}
	for _, path := range append(above, at...) {
		_, bound := boundOf(schemapath.Place{Version: on.Version, Path: path}.Schema(crd))
		if bound == nil || len(all) == maxBounds || slices.ContainsFunc(all, path.Equal) {
			continue
		}
		if all = append(all, path); *bound == nil {
			missing = append(missing, path)
		}
	}
	bounded := func(n int64, at []schemapath.Path) (percent uint64, texts []string) {
		bounded := crd.DeepCopy()
		for _, path := range at {
			path.Edit(bounded.Spec.Versions[on.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
				if key, bound := boundOf(s); bound != nil && (*bound == nil || **bound > n) {
					*bound = &n
					texts = append(texts, fmt.Sprintf("%s: %d on %s", key, n, path))
				}
			})
		}
		if len(texts) == 0 {
			return math.MaxUint64, nil
		}
		if estimator, err := server.EstimatorOf(bounded); err == nil {
			if costs, err := estimator.Rules(on.Version, on.Path, []apiextensionsv1.ValidationRule{rule}); err == nil {
				return share(costs[0]), texts
			}
		}
		return math.MaxUint64, nil
	}
	for _, at := range [][]schemapath.Path{missing, all} {
		if s, _ := bounded(sizes[len(sizes)-1], at); s > most {
			continue
		}
		for _, n := range sizes {
			s, texts := bounded(n, at)
			if s > most {
				continue
			}
			for _, path := range at { // not all of them may matter
				less := slices.DeleteFunc(slices.Clone(at), path.Equal)
				if percent, shorter := bounded(n, less); percent <= most {
					at, s, texts = less, percent, shorter
				}
			}
			return fmt.Sprintf("%s would bring it to %s, as the API server's estimator confirms, and tighten the API", strings.Join(texts, " and "), almost(s))
		}
	}
	return other
}

// sizes are the bounds to try, and maxBounds is the number of values to bound: each try takes as long as
// reading the CRD.
var sizes = []int64{1000, 500, 250, 100, 64, 50, 32, 16, 10, 8, 4}

const maxBounds = 16

// boundOf returns the keyword that bounds the size of the values of a schema, and its value. It is nil for
// values of a fixed size.
func boundOf(s *apiextensionsv1.JSONSchemaProps) (key string, at **int64) {
	switch {
	case s == nil || len(s.Enum) > 0:
	case s.Type == "array":
		return "maxItems", &s.MaxItems
	case s.AdditionalProperties != nil:
		return "maxProperties", &s.MaxProperties
	case s.Type == "string":
		return "maxLength", &s.MaxLength
	}
	return "", nil
}
