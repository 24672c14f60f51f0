package audit

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
)

// half is the percentage of a budget beyond which little can be added.
const half = 50

func percent(n, of uint64) uint64 { return n / (of / 100) }

// portion describes a percentage, before the budget.
func portion(percent uint64) string {
	if percent < 1000 {
		return fmt.Sprintf("%d%% of", percent)
	}
	return english.Number(percent/100) + " times"
}

// costly finds rules that take more than half of the budget of a rule. If the other rules of the
// version together take more than half of the budget of a version, it reports the costliest of them.
func (v *version) costly(rules []rule) []Finding {
	crd := v.crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil) != nil {
		return nil
	}
	estimator := cost.New(internal, nil)
	const hint = "bound the lists, maps and strings that it reads, and the lists and maps that contain it, with maxItems, maxProperties and maxLength"
	var l []Finding
	var most *rule
	var highest, total uint64
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
			if p := percent(c.Rule(), cost.RuleLimit); p > half {
				l = append(l, v.finding(diag.CostlyRule, own, nil, "", "this rule takes %s the cost that the API server allows for one", portion(p)).hinted(hint))
				continue
			}
			total = cost.Add(total, c.Total())
			if c.Total() > highest {
				highest, most = c.Total(), &rules[i+j]
			}
		}
	}
	if p := percent(total, cost.VersionLimit); p > half {
		l = append(l, v.finding(diag.CostlyRule, *most, nil, "",
			"the rules of version %s take %s the cost that the API server allows for a version, and this rule takes the most", v.name, portion(p)).hinted(hint))
	}
	return l
}
