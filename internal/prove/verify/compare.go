package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Verdict is the effect of replacing constraints by the rules of a union.
type Verdict string

const (
	// Equivalent means that the constraints and the union accept the same resources.
	Equivalent Verdict = "equivalent"
	// Tighter means that the union's rules would reject more than the constraints do.
	Tighter Verdict = "tighter"
	// Looser means that the union's rules would accept more than the constraints do.
	Looser Verdict = "looser"
	// Different means that the union's rules would reject some resources more, and accept others
	// more.
	Different Verdict = "different"
	// Inconclusive means that no difference was found, and some questions were not decided.
	Inconclusive Verdict = "inconclusive"
)

// Comparison is the result of comparing constraints with a union. The caller owns it.
type Comparison struct {
	// Verdict summarizes the other fields. A difference that was found is certain. Unless
	// Inconclusive is empty, there may be differences of the other kind, too.
	Verdict Verdict
	// Tighter is the smallest resource found that the constraints accept and the union forbids.
	// Looser is the smallest resource found that the constraints reject and the union allows. They
	// are nil if there is no such resource.
	Tighter, Looser *Finding
	// Inconclusive lists the undecided questions with their reasons.
	Inconclusive []string
}

// Compare compares constraints of one schema, or rules on its ancestors, with the rules of a union
// that would replace them. path leads to the schema, as in [Object]. Compare does not change the
// CRD or the union.
//
// The comparison ignores all other restrictions of the same object, because they stay. Equivalent
// constraints may therefore be replaced in any CRD, and along with other replacements. The reverse
// does not hold: the CRD may make a difference harmless, because another restriction rejects the
// counterexample, or guards a read that fails to evaluate in it. Other keywords of the schema, such
// as required and enum, still apply. So do the rules of the schema's properties.
//
// A rule on an ancestor rejects more than the union if it rejects resources without the union
// object. A rule on a list that applies to each item alike is compared as a rule on the items.
//
// Only the union's rules on states are compared. Its transition rules come in addition, and do not
// affect constraints on states. A constraint that rejects updates therefore makes the result at
// least [Looser]. So does a union with ratchet, unless it allows every state: it accepts changes to
// other fields of stored objects in an illegal state, and the constraints reject these changes.
//
// The object may have other unions, which stay. A constraint is then Looser only because of an
// object that all of them allow.
//
// An error means that there is no such schema or constraint, that a union does not fit the schema, or
// that ctx ended.
func Compare(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint, others ...*union.Union) (Comparison, error) {
	c, err := compare(ctx, crd, version, path, u, constraints, others)
	if err != nil {
		return Comparison{}, err
	}
	return c.Comparison, nil
}

// Replaceable returns the constraints of one schema that the rules of a union make superfluous.
// These constraints depend only on the set members and the discriminators of the union and of the
// other unions of the object, and reject nothing that all these unions allow. Rules that read
// oldSelf, or may read it, are not included. The order is the order of the schema: rules, then
// allOf, anyOf, oneOf, not, minProperties and maxProperties.
//
// The comparison covers the returned constraints together. It is safe to remove them only if the
// verdict is [Equivalent]; otherwise the comparison reports the obstacles. If no constraint is
// superfluous, it covers the constraints that depend only on the state of the union and reject
// something that the union allows. It is zero if there are no such constraints either.
//
// If unions imply a constraint only together, the constraint is replaceable by each of them. It may be
// removed if all of them are Equivalent.
//
// The CRD should not contain rules compiled for the unions, because they are superfluous, too.
// Errors are the same as for [Compare].
func Replaceable(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, others ...*union.Union) ([]Constraint, Comparison, error) {
	all, _, err := Constraints(crd, version, path, u, others...)
	if err == nil && len(all)*len(u.Members) > maxReplacing {
		return nil, Comparison{}, fmt.Errorf("%d rules and schemas beside a union of %d members are more than can be compared", len(all), len(u.Members))
	}
	var c compared
	for len(all) > 0 && err == nil {
		if c, err = compare(ctx, crd, version, path, u, all, others); err != nil {
			return nil, Comparison{}, err
		}
		var kept []Constraint
		for i, constraint := range all {
			if !c.excess[i] {
				kept = append(kept, constraint)
			}
		}
		if len(kept) == len(all) {
			return all, c.Comparison, nil
		}
		all = kept // compare again without the others
	}
	return nil, c.Comparison, err
}

// maxReplacing bounds the number of constraints times members that Replaceable compares.
const maxReplacing = 20_000

var errNoUnion = errors.New("there is no union to compare with")

// compared is a comparison. excess marks the constraints that reject something the unions allow, that
// only the other unions imply, or that cannot be evaluated.
type compared struct {
	Comparison
	excess []bool
}

