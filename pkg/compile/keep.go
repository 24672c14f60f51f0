package compile

import (
	"context"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/verify"
)

// keepTimeout bounds the proofs of one attempt to keep the rules of an earlier compilation.
const keepTimeout = 5 * time.Second

// keep replaces new rules with the rules of an earlier compilation, if these still enforce the
// unions. CI checks compare the texts of rules, so a new version of this package must not change
// them without need. It first tries all rules of a version, then the rules of each union object.
func (c *compiler) keep() {
	if len(c.manifest.Earlier) == 0 {
		return
	}
	for v := range c.crd.Spec.Versions {
		objects := slices.DeleteFunc(slices.Clone(c.objects), func(o *unionObject) bool { return o.Version != v })
		if !c.reworded(v) || c.tryKeeping(objects) {
			continue
		}
		for _, o := range objects {
			c.tryKeeping([]*unionObject{o})
		}
	}
}

// earlier returns the rules of the earlier compilation on a schema.
func (c *compiler) earlier(p schemapath.Place) []rules.Rule {
	for _, a := range c.manifest.Earlier {
		if a.Is(p) {
			return a.Rules
		}
	}
	return nil
}

// reworded reports whether the new rules of a version differ from the earlier ones.
func (c *compiler) reworded(version int) bool {
	return slices.ContainsFunc(c.additions(), func(a Addition) bool {
		return a.Version == version && !slices.EqualFunc(a.Rules, c.earlier(a.Place), sameRule)
	})
}

func sameRule(a, b rules.Rule) bool {
	return equality.Semantic.DeepEqual(a.Validation(), b.Validation())
}

// tryKeeping keeps the earlier rules of union objects. It changes nothing and returns false if the
// rules do not enforce exactly the unions, or if the API server would reject the CRD.
func (c *compiler) tryKeeping(objects []*unionObject) bool {
	undo := c.undoable()
	if c.assign(objects) && c.enforced(objects) {
		if _, problems := c.judgeResult(); !c.faulty(problems) && c.compiles() {
			return true
		}
	}
	undo()
	return false
}

// assign gives each earlier rule to a union that implies it. The remaining rules are removal guards
// of unions below. It returns false if a rule belongs to no union.
func (c *compiler) assign(objects []*unionObject) bool {
	left := map[string][]rules.Rule{}
	for _, o := range objects {
		earlier := c.earlier(o.Place)
		if len(earlier) == 0 {
			return false
		}
		crd := c.extended([]Addition{{Place: o.Place, Rules: earlier}})
		index := map[int]int{} // from a rule of crd to the earlier rule
		var constraints []verify.Constraint
		for i := range earlier {
			k := len(o.schema.XValidations) + i
			index[k] = i
			constraints = append(constraints, verify.Constraint{Key: ruleKey, Index: k})
		}
		taken := make([]bool, len(earlier))
		for i, u := range o.Unions {
			o.styles[i] = style{encoding: o.styles[i].encoding, kept: &kept{}}
			implied, err := verify.Implied(context.Background(), crd, o.Version, o.Path, u, constraints)
			if err != nil {
				return false
			}
			for _, k := range implied {
				if n := index[k.Index]; !taken[n] {
					taken[n] = true
					o.styles[i].kept.add(earlier[n])
				}
			}
		}
		for i, r := range earlier {
			if !taken[i] {
				left[o.Place.Structural()] = append(left[o.Place.Structural()], r)
			}
		}
	}
	return c.assignGuards(objects, left)
}

// assignGuards gives the rules that no union of their own object implies to the unions below.
func (c *compiler) assignGuards(objects []*unionObject, left map[string][]rules.Rule) bool {
	for _, o := range objects {
		for i, u := range o.Unions {
			if !u.Guarded() {
				continue
			}
			for _, link := range c.links(o) {
				at := link.parent.Structural()
				guards := left[at]
				if !slices.ContainsFunc(c.objects, func(o *unionObject) bool { return o.Is(link.parent) }) {
					guards = c.earlier(link.parent)
				}
				if left[at] = nil; len(guards) > 0 {
					o.styles[i].kept.guards = append(o.styles[i].kept.guards, Addition{Place: link.parent, Rules: guards})
				}
			}
		}
	}
	for _, l := range left {
		if len(l) > 0 {
			return false
		}
	}
	return true
}

// enforced reports whether the chosen rules are proved to enforce exactly the unions of objects.
// The proof may include the hand-written rules, which may enforce a part, or exclude them, since
// they may be stricter than the unions.
func (c *compiler) enforced(objects []*unionObject) bool {
	ctx, done := verify.WithDeadline(context.Background(), keepTimeout)
	defer done()
	additions := c.additions()
	crd := c.extended(additions)
	for _, o := range objects {
		proved := func(crd *apiextensionsv1.CustomResourceDefinition) bool {
			proofs, err := verify.Object(ctx, crd, o.Version, o.Path, o.Unions)
			return err == nil && !slices.ContainsFunc(proofs, func(p verify.Proof) bool { return !p.Proved() })
		}
		if !proved(crd) && !proved(c.only(additions, o)) {
			return false
		}
	}
	return true
}

// only returns the CRD with the rules of the additions, and no others, on the path to an object.
func (c *compiler) only(additions []Addition, o *unionObject) *apiextensionsv1.CustomResourceDefinition {
	crd := editable(c.crd)
	for i := range len(o.Path) + 1 {
		at := o.Up(i)
		at.Path.Edit(crd.Spec.Versions[o.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
			s.XValidations = nil
			for _, a := range additions {
				if a.Is(at) {
					s.XValidations = validationRules(a.Rules, c.kube.features)
				}
			}
		})
	}
	return crd
}

// compiles reports whether the rules compile for the target version of Kubernetes.
func (c *compiler) compiles() bool {
	crd, err := c.internalCRD(c.additions())
	if err != nil {
		return false
	}
	e := c.estimator(crd)
	for _, a := range c.additions() {
		if _, err := c.estimate(e, a.Place, a.Rules); err != nil {
			return false
		}
	}
	return true
}

// kept are the rules of an earlier compilation for one union.
type kept struct {
	static, changes []rules.Rule
	guards          []Addition
}

func (k *kept) add(r rules.Rule) {
	if strings.Contains(r.Rule, "oldSelf") && !r.OptionalOldSelf {
		k.changes = append(k.changes, r)
	} else {
		k.static = append(k.static, r)
	}
}
