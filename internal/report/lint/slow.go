package lint

import (
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// slow finds unions whose rules take a noticeable part of the time of every request.
func slow(c *crdfile.CRD, p *compile.Plan, crd *apiextensionsv1.CustomResourceDefinition) diag.List {
	var l diag.List
	for i, u := range p.Unions {
		if u.Time <= cost.Noticeable {
			continue
		}
		properties := len(u.Schema(crd).Properties)
		each := ""
		if u.Place.Path.HasElements() {
			each = ", for each of the union objects in it"
		}
		l = append(l, diag.Diagnostic{Code: codes.SlowRules, Severity: diag.Warning, Pos: u.Pos, Path: u.Place.String(), Schema: u.Place.Structural(),
			Message: fmt.Sprintf("the rules of this union take about %s of every request that writes the object%s: for each field that they read, the API server copies all %d properties of the union object",
				cost.Format(u.Time), each, properties),
			Hint: quicker(c, i, u, properties)})
	}
	return l
}

// quicker returns a hint with ways to make the rules of a union faster, and their effect.
func quicker(c *crdfile.CRD, i int, u compile.UnionPlan, properties int) string {
	var l []string
	if compact, _ := c.Encoded(compile.Compact).Plan(); compact != nil && compact.Unions[i].Time < worth(u.Time) {
		l = append(l, fmt.Sprintf("--encoding compact brings it to %s, with errors on the object instead of the member", cost.Format(compact.Unions[i].Time)))
	}
	if without := u.Time - clearing(u, properties); without < worth(u.Time) {
		l = append(l, fmt.Sprintf("discriminatorChange: Allow brings it to %s, at the cost of a message", cost.Format(without)))
	}
	own := len(u.Union.Names())
	if alone := u.Time * time.Duration(own) / time.Duration(properties); alone < worth(u.Time) {
		l = append(l, fmt.Sprintf("an object of its own for the union, with %d properties, brings it to %s", own, cost.Format(alone)))
	}
	if len(l) == 0 {
		return "the time grows with the square of the number of members: fewer of them take less"
	}
	return strings.Join(l, "; ")
}

// worth returns the time that a suggestion must reach.
func worth(d time.Duration) time.Duration { return d * 4 / 5 }

// clearing returns the evaluation time of the transition rules of discriminatorChange: Clear. With
// Allow there are no such rules.
func clearing(u compile.UnionPlan, properties int) time.Duration {
	if u.Union.Change != union.Clear {
		return 0
	}
	var sum time.Duration
	for _, r := range u.Rules {
		if r.Kind == compile.Transition {
			d, _ := cost.Time(r.Rule.Rule, properties, u.Union.Path(u.Union.Discriminator).Properties()...) // the rule compiles
			sum += d
		}
	}
	return sum
}
