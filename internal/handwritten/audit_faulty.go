package handwritten

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kube "k8s.io/apimachinery/pkg/util/version"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// faults are the findings about rules that reject too much. Such a rule can make examples for other
// rules impossible.
var faults = []diag.Code{codes.AlwaysRejects, codes.BlocksUpdates, codes.FailsToEvaluate}

// maxPasses bounds the audits of a version without some of its rules.
const maxPasses = 4

// findings audits the rules of a version. It audits the other rules again without the faulty rules, and
// then without unmet ones.
func (v *version) findings(ctx context.Context, versions []*version) []Finding {
	l := append(v.costly(ctx), v.audit(ctx, versions, func(schemapath.Path, []rule) bool { return true })...)
	w := v
	for range maxPasses {
		var faulty []rule
		for _, f := range l {
			if slices.Contains(faults, f.Code) && !slices.ContainsFunc(w.leftOut, f.of.equal) && !slices.ContainsFunc(faulty, f.of.equal) {
				faulty = append(faulty, f.of)
			}
		}
		if len(faulty) == 0 {
			faulty = w.unmet(ctx)
		}
		if len(faulty) == 0 || ctx.Err() != nil {
			break
		}
		if w = w.leaveOut(faulty); w == nil {
			break
		}
		more := slices.DeleteFunc(w.audit(ctx, versions, w.affected(faulty)), func(f Finding) bool {
			return slices.ContainsFunc(l, func(known Finding) bool { return known.Code == f.Code && known.of.equal(f.of) })
		})
		v.qualify(ctx, more, w.leftOut[len(v.leftOut):])
		l = append(l, more...)
		v.open = w.open
	}
	return append(l, v.broken...)
}

// unmetRule is the reason why a rule is undecided that makes all others undecided.
const unmetRule = "no object was found that it and the other rules accept, so examples leave it out"

// unmet returns rules without which more objects have an example. They stay undecided.
func (v *version) unmet(ctx context.Context) (l []rule) {
	if !slices.ContainsFunc(v.open, func(f Finding) bool { return f.Message == noObject }) {
		return nil
	}
	g := sample.NewSource(ctx, v.crd, 0)
	v.each(func(_ schemapath.Path, _ *apiextensionsv1.JSONSchemaProps, rules []rule) {
		for _, t := range g.Unmet(rules[0].schema) {
			if i := slices.IndexFunc(rules, func(r rule) bool { return r.Test == t }); i >= 0 {
				l = append(l, rules[i])
			}
		}
	})
	v.open = slices.Clone(v.open)
	for i := range v.open {
		if slices.ContainsFunc(l, v.open[i].of.equal) {
			v.open[i].Message = unmetRule
		}
	}
	return l
}

// leavesOut notes that the example of a finding is one without a rule.
func (v *version) leavesOut(f *Finding, r rule) {
	kind := "faulty"
	if slices.ContainsFunc(v.open, func(f Finding) bool { return f.Message == unmetRule && f.of.equal(r) }) {
		kind = "undecided"
	}
	f.Without++
	f.Related = append(f.Related, diag.Related{Pos: v.finding(f.Code, r, nil, "", "").Pos, Message: "the example leaves out this " + kind + " rule"})
}

// affected returns the objects for which rules matter that have been left out since the last audit: those
// around the rules or in their objects, and those without an object that the API server accepts.
func (v *version) affected(leftOut []rule) func(object schemapath.Path, rules []rule) bool {
	before := v.open
	return func(object schemapath.Path, rules []rule) bool {
		around := func(r rule) bool {
			n := min(len(object), max(0, len(r.path)-1))
			return object[:n].Equal(r.path[:n])
		}
		return slices.ContainsFunc(leftOut, around) ||
			slices.ContainsFunc(before, func(f Finding) bool { return f.Message == noObject && slices.ContainsFunc(rules, f.of.equal) })
	}
}

// qualify names the faulty rules in findings if they change the API server's answer to the example.
func (v *version) qualify(ctx context.Context, l []Finding, faulty []rule) {
	same := func(w *version, f *Finding) bool {
		if f.Between != nil {
			return accepts(ctx, w.judge, f.Example.Old, f.Between, f.Example.New)
		}
		response, ok := answer(ctx, w.judge, f.Example.New, f.Example.Old)
		missing := func(cause string) bool { return !strings.Contains(response, cause) }
		partial := f.Code == codes.AlwaysRejects || f.Code == codes.SameRule // see rejectedByBoth
		return ok && (response == f.Response || partial && !slices.ContainsFunc(strings.Split(f.Response, "; "), missing))
	}
	var changed []*Finding
	for i := range l {
		if !same(v, &l[i]) {
			changed = append(changed, &l[i])
		}
	}
	for i := 0; i < len(faulty) && len(changed) > 0; i++ {
		if w := v.leaveOut(slices.Delete(slices.Clone(faulty), i, i+1)); w != nil {
			for _, f := range changed {
				if !same(w, f) {
					v.leavesOut(f, faulty[i])
				}
			}
		}
	}
	for _, f := range changed {
		if f.Without > 0 {
			continue
		}
		for _, r := range faulty {
			v.leavesOut(f, r)
		}
	}
}

// uncompiled returns the rules that the API server cannot compile. It adds findings about them, and
// about rules that the oldest API server, by the options, does not support.
func (v *version) uncompiled() []rule {
	found := map[diag.Code][]server.Fault{codes.NotCompiling: server.Faults(v.crd, nil)}
	if oldest := v.source.Options().KubeVersion; oldest != "" {
		found[codes.KubeVersion] = server.Faults(v.crd, kube.MustParseGeneric(oldest))
	}
	var l []rule
	v.each(func(path schemapath.Path, _ *apiextensionsv1.JSONSchemaProps, rules []rule) {
		for code, faults := range found {
			for _, f := range faults {
				i := slices.IndexFunc(rules, func(r rule) bool { return f.Index == r.Index && f.Path.Equal(path) })
				if i < 0 {
					continue
				}
				if code == codes.KubeVersion {
					f.Hint = v.source.Options().Origins.Version(f.Hint)
				}
				v.broken = append(v.broken, v.finding(code, rules[i], nil, "", "%s", f.Message).hinted("%s", f.Hint))
				if code == codes.NotCompiling {
					l = append(l, rules[i])
				}
			}
		}
	})
	return l
}
