package verify

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/union"
)

// candidates are the constraints of a schema that look at the state of a union and
// at nothing else.
func candidates(crd *apiextensionsv1.CustomResourceDefinition, version int, steps []string, u *union.Union) ([]Constraint, error) {
	c, err := chainTo(crd, version, steps)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, errNoUnion
	}
	all := written(c.object().schema)
	if len(all) == 0 {
		return nil, nil
	}
	if c, err = chainTo(isolated(crd, version, steps, all, false), version, steps); err != nil {
		return nil, err
	}
	p, err := newProver(context.Background(), c, u)
	if err != nil {
		return nil, err
	}
	unfit, touching := make([]bool, len(all)), make([]bool, len(all))
	q := &comparing{prover: p}
	q.collect(all, unfit)
	for i, k := range q.checks {
		owner := q.owner[i]
		touching[owner] = touching[owner] || k.touches()
		unfit[owner] = unfit[owner] || !k.pure(u)
	}
	var l []Constraint
	for i, constraint := range all {
		if touching[i] && !unfit[i] {
			l = append(l, constraint)
		}
	}
	return l, nil
}

func chainTo(crd *apiextensionsv1.CustomResourceDefinition, version int, steps []string) (*chain, error) {
	root, err := newRoot(crd, version)
	if err != nil {
		return nil, err
	}
	return newChain(root, steps)
}

// written are all constraints of a schema.
func written(s *apiextensionsv1.JSONSchemaProps) []Constraint {
	var l []Constraint
	for i := range s.XValidations {
		l = append(l, Constraint{ruleKey, i})
	}
	for i := range s.AllOf {
		l = append(l, Constraint{allOfKey, i})
	}
	for _, key := range []string{"anyOf", "oneOf", "not", "minProperties", "maxProperties"} {
		if c := (Constraint{Key: key}); c.copyTo(&apiextensionsv1.JSONSchemaProps{}, s) {
			l = append(l, c)
		}
	}
	return l
}

// touches reports whether a constraint looks at the union.
func (k *check) touches() bool {
	r := k.reads[0]
	return r.whole || r.value || r.set != set{}
}

// pure reports whether a constraint looks at nothing but the state of the union.
func (k *check) pure(u *union.Union) bool {
	if k.usesOld || k.rule != nil && k.rule.OptionalOldSelf != nil && *k.rule.OptionalOldSelf {
		return false
	}
	return k.narrow(u)
}

// narrow reports whether a constraint looks at nothing but the state of the union, in
// the object or in the old one.
func (k *check) narrow(u *union.Union) bool {
	if k.impure() != "" || len(k.also)+len(k.beside) > 0 {
		return false
	}
	return k.beyond == "" || len(k.node.property(u.Discriminator).schema.Enum) > 0
}
