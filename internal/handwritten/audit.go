package handwritten

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// AuditResult is the result of an audit.
type AuditResult struct {
	Findings []Finding // in the order of the file
	// Rules is the number of rules of the served versions. Undecided are the rules without findings that
	// may have mistakes, with the reasons as messages.
	Rules     int
	Undecided []Finding
	// Diags are the diagnostics of reading the CRD.
	Diags diag.List
}

// Audit audits the hand-written rules of the served versions of a CRD. It returns an error if ctx is
// cancelled.
func Audit(ctx context.Context, c *crdpatch.CRD) (AuditResult, error) {
	crd, wrong := c.Source()
	result := AuditResult{Diags: wrong}
	if crd == nil {
		return result, nil
	}
	if _, invalid := c.Resolved(); invalid.HasErrors() { // without its unions, the findings would be wrong
		return AuditResult{Diags: invalid}, nil
	}
	var versions []*version
	for i, v := range crd.Spec.Versions {
		if v.Served {
			if v := newVersion(ctx, c, crd, i); v != nil {
				versions = append(versions, v)
			}
		}
	}
	for _, v := range versions {
		result.Findings = append(result.Findings, v.findings(ctx, versions)...)
		result.Rules += v.rules
		for _, o := range v.open {
			if !slices.ContainsFunc(result.Findings, func(f Finding) bool { return f.Version == v.name && f.of.equal(o.of) && f.Code != codes.CostlyRule }) {
				result.Undecided = append(result.Undecided, o)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return AuditResult{}, err
	}
	for _, l := range [][]Finding{result.Findings, result.Undecided} {
		slices.SortStableFunc(l, func(a, b Finding) int { return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Code, b.Code)) })
	}
	return result, nil
}

// version is a served version of a CRD.
type version struct {
	source  *crdpatch.CRD
	crd     *apiextensionsv1.CustomResourceDefinition // with this version only, and the rules of its unions
	index   int                                       // in the CRD of the file
	name    string
	written *apiextensionsv1.JSONSchemaProps // the schema in the file; only its rules are audited
	root    *sample.Schema
	// judge is the API server's code. It has no status subresource: one write sets all fields. statusApart
	// means that the CRD has it.
	judge       *server.Kind
	statusApart bool
	// without is the version without the rule lacks: see lacking.
	without *version
	lacks   *sample.Test
	leftOut []rule // the schema accepts every object in their place
	rules   int
	open    []Finding // the rules that may have mistakes that are not found
	// broken are the findings about rules that do not compile. They are left out.
	broken []Finding
}

// newVersion returns a version, or nil if it has no rules or the API server would not serve it.
func newVersion(ctx context.Context, c *crdpatch.CRD, crd *apiextensionsv1.CustomResourceDefinition, index int) *version {
	alone := *crd
	one := crd.Spec.Versions[index]
	one.Storage, one.Subresources, one.Deprecated = true, nil, false
	alone.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{one}
	alone.Spec.Conversion = nil
	s := crd.Spec.Versions[index].Subresources
	v := &version{source: c, crd: &alone, index: index, name: one.Name, statusApart: s != nil && s.Status != nil}
	if one.Schema != nil {
		v.written = one.Schema.OpenAPIV3Schema
	}
	if l := v.compiled(); len(l) > 0 {
		v.crd = v.with(l)
	}
	if v = v.build(); v == nil || ctx.Err() != nil {
		return nil
	}
	if l := v.uncompiled(); len(l) > 0 {
		return v.leaveOut(l)
	}
	return v
}

// build prepares the schema of the version. It returns nil if there is none or the API server would
// not serve it.
func (v *version) build() *version {
	root, err := sample.RootOf(v.crd, 0)
	if err != nil {
		return nil
	}
	v.root, v.judge, v.without, v.lacks = root, server.NewKind(v.crd), nil, nil
	if v.judge.Check(v.name) != nil {
		return nil
	}
	return v
}

