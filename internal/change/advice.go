package change

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
)

// Advise adds advice to each change that may reject stored objects. The advice says which writes of
// these objects the API server of the new CRD ratchets.
func (r *Comparison) Advise(crd *Input) error {
	for i, c := range r.Changes {
		constraint, of, ok := c.constraint(crd)
		if !ok {
			continue
		}
		root := SchemaOf(crd.CustomResourceDefinition, c.NewVersion)
		if root == nil {
			continue
		}
		advice, err := Advise(root, constraint, of, crd.KubeVersion)
		if err != nil {
			return err
		}
		r.Changes[i].Advice = advice.String()
	}
	return nil
}

// constraint returns the constraint that a change has added or narrowed. ok is false if there is no
// such constraint.
func (c Change) constraint(crd *Input) (constraint Constraint, of Of, ok bool) {
	if !c.Class.Refuses() || c.Version != c.NewVersion || c.Kind == Removed {
		return constraint, of, false
	}
	static := slices.ContainsFunc(c.NewRules, func(rule string) bool { return !ReadsOld(rule) })
	if (c.Sort == UnionSort || c.Sort == Transition && !static) && c.Refused != nil && c.Refused.Old != nil && !c.Refused.Exempt {
		return constraint, of, false // stored objects never violate transition rules
	}
	constraint = Constraint{Keyword: Keyword(c.Keyword), Path: c.Path}
	if len(c.NewRules) == 1 {
		constraint.Rule = c.NewRules[0]
	}
	switch c.Sort {
	case UnionSort:
		constraint.Keyword, of = StaticRule, Union
		if len(c.NewRules) > 0 && !static {
			constraint.Keyword = TransitionRule
		}
		if crd.ratchets(c) {
			of = RatchetingUnion
		}
	case Rule:
		constraint.Keyword = StaticRule
	case Transition:
		constraint.Keyword = TransitionRule
		if static {
			constraint.Keyword = StaticRule // only the old rule reads oldSelf
		}
	case Required:
		constraint = Constraint{Keyword: "required", Path: c.Path[:len(c.Path)-1]}
	case Shape, VersionSort:
		return constraint, of, false
	}
	return constraint, of, true
}

// ratchets reports whether the union of a change has ratchet: true.
func (crd *Input) ratchets(c Change) bool {
	return slices.ContainsFunc(crd.Unions, func(u compile.UnionPlan) bool {
		return u.Name == c.NewVersion && u.Path.Equal(c.Path) && label(u.Union) == c.Subject && u.Union.Ratchet
	})
}
