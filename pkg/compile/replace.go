package compile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// Removal is what gives way to compiled rules in one schema.
type Removal struct {
	schemapath.Place
	Constraints []verify.Constraint
}

// Replaced finds the hand-written rules that unions with handWrittenRules: Replace
// take the place of: those which together are proved to mean what the union says.
// The list says which they are, and which are kept and why. With errors in the
// declarations the result is nil and the list empty: Result reports them.
func (k *Compilation) Replaced() ([]Removal, diag.List) {
	c := k.compiler
	if c.understand(); len(c.located.objects) == 0 || c.declared.HasErrors() || k.replaced != nil {
		return k.replaced, k.replacing
	}
	c.diags = nil
	l := []Removal{}
	for _, o := range c.objects {
		var all []verify.Constraint
		for i, u := range o.Unions {
			if !u.Replace {
				continue
			}
			for _, r := range c.replaced(o, i) {
				if !slices.Contains(all, r) {
					all = append(all, r)
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

// replaced returns the constraints that one union takes the place of.
func (c *compiler) replaced(o *unionObject, i int) []verify.Constraint {
	crd, indices := c.foreign(o, o.Unions[i])
	constraints, comparison, err := verify.Replaceable(context.Background(), crd, o.Version, o.Path, o.Unions[i])
	if err == nil && comparison.Verdict == "" {
		return nil
	}
	var refusing *verify.Finding
	if len(constraints) > 0 {
		refusing = c.refusing(crd, o, i, constraints)
	}
	names := named(constraints, indices)
	d := diag.Diagnostic{Pos: o.Declarations[i].Pos, Path: o.Place.String(), Schema: o.Place.Structural(), Code: diag.RulesNotReplaced, Severity: diag.Warning,
		Hint: "edit them or the union; or delete them, or handWrittenRules, yourself"}
	if refusing != nil {
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they reject what the union allows (%s): %s", refusing.Words(o.Unions[i]), refusing.Rule)
		c.report(d)
	}
	switch {
	case err != nil:
		d.Message = "hand-written rules are not replaced, because they cannot be compared: " + err.Error()
	case comparison.Verdict == verify.Equivalent:
		d.Code, d.Severity, d.Hint = diag.RulesReplaced, diag.Info, ""
		d.Message = "hand-written rules that mean what this union says are replaced: " + strings.Join(names, ", ")
		c.report(d)
		return constraints
	case len(constraints) == 0:
		d.Message = "hand-written rules are not replaced, because they reject what the union allows"
		if comparison.Looser != nil {
			d.Message += " (" + comparison.Looser.Words(o.Unions[i]) + ")"
		}
	case comparison.Tighter != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they accept what the union forbids (%s): %s", comparison.Tighter.Words(o.Unions[i]), strings.Join(names, ", "))
	case comparison.Looser != nil:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because they reject what the union allows (%s): %s", comparison.Looser.Words(o.Unions[i]), strings.Join(names, ", "))
	default:
		d.Message = fmt.Sprintf("hand-written rules are not replaced, because it cannot be determined whether they mean what the union says (%s): %s", strings.Join(comparison.Inconclusive, "; "), strings.Join(names, ", "))
	}
	c.report(d)
	return nil
}

// Beside is a hand-written constraint on a union object that restricts the state of a union, or
// its changes, and nothing else.
type Beside struct {
	// Name is as messages write it: "oneOf", "x-kubernetes-validations[1]".
	Name string
	// Superfluous says that all of which it is said mean together what the union says, so
	// that handWrittenRules: Replace takes them out.
	Superfluous bool
	// Constraint is that of the schema in [UnionPlan.CRD].
	Constraint verify.Constraint
}

// maxBeside bounds what is compared in a CRD for advice: hand-written constraints times members.
const maxBeside = 5000

// beside checks hand-written constraints, and reports those that repeat what a union
// says, or contradict it.
func (c *compiler) beside() {
	left := maxBeside
	for _, o := range c.objects {
		o.beside = make([][]Beside, len(o.Unions))
		for i, u := range o.Unions {
			crd, indices := c.foreign(o, u)
			states, changes, err := verify.Beside(crd, o.Version, o.Path, u)
			if err != nil {
				continue // nobody knows what it says
			}
			var superfluous []verify.Constraint
			if left -= len(states) * len(u.Members); len(states) > 0 && !u.Replace && left >= 0 {
				superfluous = c.compare(crd, o, i, indices)
			}
			schema := o.Place.Schema(crd)
			for _, k := range append(states, changes...) {
				if k.Key == ruleKey && slices.ContainsFunc(o.rules(i), func(r rules.Rule) bool { return r.Rule == schema.XValidations[k.Index].Rule }) {
					continue // serves as one of the union's
				}
				o.beside[i] = append(o.beside[i], Beside{Name: named([]verify.Constraint{k}, indices)[0],
					Superfluous: slices.Contains(superfluous, k), Constraint: k})
			}
		}
	}
}

// compare reports how hand-written constraints on the state of a union relate to it,
// and returns those that mean together what it says.
func (c *compiler) compare(crd *apiextensionsv1.CustomResourceDefinition, o *unionObject, i int, indices map[string][]int) []verify.Constraint {
	u := o.Unions[i]
	agreeing, comparison, err := verify.Replaceable(context.Background(), crd, o.Version, o.Path, u)
	if err != nil {
		return nil
	}
	looser := comparison.Looser
	if len(agreeing) > 0 { // the comparison is theirs
		looser = c.refusing(crd, o, i, agreeing)
	}
	d := diag.Diagnostic{Code: diag.ConstraintBeside, Severity: diag.Warning, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Schema: o.Place.Structural()}
	if looser != nil {
		d.Message = fmt.Sprintf("%s, hand-written, rejects what this union allows (%s)", looser.Rule, looser.Words(u))
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
	d.Message = fmt.Sprintf("hand-written constraints mean what this union says, and users read %s: %s", read, strings.Join(named(slices.Clone(agreeing), indices), ", "))
	d.Hint = "write handWrittenRules: Replace in the declaration: compiling removes them"
	c.report(d)
	return agreeing
}

// refusing returns what hand-written constraints on the state of a union reject although the
// union allows it, beside those that agree with it; nil is nothing.
func (c *compiler) refusing(crd *apiextensionsv1.CustomResourceDefinition, o *unionObject, i int, agreeing []verify.Constraint) *verify.Finding {
	all, _, err := verify.Beside(crd, o.Version, o.Path, o.Unions[i])
	others, _ := without(all, func(k verify.Constraint) bool { return slices.Contains(agreeing, k) })
	if err != nil || len(others) == 0 {
		return nil
	}
	comparison, err := verify.Compare(context.Background(), crd, o.Version, o.Path, o.Unions[i], others)
	if err != nil {
		return nil // what cannot be compared contradicts nothing for certain
	}
	return comparison.Looser
}

// ruleKey is the key of constraints that are rules.
const ruleKey = "x-kubernetes-validations"

// alreadyPresent reports whether what would be written for a union is already there, hand-written.
func (o *unionObject) alreadyPresent(i int) bool {
	if s := o.styles[i].openAPI; s != nil && hasSchema(o.schema.AllOf, *s) {
		return true
	}
	return slices.ContainsFunc(o.rules(i), func(r rules.Rule) bool { return hasRule(o.schema.XValidations, r) })
}

// named returns constraints as messages name them. indices are those of foreign, and
// the constraints get them.
func named(constraints []verify.Constraint, indices map[string][]int) []string {
	var names []string
	for n, k := range constraints {
		if left := indices[k.Key]; left != nil {
			k.Index = left[k.Index]
			constraints[n] = k
		}
		names = append(names, k.String())
	}
	return names
}

// foreign returns the CRD without the static rules of a union, or the schema in their
// place, that a compilation which left no annotation has written: they are not by
// hand. indices has, by the key of a list, the index of each item that is left.
func (c *compiler) foreign(o *unionObject, u *union.Union) (crd *apiextensionsv1.CustomResourceDefinition, indices map[string][]int) {
	present := o.schema.XValidations
	var ours []apiextensionsv1.ValidationRule
	for _, e := range c.encodings(u) {
		if len(present) == 0 {
			break
		}
		static := validationRules(rules.Static(u, e), c.kube.features)
		if !slices.ContainsFunc(static, func(r apiextensionsv1.ValidationRule) bool { return !among(present, r) }) {
			ours = append(ours, static...)
		}
	}
	var openAPI []apiextensionsv1.JSONSchemaProps
	if c.opts.Encoding == OpenAPI {
		if s, err := rules.OpenAPI(u); err == nil && s != nil {
			openAPI = append(openAPI, *s)
		}
	}
	validations, left := without(present, func(p apiextensionsv1.ValidationRule) bool { return among(ours, p) })
	allOf, leftOf := without(o.schema.AllOf, func(s apiextensionsv1.JSONSchemaProps) bool { return hasSchema(openAPI, s) })
	indices = map[string][]int{ruleKey: left, "allOf": leftOf}
	if len(validations) == len(present) && len(allOf) == len(o.schema.AllOf) {
		return c.crd, indices
	}
	crd = editable(c.crd)
	o.Path.Edit(crd.Spec.Versions[o.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
		s.XValidations, s.AllOf = validations, allOf
	})
	return crd, indices
}

// among reports whether a rule is in a list, message and all.
func among(l []apiextensionsv1.ValidationRule, r apiextensionsv1.ValidationRule) bool {
	return slices.ContainsFunc(l, func(o apiextensionsv1.ValidationRule) bool { return equality.Semantic.DeepEqual(o, r) })
}

// without returns a list without some of its items, and the indices of the others.
func without[T any](l []T, gone func(T) bool) (kept []T, indices []int) {
	for i, item := range l {
		if !gone(item) {
			kept, indices = append(kept, item), append(indices, i)
		}
	}
	return kept, indices
}
