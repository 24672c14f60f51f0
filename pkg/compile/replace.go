package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Removal lists the hand-written constraints of one schema that compiled rules replace.
type Removal struct {
	schemapath.Place
	Constraints []verify.Constraint
}

// Replaced returns the hand-written constraints that unions with handWrittenRules: Replace
// replace: together they are proved to be equivalent to the unions. The list names them, and
// explains which are kept and why. With errors in the declarations the result is nil and the
// list empty: Result reports them.
func (k *Compilation) Replaced() ([]Removal, diag.List) {
	c := k.compiler
	if c.understand(); len(c.located.objects) == 0 || c.declared.HasErrors() || k.replaced != nil {
		return k.replaced, k.replacing
	}
	c.diags = nil
	l := []Removal{}
	for _, o := range c.objects {
		replacing := slices.DeleteFunc(slices.Clone(o.Unions), func(u *union.Union) bool { return !u.Replace })
		var found []replacement
		for i, u := range o.Unions {
			if u.Replace {
				found = append(found, c.replacement(o, i, replacing))
			}
		}
		var all []verify.Constraint
		for _, r := range found {
			// A union that differs keeps its constraints.
			if r.proved() {
				r.constraints, _ = partition(r.constraints, func(k verify.Constraint) bool {
					return slices.ContainsFunc(found, func(o replacement) bool { return !o.proved() && slices.Contains(o.constraints, k) })
				})
			}
			c.reportReplacement(o, r, slices.ContainsFunc(found, r.joins))
			if !r.proved() {
				continue
			}
			for _, k := range r.constraints {
				if !slices.Contains(all, k) {
					all = append(all, k)
				}
			}
		}
		if len(all) > 0 {
			l = append(l, Removal{o.Place, all})
		}
	}
	k.replaced, k.replacing = l, c.diags
	return l, c.diags
}

// replacement has the constraints that one union may replace, and their comparison with it.
type replacement struct {
	union       int // its index in the object
	constraints []verify.Constraint
	comparison  verify.Comparison
	err         error
	refusing    *verify.Finding // rejected by another constraint
}

func (r replacement) proved() bool {
	return r.err == nil && r.comparison.Verdict == verify.Equivalent
}

// joins reports whether another union replaces some of the same constraints.
func (r replacement) joins(o replacement) bool {
	return r.union != o.union && o.proved() && slices.ContainsFunc(r.constraints, func(k verify.Constraint) bool { return slices.Contains(o.constraints, k) })
}

func (c *compiler) replacement(o *unionObject, i int, replacing []*union.Union) replacement {
	r := replacement{union: i}
	crd, indices := c.foreign(o)
	r.constraints, r.comparison, r.err = verify.Replaceable(context.Background(), crd, o.Version, o.Path, o.Unions[i], replacing...)
	if r.err == nil {
		states, _, _ := verify.Constraints(crd, o.Version, o.Path, o.Unions[i])
		r.refusing = c.refusing(crd, o, i, states, r.constraints)
	}
	named(r.constraints, indices)
	return r
}

// reportReplacement explains which constraints a union replaces or keeps. joined reports whether
// other unions replace some of them, too.
func (c *compiler) reportReplacement(o *unionObject, r replacement, joined bool) {
	constraints, comparison, refusing, err, i := r.constraints, r.comparison, r.refusing, r.err, r.union
	names := named(constraints, nil)
	d := diag.New(codes.RulesNotReplaced, o.Declarations[i].Pos, "").In(o.Place).
		Hinted("edit them or the union; or delete them, or handWrittenRules, yourself")
	if refusing != nil {
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they reject states that the union allows (%s): %s", refusing.Words(o.Unions[i]), refusing.Rule)
		c.report(d)
	}
	switch {
	case err != nil:
		d.Message = "hand-written rules are not replaced, because they cannot be compared: " + err.Error()
	case len(constraints) == 0:
		return // other constraints stay
	case comparison.Verdict == verify.Equivalent:
		d.Code, d.Severity, d.Hint = codes.RulesReplaced, diag.Info, ""
		with := ""
		if joined {
			with = " together with other unions of the object"
		}
		d.Message = "hand-written rules that are equivalent to this union" + with + " are replaced: " + strings.Join(names, ", ")
	case comparison.Tighter != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they accept states that the union forbids (%s): %s", comparison.Tighter.Words(o.Unions[i]), strings.Join(names, ", "))
	case comparison.Looser != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they reject states that the union allows (%s): %s", comparison.Looser.Words(o.Unions[i]), strings.Join(names, ", "))
	default:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because it cannot be determined whether they have the meaning of the union (%s): %s", strings.Join(comparison.Inconclusive, "; "), strings.Join(names, ", "))
	}
	c.report(d)
}

// HandWritten is a hand-written constraint on a union object that restricts only the state of a union
// or its changes.
type HandWritten struct {
	// Name is the name in messages: "oneOf", "x-kubernetes-validations[1]".
	Name string `json:"name"`
	// Superfluous is true if the superfluous constraints together are equivalent to the
	// union, so that handWrittenRules: Replace removes them.
	Superfluous bool `json:"superfluous"`
	// Constraint refers to the schema in [UnionPlan.CRD].
	Constraint verify.Constraint `json:"-"`
}

// maxHandWritten bounds the comparisons in a CRD for warnings: hand-written constraints times members.
const maxHandWritten = 5000

