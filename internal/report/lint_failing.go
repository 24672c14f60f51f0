package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/sample"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// failing adds diagnostics for rules alongside a union that fail to evaluate on an object that the
// union allows. It drops the less specific diagnostic that such a rule rejects objects.
func failing(s *lintedUnion, l diag.List) diag.List {
	rules := yamltext.Resolve(yamltext.Value(s.object.Node, "x-kubernetes-validations"))
	if rules == nil {
		return l
	}
	found, err := verify.Failing(context.Background(), s.crd.CRD, s.object.Version, s.object.Path, s.Union)
	if err != nil {
		return l // compiling reports the invalid schema
	}
	for _, f := range found {
		if f.Rule >= len(rules.Content) {
			continue
		}
		item := rules.Content[f.Rule]
		if rule := yamltext.Value(item, "rule"); rule != nil {
			item = rule
		}
		if f.New == nil {
			l = append(l, s.find(codes.NotDecided, s.node(item), nil, "", "this rule is not decided: "+verify.NotShown)...)
			continue
		}
		request := "creation"
		if f.Old != nil {
			request = "update"
		}
		hint := cmp.Or(sample.CostHint(f.Message), "guard each read of a field that may be absent: has(self.x) && self.x == '...'")
		found := s.find(codes.FailingRule, s.node(item), nil,
			hint+"; an evaluation error is never ratcheted, so a stored object of this kind cannot be updated at all, its status included",
			"this rule fails to evaluate when %s (%s), and the API server rejects the %s: %s", f.Words(s.Union), f.Message, request, InlineObject(f.New))
		rejects := s.schema.XValidations[f.Rule].Rule + ", hand-written, rejects"
		l = slices.DeleteFunc(l, func(d diag.Diagnostic) bool {
			return d.Code == codes.HandWrittenConstraint && d.Schema == found[0].Schema && strings.HasPrefix(d.Message, rejects)
		})
		l = append(l, found...)
	}
	return l
}
