package audit

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// faults are the findings about rules that reject too much. Such a rule can make examples for other
// rules impossible.
var faults = []diag.Code{codes.AlwaysRejects, codes.BlocksUpdates, codes.FailsToEvaluate}

// maxPasses bounds the audits of a version without faulty rules.
const maxPasses = 2

// findings audits the rules of a version. It audits the other rules again without the faulty rules.
func (v *version) findings(ctx context.Context, versions []*version) []Finding {
	l := v.audit(ctx, versions)
	w := v
	for range maxPasses {
		var faulty []rule
		for _, f := range l {
			if slices.Contains(faults, f.Code) && !slices.ContainsFunc(w.leftOut, f.of.equal) && !slices.ContainsFunc(faulty, f.of.equal) {
				faulty = append(faulty, f.of)
			}
		}
		if len(faulty) == 0 || ctx.Err() != nil {
			break
		}
		if w = w.leaveOut(faulty); w == nil {
			break
		}
		for _, f := range w.audit(ctx, versions) {
			known := func(other Finding) bool { return other.Code == f.Code && other.of.equal(f.of) }
			if f.Code != codes.CostlyRule && !slices.ContainsFunc(l, known) {
				l = append(l, v.qualified(ctx, f, w.leftOut[len(v.leftOut):]))
			}
		}
		v.late = v.late || w.late
	}
	return append(l, v.broken...)
}

// qualified names the faulty rules in a finding if they change the API server's answer to the example.
func (v *version) qualified(ctx context.Context, f Finding, faulty []rule) Finding {
	same := func(w *version) bool {
		response, ok := answer(ctx, w.judge, f.Example.New, f.Example.Old)
		return ok && response == f.Response
	}
	if same(v) {
		return f
	}
	var changing []rule
	for _, r := range faulty {
		others := slices.DeleteFunc(slices.Clone(faulty), r.equal)
		if w := v.leaveOut(others); w != nil && !same(w) {
			changing = append(changing, r)
		}
	}
	if len(changing) == 0 {
		changing = faulty
	}
	f.Without = len(changing)
	for _, r := range changing {
		f.Related = append(f.Related, diag.Related{Pos: v.finding(f.Code, r, nil, "", "").Pos, Message: "the example leaves out this faulty rule"})
	}
	return f
}

// origin is the prefix of an error of CEL: the position in the rule.
var origin = pattern.Lazy(`^ERROR: <input>:\d+:\d+: `)

// uncompiled returns the rules that the API server cannot compile, and adds findings about them.
func (v *version) uncompiled() []rule {
	var l []rule
	v.each(func(_ schemapath.Path, s *apiextensionsv1.JSONSchemaProps, rules []rule) {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.Broken != nil }) {
			return
		}
		structural, err := formula.Structural(s)
		if err != nil {
			return
		}
		for _, r := range rules {
			_, errs := formula.Compile(structural, r.schema.Root || s.XEmbeddedResource, apiextensionsv1.ValidationRules{*r.Validation})
			if errs[0] == nil {
				continue
			}
			l = append(l, r)
			reason := origin().ReplaceAllString(strings.TrimPrefix(errs[0].Error(), "the rule does not compile: "), "")
			v.broken = append(v.broken, v.finding(codes.NotCompiling, r, nil, "", "this rule does not compile: %s", reason).
				hinted("correct the rule, since the API server rejects the CRD"))
		}
	})
	return l
}
