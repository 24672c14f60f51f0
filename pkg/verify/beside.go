package verify

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Beside returns the constraints of one schema that depend on the state of a union, its set members
// and its discriminator, and on nothing else. Constraints in changes also read the state before an
// update, or may read it. Constraints that cannot be evaluated are left out. Errors are the same as
// for [Compare].
func Beside(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) (states, changes []Constraint, err error) {
	if u == nil {
		return nil, nil, errNoUnion
	}
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, nil, err
	}
	all := written(c.Object().Props)
	if len(all) == 0 {
		return nil, nil, nil
	}
	unfit, touching, changing := make([]bool, len(all)), make([]bool, len(all)), make([]bool, len(all))
	p, owner, err := newComparison(context.Background(), crd, version, path, u, all, unfit)
	if err != nil {
		return nil, nil, err
	}
	for i, k := range p.Checks {
		of := owner[i]
		touching[of] = touching[of] || k.Touches
		changing[of] = changing[of] || k.Changing
		unfit[of] = unfit[of] || !k.Narrow
	}
	for i, constraint := range all {
		switch {
		case !touching[i] || unfit[i]:
		case changing[i]:
			changes = append(changes, constraint)
		default:
			states = append(states, constraint)
		}
	}
	return states, changes, nil
}

// written returns all constraints of a schema.
func written(s *apiextensionsv1.JSONSchemaProps) []Constraint {
	var l []Constraint
	for i := range s.XValidations {
		l = append(l, Constraint{Key: sample.RuleKey, Index: i})
	}
	for i := range s.AllOf {
		l = append(l, Constraint{Key: sample.AllOfKey, Index: i})
	}
	for _, key := range []string{"anyOf", "oneOf", "not", "minProperties", "maxProperties"} {
		if c := (Constraint{Key: key}); c.CopyTo(&apiextensionsv1.JSONSchemaProps{}, s) {
			l = append(l, c)
		}
	}
	return l
}