// checkConstraints reports hand-written constraints that repeat or contradict a union.
func (c *compiler) checkConstraints() {
	left := maxHandWritten
	for _, o := range c.objects {
		o.handWritten = make([][]HandWritten, len(o.Unions))
		crd, indices := c.foreign(o)
		for i, u := range o.Unions {
			states, changes, err := verify.Constraints(crd, o.Version, o.Path, u)
			if err != nil {
				continue // not comparable
			}
			var superfluous []verify.Constraint
			if left -= len(states) * len(u.Members); len(states) > 0 && !u.Replace && left >= 0 {
				superfluous = c.compare(crd, o, i, states, indices)
			}
			schema := o.Place.Schema(crd)
			for _, k := range append(states, changes...) {
				if k.Key == ruleKey && slices.ContainsFunc(o.rules(i), func(r rules.Rule) bool { return r.Rule == schema.XValidations[k.Index].Rule }) {
					continue // it serves as a rule of the union
				}
				o.handWritten[i] = append(o.handWritten[i], HandWritten{Name: named([]verify.Constraint{k}, indices)[0],
					Superfluous: slices.Contains(superfluous, k), Constraint: k})
			}
		}
	}
}

// compare reports hand-written constraints on the state of a union that contradict or repeat it. It
// returns the constraints that together are equivalent to the union.
func (c *compiler) compare(crd *apiextensionsv1.CustomResourceDefinition, o *unionObject, i int, states []verify.Constraint, indices []int) []verify.Constraint {
	u := o.Unions[i]
	agreeing, comparison, err := verify.Replaceable(context.Background(), crd, o.Version, o.Path, u, o.Unions...)
	if err != nil {
		return nil
	}
	d := diag.New(codes.HandWrittenConstraint, o.Declarations[i].Pos, "").In(o.Place)
	if looser := c.refusing(crd, o, i, states, agreeing); looser != nil {
		d.Message = fmt.Sprintf("%s, hand-written, rejects a state that this union allows (%s)", looser.Rule, looser.Words(u))
		d.Hint = "edit it or the union: objects have to satisfy both"
		c.report(d)
	}
	if len(agreeing) == 0 || comparison.Verdict != verify.Equivalent || o.alreadyPresent(i) {
		return nil
	}
	read := "the errors of both"
	if slices.ContainsFunc(agreeing, func(k verify.Constraint) bool { return k.Key != ruleKey }) {
		read = "theirs, with or without those of its rules"
	}
	d.Message = fmt.Sprintf("hand-written constraints are equivalent to this union, and users read %s: %s", read, strings.Join(named(slices.Clone(agreeing), indices), ", "))
	d.Hint = "write handWrittenRules: Replace in the declaration: compiling removes them"
	c.report(d)
	return agreeing
}

// refusing returns a state that the unions allow and hand-written constraints on the state of one
// of them, other than the agreeing ones, reject, or nil.
func (c *compiler) refusing(crd *apiextensionsv1.CustomResourceDefinition, o *unionObject, i int, states, agreeing []verify.Constraint) *verify.Finding {
	others, _ := partition(states, func(k verify.Constraint) bool { return slices.Contains(agreeing, k) })
	if len(others) == 0 {
		return nil
	}
	comparison, err := verify.Compare(context.Background(), crd, o.Version, o.Path, o.Unions[i], others, o.Unions...)
	if err != nil {
		return nil // without a comparison a contradiction is not certain
	}
	return comparison.Looser
}

// ruleKey is the key of constraints that are rules.
const ruleKey = "x-kubernetes-validations"

// alreadyPresent reports whether a rule to be written for a union already exists.
func (o *unionObject) alreadyPresent(i int) bool {
	return slices.ContainsFunc(o.rules(i), func(r rules.Rule) bool { return hasRule(o.schema.XValidations, r) })
}

// named returns the names of constraints in messages. It changes the indices in constraints to the
// original indices, which foreign returns.
func named(constraints []verify.Constraint, indices []int) []string {
	var names []string
	for n, k := range constraints {
		if k.Key == ruleKey && indices != nil {
			k.Index = indices[k.Index]
			constraints[n] = k
		}
		names = append(names, k.String())
	}
	return names
}

// foreign returns the CRD without the static rules of the unions of an object that an earlier
// compilation wrote without an annotation: they are not hand-written. indices has the original index
// of each remaining rule.
func (c *compiler) foreign(o *unionObject) (crd *apiextensionsv1.CustomResourceDefinition, indices []int) {
	present := o.schema.XValidations
	var ours []apiextensionsv1.ValidationRule
	for _, u := range o.Unions {
		for _, e := range c.encodings(u) {
			if len(present) == 0 {
				break
			}
			static := validationRules(rules.Static(u, e), c.kube.features)
			if !slices.ContainsFunc(static, func(r apiextensionsv1.ValidationRule) bool { return !contains(present, r) }) {
				ours = append(ours, static...)
			}
		}
	}
	validations, indices := partition(present, func(p apiextensionsv1.ValidationRule) bool { return contains(ours, p) })
	if len(validations) == len(present) {
		return c.crd, indices
	}
	crd = editable(c.crd)
	o.Path.Edit(crd.Spec.Versions[o.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
		s.XValidations = validations
	})
	return crd, indices
}

// contains reports whether a list contains an equal rule.
func contains(l []apiextensionsv1.ValidationRule, r apiextensionsv1.ValidationRule) bool {
	return slices.ContainsFunc(l, func(o apiextensionsv1.ValidationRule) bool { return equality.Semantic.DeepEqual(o, r) })
}

// partition returns a list without some of its items, and the indices of the remaining ones.
func partition[T any](l []T, gone func(T) bool) (kept []T, indices []int) {
	for i, item := range l {
		if !gone(item) {
			kept, indices = append(kept, item), append(indices, i)
		}
	}
	return kept, indices
}
