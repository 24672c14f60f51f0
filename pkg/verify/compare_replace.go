package verify

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Beside returns the constraints of one schema that look at a union: at something of
// its state, which members are set and the discriminator, and at nothing else. Those in
// changes look at the state before an update as well, or may. Constraints that cannot be
// evaluated are left out. Errors are those of [Compare].
func Beside(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) (states, changes []Constraint, err error) {
	c, err := chainTo(crd, version, path)
	if err != nil {
		return nil, nil, err
	}
	if u == nil {
		return nil, nil, errNoUnion
	}
	all := written(c.object().schema)
	if len(all) == 0 {
		return nil, nil, nil
	}
	if c, err = chainTo(isolated(crd, version, path, all, false), version, path); err != nil {
		return nil, nil, err
	}
	p, err := newProver(context.Background(), c, u)
	if err != nil {
		return nil, nil, err
	}
	unfit, touching, changing := make([]bool, len(all)), make([]bool, len(all)), make([]bool, len(all))
	q := &comparing{prover: p}
	q.collect(all, unfit)
	for i, k := range q.checks {
		owner := q.owner[i]
		touching[owner] = touching[owner] || k.touches()
		changing[owner] = changing[owner] || k.changing()
		unfit[owner] = unfit[owner] || !k.narrow(u)
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

func chainTo(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path) (*chain, error) {
	root, err := newRoot(crd, version)
	if err != nil {
		return nil, err
	}
	return newChain(root, path)
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
		if c := (Constraint{Key: key}); c.CopyTo(&apiextensionsv1.JSONSchemaProps{}, s) {
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

// changing reports whether a constraint looks, or may look, at the old object.
func (k *check) changing() bool {
	return k.usesOld || k.rule != nil && k.rule.OptionalOldSelf != nil && *k.rule.OptionalOldSelf
}

// narrow reports whether a constraint looks at nothing but the state of the union, in
// the object or in the old one.
func (k *check) narrow(u *union.Union) bool {
	if k.impure() != "" || len(k.also)+len(k.beside) > 0 {
		return false
	}
	return k.beyond == "" || len(k.node.property(u.Discriminator).schema.Enum) > 0
}