// leaveOut returns the version with "true" in the place of some rules, which keeps the indices of
// the others.
func (v *version) leaveOut(l []rule) *version {
	other := v.rewritten("true", l...)
	if other != nil {
		other.leftOut = slices.Concat(v.leftOut, l)
	}
	return other
}

// rewritten returns the version with a text in the place of some rules. It is nil if the API server would
// not serve it. It takes as long as reading the CRD: callers prove what they can first.
func (v *version) rewritten(text string, l ...rule) *version {
	other := *v
	other.crd = v.copied(func(root *apiextensionsv1.JSONSchemaProps) {
		for _, r := range l {
			r.path.Edit(root, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations[r.Index].Rule = text })
		}
	})
	return other.build()
}

// copied returns a copy of the CRD, with an edit of its schema.
func (v *version) copied(edit func(root *apiextensionsv1.JSONSchemaProps)) *apiextensionsv1.CustomResourceDefinition {
	crd := v.crd.DeepCopy()
	edit(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	return crd
}

// Tally describes the undecided rules, or returns "" if there are none.
func (r AuditResult) Tally() string {
	if len(r.Undecided) == 0 {
		return ""
	}
	counts := map[string]int{}
	for _, f := range r.Undecided {
		counts[f.Message]++
	}
	var l []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		l = append(l, fmt.Sprintf("%s (%d)", reason, counts[reason]))
	}
	return fmt.Sprintf("%d of %s not decided: %s", len(r.Undecided), english.Plural(r.Rules, "rule"), strings.Join(l, "; "))
}

// rule is a rule of a schema.
type rule struct {
	*sample.Test
	path   schemapath.Path
	schema *sample.Schema
}

// equal reports whether two rules have the same place in the schema.
func (r rule) equal(other rule) bool { return r.Index == other.Index && r.path.Equal(other.path) }

// each calls f with the hand-written rules of each schema that has any.
func (v *version) each(f func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps, rules []rule)) {
	schemapath.Walk(v.root.Props, func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		written := path.Schema(v.written)
		if written == nil || len(written.XValidations) == 0 {
			return true
		}
		c, err := sample.NewChain(v.root, path)
		if err != nil {
			return true
		}
		n := c.Object()
		var rules []rule
		for _, t := range n.Rules() {
			if t.Key == sample.RuleKey && t.Index < len(written.XValidations) {
				rules = append(rules, rule{t, path, n})
			}
		}
		f(path, s, rules)
		return true
	})
}

// noObject is the reason why the rules of an object are undecided.
const noObject = "no object was found that the API server accepts"

// audit audits the rules of the selected objects of a version. The rules of others stay as undecided as they
// were.
func (v *version) audit(ctx context.Context, versions []*version, selected func(object schemapath.Path, rules []rule) bool) []Finding {
	var objects []schemapath.Path
	owned := map[string][]rule{}
	var all []rule
	undecide := func(reason string, rules ...rule) {
		for _, r := range rules {
			if !slices.ContainsFunc(v.leftOut, r.equal) && !slices.ContainsFunc(v.open, func(f Finding) bool { return f.of.equal(r) }) {
				v.open = append(v.open, v.finding(codes.NotDecided, r, nil, "", "%s", reason))
			}
		}
	}
	v.each(func(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps, rules []rule) {
		all = append(all, rules...)
		object, ok := objectOf(path, s)
		if !ok { // only failures are asked for
			undecide("it is on a value of a list or map", slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return r.Broken == nil && !r.MayFail(s) })...)
			return
		}
		if _, known := owned[object.String()]; !known {
			objects = append(objects, object)
		}
		for _, r := range rules {
			if r.Broken == nil && !slices.ContainsFunc(v.leftOut, r.equal) {
				owned[object.String()] = append(owned[object.String()], r)
			}
		}
	})
	v.rules = len(all)
	var l []Finding
	for _, path := range objects {
		if !selected(path, owned[path.String()]) {
			continue
		}
		v.open = slices.DeleteFunc(slices.Clone(v.open), func(f Finding) bool { return slices.ContainsFunc(owned[path.String()], f.of.equal) })
		g := sample.NewSource(ctx, v.crd, 0)
		o, err := v.object(g, path, owned[path.String()])
		if err == nil {
			l = append(l, o.audit(versions)...)
			err = g.Err()
		}
		if err != nil {
			undecide(err.Error(), owned[path.String()]...)
			continue
		}
		_, err = g.First(o.Object())
		decided := err == nil && !slices.ContainsFunc(o.audited, func(a *audited) bool { return a.open != "" })
		accepts := decided || o.accepted(o.Self(prove.New).Present()) != nil
		for _, a := range o.audited {
			switch {
			case !accepts:
				undecide(noObject, a.rule)
			case a.open != "":
				undecide(a.open, a.rule)
			}
		}
	}
	for _, r := range all {
		if r.Broken != nil {
			undecide(r.Broken.Error(), r)
		}
	}
	v.confirmGuards(ctx, l)
	return l
}

