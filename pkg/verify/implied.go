package verify

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// maxAlone bounds, as a power of two, how many states are tried for constraints one by
// one.
const maxAlone = 14

// Implied returns those of the constraints that a union implies, so that the CRD
// enforces as much without them once it enforces the union: they read something of
// the union and nothing but which members are set and the discriminator, in the
// object or its old self, and refuse nothing that the union allows. What cannot be
// judged, or only by a sample, is not among them; nor is any, when one is not implied and the
// union is too large to try them one by one.
//
// Errors are those of [Compare].
func Implied(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) ([]Constraint, error) {
	if u == nil {
		return nil, errNoUnion
	}
	c, err := chainTo(crd, version, path)
	if err != nil {
		return nil, err
	}
	if err := missing(c.object(), constraints); err != nil {
		return nil, err
	}
	var narrow []Constraint
	for _, k := range constraints {
		ok, err := narrowly(ctx, crd, version, path, u, k)
		if err != nil {
			return nil, err
		}
		if ok {
			narrow = append(narrow, k)
		}
	}
	// All at once, which is cheaper; and large unions can only be compared with all
	// that enforces them.
	ok, err := implies(ctx, crd, version, path, u, narrow)
	if err != nil || ok || len(narrow) < 2 {
		if !ok {
			narrow = nil
		}
		return narrow, err
	}
	if len(u.Members) > maxAlone || len(narrow)<<len(u.Members) > 1<<maxAlone {
		return nil, nil // each of them alone takes as long as all at once
	}
	var l []Constraint
	for _, k := range narrow {
		ok, err := implies(ctx, crd, version, path, u, []Constraint{k})
		if err != nil {
			return nil, err
		}
		if ok {
			l = append(l, k)
		}
	}
	return l, nil
}

// narrowly reports whether a constraint reads the state of a union, now or before,
// and nothing else.
func narrowly(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraint Constraint) (bool, error) {
	c, err := chainTo(isolated(crd, version, path, []Constraint{constraint}, false), version, path)
	if err != nil {
		return false, err
	}
	p, err := newProver(ctx, c, u)
	if err != nil {
		return false, err
	}
	broken := make([]bool, 1)
	q := &comparing{prover: p}
	q.collect([]Constraint{constraint}, broken)
	reads := false
	for _, k := range q.checks {
		if !k.narrow(u) {
			return false, nil
		}
		reads = reads || k.touches() || k.reads[1].whole || k.reads[1].value || k.reads[1].set != set{}
	}
	return reads && !broken[0], nil
}

// implies reports whether all of the constraints, which are narrow, refuse nothing
// that the union allows.
func implies(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) (bool, error) {
	if len(constraints) == 0 {
		return true, nil
	}
	alone := isolated(crd, version, path, constraints, false)
	if !u.Ratchet && !slices.ContainsFunc(constraints, func(k Constraint) bool { return readsOld(crd, version, path, k) }) {
		c, err := Compare(ctx, crd, version, path, u, constraints)
		return err == nil && c.Looser == nil && len(c.Inconclusive) == 0 && c.Complete, err
	}
	// On changes, too.
	proofs, err := Object(ctx, alone, version, path, []*union.Union{u})
	if err != nil {
		return false, err
	}
	for _, proof := range proofs {
		if !proof.Complete || len(proof.Inconclusive) > 0 || len(proof.Notes) > 0 ||
			slices.ContainsFunc(proof.Differences, func(d Difference) bool { return !d.Accepted }) {
			return false, nil
		}
	}
	return true, nil
}

// readsOld reports whether a constraint is a rule that may read the old object.
func readsOld(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, k Constraint) bool {
	if k.Key != ruleKey {
		return false
	}
	c, err := chainTo(crd, version, path)
	if err != nil || k.Index >= len(c.object().schema.XValidations) {
		return true
	}
	r := c.object().schema.XValidations[k.Index]
	reading, err := readRule(r.Rule)
	return err != nil || reading.usesOld || r.OptionalOldSelf != nil && *r.OptionalOldSelf
}
