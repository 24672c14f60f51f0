package audit

import (
	"context"
	"fmt"
	"math"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/verify"
)

// portion describes a percentage, before the budget.
func portion(percent uint64) string {
	if percent < 1000 {
		return fmt.Sprintf("%d%% of", percent)
	}
	return english.Number(percent/100) + " times"
}

// costly finds rules that take more than half of the budget of a rule. If the other rules of the
// version together take more than half of the budget of a version, or the budget of a request, it
// reports the costliest of them.
func (v *version) costly(ctx context.Context) []Finding {
	estimator, err := cost.Of(v.crd)
	if err != nil {
		return nil
	}
	var rules []rule
	v.each(func(_ schemapath.Path, _ *apiextensionsv1.JSONSchemaProps, l []rule) { rules = append(rules, l...) })
	var l []Finding
	var most *rule
	var highest, total uint64
	var mostCost cost.Cost
	for i, r := range rules {
		if i > 0 && rules[i-1].schema == r.schema {
			continue // estimated with the others of its schema
		}
		costs, err := estimator.Rules(0, r.path, r.schema.Props.XValidations)
		if err != nil {
			continue
		}
		for j, c := range costs {
			own := rules[i+j]
			if p := cost.Percent(c.Rule(), cost.RuleLimit); p > cost.Half {
				l = append(l, v.finding(codes.CostlyRule, own, nil, "", "%s", excess("this rule takes", c.Rule(), p, "one")).hinted("%s", v.bounds(own, c)))
				continue
			}
			total = cost.Add(total, c.Total())
			if c.Total() > highest {
				highest, most, mostCost = c.Total(), &rules[i+j], c
			}
		}
	}
	request, _ := verify.Request(ctx, v.crd, 0, v.crd, 0) // audit reports its errors at the end
	switch p := cost.Percent(total, cost.VersionLimit); {
	case most == nil:
	case request != nil && request.Kind == verify.Rejected:
		l = append(l, v.finding(codes.CostlyRule, *most, &prove.Example{New: request.New}, request.Message,
			"%s, and this rule takes the most", request.Text).hinted("%s", v.bounds(*most, mostCost)))
	case p > cost.Half:
		l = append(l, v.finding(codes.CostlyRule, *most, nil, "",
			"%s, and this rule takes the most", excess("the rules of version "+v.name+" take", total, p, "a version")).hinted("%s", v.bounds(*most, mostCost)))
	}
	return l
}

// excess compares a cost with a budget.
func excess(takes string, total, percent uint64, budget string) string {
	times := portion(percent)
	if total == math.MaxUint64 {
		times = "an unbounded multiple of"
	}
	return takes + " " + times + " the cost that the API server allows for " + budget
}

// bounds returns a fix for a costly rule: bounds for the lists and maps that contain it, for values
// that it reads, or both.
func (v *version) bounds(r rule, c cost.Cost) string {
	var unbounded, bounded []string
	for i, step := range r.path {
		container := r.path[:i]
		s, key := container.Schema(v.root.Props), ""
		var most *int64
		switch step {
		case schemapath.Items:
			key, most = "maxItems", s.MaxItems
		case schemapath.Values:
			key, most = "maxProperties", s.MaxProperties
		default:
			continue
		}
		if most == nil {
			unbounded = append(unbounded, container.String()+" with "+key)
		} else {
			bounded = append(bounded, fmt.Sprintf("%s of %s (%d)", key, container, *most))
		}
	}
	var l []string
	if cost.Percent(c.Once, cost.RuleLimit) > 0 || len(unbounded)+len(bounded) == 0 {
		l = append(l, "bound the lists, maps and strings that the rule reads with maxItems, maxProperties and maxLength")
	}
	switch {
	case len(unbounded) > 0:
		l = append(l, "bound "+english.List(unbounded, "and"))
	case len(bounded) > 0:
		l = append(l, "lower "+english.List(bounded, "and"))
	}
	return strings.Join(l, "; ")
}