// objectOf returns the path of the object whose properties a rule on a schema constrains: the
// schema itself, or the object that has it as a property.
func objectOf(path schemapath.Path, s *apiextensionsv1.JSONSchemaProps) (object schemapath.Path, ok bool) {
	if s.Type == "object" && len(s.Properties) > 0 {
		return path, true
	}
	if len(path) == 0 {
		return nil, false
	}
	if _, ok := path[len(path)-1].Property(); !ok {
		return nil, false
	}
	return path[:len(path)-1], true
}

// lacking returns the API server's code without a rule. It keeps the last one only: one takes 30 MB
// for a CRD of 1.3 MB.
func (v *version) lacking(r rule) *server.Kind {
	if v.lacks != r.Test {
		v.lacks = r.Test
		if v.without = v.leaveOut([]rule{r}); v.without == nil {
			v.without = v // no object counts as rejected because of the rule alone
		}
	}
	return v.without.judge
}

// further is a rule that the CRD lacks.
type further struct {
	path schemapath.Path
	rule apiextensionsv1.ValidationRule
}

// with returns the CRD with further rules.
func (v *version) with(l []further) *apiextensionsv1.CustomResourceDefinition {
	return v.copied(func(root *apiextensionsv1.JSONSchemaProps) {
		for _, r := range l {
			r.path.Edit(root, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = append(s.XValidations, r.rule) })
		}
	})
}

// compiled returns the rules of the declared unions. There are none if these have errors.
func (v *version) compiled() (l []further) {
	plan, _ := v.source.Plan()
	if plan == nil || plan.Result == nil {
		return nil
	}
	for _, addition := range plan.Result.Additions {
		for _, r := range addition.Rules {
			if addition.Version == v.index {
				l = append(l, further{addition.Path, r.Validation()})
			}
		}
	}
	return l
}

// accepts reports whether the API server accepts the creation of an object or, unless old is nil, an
// update, and then further updates.
func accepts(ctx context.Context, k *server.Kind, old map[string]any, objects ...map[string]any) bool {
	for _, object := range objects {
		if response, ok := answer(ctx, k, object, old); !ok || response != "" {
			return false
		}
		old = object
	}
	return true
}

// answer returns the error of the API server for a creation or, unless old is nil, an update; it is
// empty if it accepts the object, and not ok if it could not validate it. It has only the causes with one
// of the messages in about, if any.
func answer(ctx context.Context, k *server.Kind, object, old map[string]any, about ...string) (response string, ok bool) {
	a, err := k.Answer(ctx, object, old)
	var l []string
	for _, c := range a.Causes() {
		if len(about) == 0 || slices.ContainsFunc(about, func(text string) bool { return strings.Contains(c.Message, text) }) {
			l = append(l, strings.TrimPrefix(c.Field+": "+c.Message, ": "))
		}
	}
	return strings.Join(l, "; "), err == nil
}