func compare(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint, others []*union.Union) (compared, error) {
	c := compared{excess: make([]bool, len(constraints))}
	p, owner, err := newComparison(ctx, crd, version, path, u, others, constraints, c.excess)
	if err != nil {
		return c, err
	}
	doubts, err := p.finish([]*union.Union{p.u})
	if err != nil {
		return c, err
	}
	f := &findings{unionProblem: p, others: add(nil, Undecided, doubts...), doubtful: map[*prove.Check]bool{}}
	if err := f.compare(owner, c.excess); err != nil {
		return c, err
	}
	for _, d := range f.all(true) {
		switch d.Kind {
		case Accepted:
			c.Tighter = cmp.Or(c.Tighter, &d)
		case Rejected:
			c.Looser = cmp.Or(c.Looser, &d)
		case Undecided:
			c.Inconclusive = append(c.Inconclusive, d.Text)
		}
	}
	c.Verdict = c.verdict()
	return c, ctx.Err()
}

// newComparison returns the problem of the constraints alone, and the constraint of each check. others
// are the other unions of the object. It sets unclear for constraints that cannot be evaluated.
func newComparison(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, others []*union.Union, constraints []Constraint, unclear []bool) (p *unionProblem, owner []int, err error) {
	if u == nil {
		return nil, nil, errNoUnion
	}
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, nil, err
	}
	if err := missing(c, constraints); err != nil {
		return nil, nil, err
	}
	if c, err = sample.ChainTo(isolated(crd, version, path, constraints), version, path); err != nil {
		return nil, nil, err
	}
	if p, err = newProblem(sample.NewSource(ctx, crd, version), c, stateful(u)); err != nil {
		return nil, nil, err
	}
	for _, o := range others {
		if o == nil || o == u {
			continue
		}
		if err := p.consider(stateful(o)); err != nil {
			return nil, nil, err
		}
	}
	for level, n := range p.Schemas {
		for _, t := range slices.Concat(n.Rules(), n.Constraints()) {
			if t.Key == "" {
				continue
			}
			of := having(constraints, t.Key, len(p.Schemas)-1-level)[t.Index]
			if p.Add(p.OnItem(level, t)) == nil {
				unclear[of] = true
				continue
			}
			owner = append(owner, of)
		}
	}
	p.Classify()
	return p, owner, nil
}

// compare looks for states that the constraints accept and the union forbids, and the reverse. It
// sets excess for constraints that reject the creation of an object which the unions allow, and for
// constraints that the other unions imply without this one.
func (f *findings) compare(owner []int, excess []bool) error {
	p, s := f.unionProblem, f.Space
	above := false
	for _, c := range p.Checks {
		c.Touches = true // all constraints would be replaced
		above = above || c.Level < len(p.Path)
	}
	own, breaks := p.legal()
	others := p.othersAllow()
	legal := s.And(own, others)
	implies := func(legal logic.Lit, c *prove.Check) bool {
		return p.Never(p.new.exists, legal, c.Holds.Not())
	}
	for i, c := range p.Checks {
		excess[owner[i]] = excess[owner[i]] || others != logic.True && !implies(own, c) && implies(others, c)
	}
	for _, mode := range p.modes() {
		l := append(mode, p.new.exists)
		if err := f.accepted(breaks, false, append(l, p.accepts())...); err != nil {
			return err
		}
		l = append(l, legal)
		if above {
			// Rules on ancestors may reject objects without the union object, which the union
			// allows.
			l = append(slices.Clone(mode), s.Implies(p.new.exists, legal))
		}
		var refusing []logic.Lit
		var any *prove.Example
		for i, c := range p.Checks {
			m, err := p.Possible(append(l, c.Holds.Not())...)
			if err := f.unanswered(err, c.Name()+" may reject states that the union allows"); err != nil {
				return err
			}
			if m == nil {
				continue
			}
			if e, err := p.Any(append(l, c.Holds.Not())...); e != nil {
				refusing, any = append(refusing, c.Holds.Not()), e
				excess[owner[i]] = excess[owner[i]] || e.Old == nil
			} else if err := f.withoutExample(err, m, "rejects", c); err != nil {
				return err
			}
		}
		if len(refusing) == 0 {
			continue
		}
		e, err := p.Smallest(nil, append(l, s.Or(refusing...))...)
		if err := f.withoutExample(err, nil, ""); err != nil {
			return err
		}
		if e == nil {
			e = any // valid, but not the smallest
		}
		i := slices.IndexFunc(p.Checks, func(c *prove.Check) bool { return !e.Model(c.Holds) })
		f.differences = append(f.differences, difference{Example: e, check: p.Checks[i]})
	}
	return nil
}

// having returns the indices of the constraints with a key on the schema that many levels above.
func having(constraints []Constraint, key string, above int) []int {
	var l []int
	for i, c := range constraints {
		if c.Key == key && c.Above == above {
			l = append(l, i)
		}
	}
	return l
}

func (c Comparison) verdict() Verdict {
	switch {
	case c.Tighter != nil && c.Looser != nil:
		return Different
	case c.Tighter != nil:
		return Tighter
	case c.Looser != nil:
		return Looser
	case len(c.Inconclusive) > 0:
		return Inconclusive
	}
	return Equivalent
}

// stateful returns a copy of a union that allows all changes and lists all its known values.
func stateful(u *union.Union) *union.Union {
	c := *u
	c.Change, c.Allowed = union.Allow, nil
	c.Values = slices.Clone(u.Values)
	for _, v := range u.MemberValues() {
		if !slices.Contains(c.Values, v) {
			c.Values = append(c.Values, v)
		}
	}
	return &c
}
