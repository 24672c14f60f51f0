package change

import "slices"

// advise sets the advice on a change that may reject stored objects: which writes of these objects the
// API server of the new CRD ratchets. root is the new schema.
func (d *difference) advise(root *jsonSchema, kubeVersion string) error {
	static := slices.ContainsFunc(d.NewRules, func(rule string) bool { return !ReadsOld(rule) })
	if !d.Class.Refuses() || d.Version != d.NewVersion || d.Kind == Removed || d.Sort == Shape || d.Sort == VersionSort {
		return nil
	}
	if (d.Sort == UnionSort || d.Sort == Transition && !static) && d.Refused != nil && d.Refused.Old != nil && !d.Refused.Exempt {
		return nil // stored objects never violate transition rules
	}
	constraint := Constraint{Keyword: Keyword(d.Keyword), Path: d.Path}
	if len(d.NewRules) == 1 {
		constraint.Rule = d.NewRules[0]
	}
	switch {
	case d.Sort == Required:
		constraint = Constraint{Keyword: "required", Path: d.Path[:len(d.Path)-1]}
	case len(d.NewRules) > 0 && !static:
		constraint.Keyword = TransitionRule
	case d.Sort == UnionSort || d.Sort == Rule || d.Sort == Transition:
		constraint.Keyword = StaticRule
	}
	advice, err := Advise(root, constraint, d.of, kubeVersion)
	d.Advice = advice.String()
	return err
}
