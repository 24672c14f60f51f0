package compile

import (
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/pkg/diag"
)

// validate lets the API server judge the whole resulting CRD. Only problems that
// compiling adds are errors; those the CRD had before are warnings, once. When
// a rule is over its budget, fit looks for cheaper encodings.
func (c *compiler) validate() {
	after, problems := c.judgeResult()
	if len(problems) == 0 {
		c.compileForOldServer()
		return
	}
	original, err := c.with(nil)
	if err != nil {
		c.report(diag.Diagnostic{Code: diag.UndecodableCRD, Pos: c.pos(c.manifest.Node), Message: err.Error()})
		return
	}
	before := judge(original)
	if added := without(problems, before); hasBudget(added) {
		c.fit(original)
		if c.diags.HasErrors() {
			return
		}
		after, problems = c.judgeResult()
	}
	for _, e := range without(problems, before) {
		c.report(diag.Diagnostic{Code: diag.InvalidResult, Pos: c.nearest(e.Field), Path: e.Field,
			Message: "the API server would refuse the compiled CRD: " + e.ErrorBody()})
	}
	for _, e := range before {
		c.report(diag.Diagnostic{Code: diag.InvalidBefore, Severity: diag.Warning, Pos: c.nearest(e.Field), Path: e.Field,
			Message: "the API server refuses this CRD as it is, apart from its unions: " + shorten(e.ErrorBody())})
	}
	// The server compiles no rules in a CRD that is not structural, so do it here.
	c.compileAll(after)
	c.compileForOldServer()
}

// judgeResult validates the CRD with the rules written so far.
func (c *compiler) judgeResult() (*apiextensions.CustomResourceDefinition, field.ErrorList) {
	crd, err := c.with(c.additions())
	if err != nil {
		return nil, field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return crd, judge(crd)
}

// Parts of the budget errors' texts that say of which kind they are.
const (
	overRuleBudget  = "estimated rule cost exceeds budget"
	overTotalBudget = "estimated rule cost total"
	inTotalBudget   = "contributed to estimated rule cost total"
	overMessage     = "estimated messageExpression cost exceeds budget"
)

// problem is what identifies a validation error across an edit: how far a
// budget is exceeded, and what contributes to it, may change.
func problem(e *field.Error) string {
	switch {
	case strings.Contains(e.Detail, inTotalBudget):
		return "total"
	case strings.Contains(e.Detail, overTotalBudget):
		return "total"
	}
	return e.Error()
}

// without returns the errors that are not among known ones.
func without(l, known field.ErrorList) field.ErrorList {
	seen := map[string]bool{}
	for _, e := range known {
		seen[problem(e)] = true
	}
	var out field.ErrorList
	for _, e := range l {
		if !seen[problem(e)] {
			out = append(out, e)
		}
	}
	return out
}

func hasBudget(l field.ErrorList) bool {
	for _, e := range l {
		if strings.Contains(e.Detail, overRuleBudget) || strings.Contains(e.Detail, overTotalBudget) || strings.Contains(e.Detail, overMessage) {
			return true
		}
	}
	return false
}

// nearest is the position of the declaration closest to a field of the CRD.
func (c *compiler) nearest(path string) diag.Pos {
	best, length := c.pos(c.manifest.Node), 0
	for _, o := range c.objects {
		place := o.Place.String()
		// One schema for all versions is hoisted before it is validated.
		hoisted := strings.Replace(place, fmt.Sprintf("spec.versions[%d].schema", o.Version), "spec.validation", 1)
		for _, p := range []string{place, hoisted} {
			if strings.HasPrefix(path, p+".x-kubernetes-validations") && len(p) > length {
				best, length = o.Declarations[0].Pos, len(p)
			}
		}
	}
	return best
}

// shorten cuts the dump of a whole schema out of an error.
func shorten(s string) string {
	const limit = 400
	if len(s) <= limit {
		return s
	}
	head, tail := s[:limit/4], s[len(s)-limit/2:]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}
