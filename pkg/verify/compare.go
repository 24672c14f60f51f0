package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Verdict is what replacing constraints by the rules of a union would change.
type Verdict string

const (
	// Equivalent: nothing. The constraints accept and refuse what the union does, in
	// every state.
	Equivalent Verdict = "equivalent"
	// Tighter: the union's rules would refuse more than the constraints do.
	Tighter Verdict = "tighter"
	// Looser: the union's rules would accept more than the constraints do.
	Looser Verdict = "looser"
	// Different: the union's rules would refuse some more, and accept some more.
	Different Verdict = "different"
	// Inconclusive: no difference was found, and not everything could be judged.
	Inconclusive Verdict = "inconclusive"
)

// Comparison is what a comparison of constraints with a union found out. The
// caller owns it.
type Comparison struct {
	// Verdict is given by what follows: the differences found, and if there are
	// none whether everything could be judged. A difference found is certain. That
	// there is none of the other kind is so only when nothing was inconclusive and
	// the comparison is complete.
	Verdict Verdict
	// Tighter is the smallest resource found that the constraints accept although
	// the union forbids it, and Looser the smallest one that they refuse although
	// the union allows it; nil if there is none. Both say what replacing the
	// constraints would do about it.
	Tighter, Looser *Difference
	// Inconclusive says what could not be judged, and why.
	Inconclusive []string
	// Complete says that every state was tried, or that trying a sample was enough.
	// It is false for large unions otherwise; see the package comment.
	Complete bool
	// States is how many states were tried, and Transitions how many pairs of an
	// old and a new one: none, unless a constraint reads oldSelf or the union
	// ratchets.
	States, Transitions int
}

// Compare says what replacing constraints of one schema by the rules of a union
// would change. Steps lead to the schema as for [Object]. The CRD and the union
// are only read.
//
// The constraints are taken alone, whatever else restricts the same object: it
// stays when they go. So what is equivalent may be replaced, in any CRD and along
// with other replacements. The reverse does not hold: constraints that differ from
// the union may still make no difference in this CRD, because something else
// refuses the counterexample, or guards a read that fails to evaluate in it. What
// the schema says outside rules and compositions holds, required and enumerations
// included, and for the values of properties their own rules, too.
//
// Only what the union says of states is compared: its rules on changes come
// beside, and change nothing that constraints on states say. A constraint that
// reads oldSelf is looser at least, therefore. A union that ratchets is as well,
// when it forbids anything: it lets stored objects in an illegal state pass that
// the constraints refuse when something else in them changes.
//
// An error means that there is no such schema or constraint, that the union does
// not fit the schema, or that ctx ended.
func Compare(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) (Comparison, error) {
	c, err := compare(ctx, crd, version, path, u, constraints)
	if err != nil {
		return Comparison{}, err
	}
	return c.Comparison, nil
}

// Replaceable finds the constraints of one schema that the rules of a union make
// superfluous: those that read something of the union and nothing but which
// members are set and the discriminator, and refuse nothing that the union
// allows. Rules that read oldSelf, or may, are not among them. They come in the
// order of the schema: rules, then allOf, anyOf, oneOf, not, minProperties and
// maxProperties.
//
// The comparison is that of all of them together with the union. Only if it is
// [Equivalent] is it safe to remove them. Otherwise it says what keeps them. Without
// any, it is that of those which look at nothing but the state of the union and
// refuse something that the union allows; it is zero when there are none of these
// either.
//
// Rules compiled for the union would be found, too: the CRD should have none.
// Errors are those of [Compare].
func Replaceable(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) ([]Constraint, Comparison, error) {
	all, _, err := Beside(crd, version, path, u)
	if err == nil && len(all)*len(u.Members) > maxReplacing {
		return nil, Comparison{}, fmt.Errorf("%d rules and schemas beside a union of %d members are more than can be tried", len(all), len(u.Members))
	}
	var c judged
	for len(all) > 0 && err == nil {
		if c, err = compare(ctx, crd, version, path, u, all); err != nil {
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
		all = kept // compared again without the others
	}
	return nil, c.Comparison, err
}

// maxReplacing bounds what Replaceable tries: constraints times members.
const maxReplacing = 20_000

var errNoUnion = errors.New("there is no union to compare with")

// judged is a comparison, and which of the constraints refuse something that
// the union allows, or cannot be judged.
type judged struct {
	Comparison
	excess []bool
}

// compare does it with the values that the rules inside the properties admit. If
// that does not tell, as when no such value was found, it is done without those
// rules: what then makes no difference makes none with them.
func compare(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) (judged, error) {
	if u == nil {
		return judged{}, errNoUnion
	}
	chain, err := chainTo(crd, version, path)
	if err != nil {
		return judged{}, err
	}
	if err := missing(chain.object(), constraints); err != nil {
		return judged{}, err
	}
	first, err := compareIn(ctx, crd, version, path, u, constraints, false)
	if err != nil || first.Verdict != Inconclusive {
		return first, err
	}
	second, err := compareIn(ctx, crd, version, path, u, constraints, true)
	if err != nil || second.Verdict != Equivalent {
		return first, err
	}
	return second, nil
}

func compareIn(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint, bare bool) (judged, error) {
	c := judged{excess: make([]bool, len(constraints))}
	chain, err := chainTo(isolated(crd, version, path, constraints, bare), version, path)
	if err != nil {
		return c, err
	}
	if doubt := tooLarge(u); doubt != "" {
		c.Verdict, c.Inconclusive = Inconclusive, []string{doubt}
		return c, nil
	}
	p, err := newProver(ctx, chain, stateful(u))
	if err != nil {
		return c, err
	}
	q := &comparing{prover: p}
	broken := q.collect(constraints, c.excess)
	g := newGenerator(ctx, crd, version)
	if c.Inconclusive, err = p.prepare(g, []*union.Union{p.u}, broken); err != nil {
		return c, err
	}
	f := q.run(g)
	c.Complete, c.States, c.Transitions = f.complete, f.states, f.transitions
	for k, n := range f.found {
		if !k.accepted && n.old == nothing {
			c.excess[q.owner[k.check]] = true
		}
	}
	differences, doubts := f.differences(p.beside)
	for _, d := range differences {
		if d.Accepted && c.Tighter == nil {
			c.Tighter = &d
		}
		if !d.Accepted && c.Looser == nil {
			c.Looser = &d
		}
	}
	c.Inconclusive = append(append(c.Inconclusive, q.doubts...), doubts...)
	if !c.Complete {
		c.Inconclusive = append(c.Inconclusive, fmt.Sprintf("the union has more states than can be tried; none of the %d that were makes a difference", c.States))
	}
	c.Verdict = c.verdict()
	return c, ctx.Err()
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

// stateful is what a union says of states, with all values it knows.
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
