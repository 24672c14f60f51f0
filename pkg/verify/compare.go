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

// Verdict is what replacing constraints by the rules of a union would change.
type Verdict string

const (
	// Equivalent: nothing. The constraints accept and reject what the union does.
	Equivalent Verdict = "equivalent"
	// Tighter: the union's rules would reject more than the constraints do.
	Tighter Verdict = "tighter"
	// Looser: the union's rules would accept more than the constraints do.
	Looser Verdict = "looser"
	// Different: the union's rules would reject some more, and accept some more.
	Different Verdict = "different"
	// Inconclusive: no difference was found, and something could not be decided.
	Inconclusive Verdict = "inconclusive"
)

// Comparison is what a comparison of constraints with a union found out. The
// caller owns it.
type Comparison struct {
	// Verdict is given by what follows: the differences found, and if there are
	// none whether everything could be decided. A difference found is certain. That
	// there is none of the other kind is so only when nothing was inconclusive.
	Verdict Verdict
	// Tighter is the smallest resource found that the constraints accept although
	// the union forbids it, and Looser the smallest one that they reject although
	// the union allows it; nil if there is none. Both say what replacing the
	// constraints would do about it.
	Tighter, Looser *Finding
	// Inconclusive says what could not be decided, and why.
	Inconclusive []string
}

// Compare says what replacing constraints of one schema, or rules further up, by the
// rules of a union would change. Steps lead to the schema as for [Object]. The CRD and the union
// are only read.
//
// The constraints are taken alone, whatever else restricts the same object: it
// stays when they go. So what is equivalent may be replaced, in any CRD and along
// with other replacements. The reverse does not hold: constraints that differ from
// the union may still make no difference in this CRD, because something else
// rejects the counterexample, or guards a read that fails to evaluate in it. What
// the schema says outside rules and compositions holds, required and enumerations
// included, and for the values of properties their own rules, too.
//
// Rules further up reject what the union allows, too, if they reject that its object
// is not there.
//
// Only what the union says of states is compared: its rules on changes come
// beside, and change nothing that constraints on states say. A constraint that
// rejects updates is looser at least, therefore. A union that ratchets is as well,
// when it forbids anything: it lets stored objects in an illegal state pass that
// the constraints reject when something else in them changes.
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
// members are set and the discriminator, and reject nothing that the union
// allows. Rules that read oldSelf, or may, are not among them. They come in the
// order of the schema: rules, then allOf, anyOf, oneOf, not, minProperties and
// maxProperties.
//
// The comparison is that of all of them together with the union. Only if it is
// [Equivalent] is it safe to remove them. Otherwise it says what keeps them. Without
// any, it is that of those which look at nothing but the state of the union and
// reject something that the union allows; it is zero when there are none of these
// either.
//
// Rules compiled for the union would be found, too: the CRD should have none.
// Errors are those of [Compare].
func Replaceable(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union) ([]Constraint, Comparison, error) {
	all, _, err := Beside(crd, version, path, u)
	if err == nil && len(all)*len(u.Members) > maxReplacing {
		return nil, Comparison{}, fmt.Errorf("%d rules and schemas beside a union of %d members are more than can be compared", len(all), len(u.Members))
	}
	var c compared
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

// maxReplacing bounds what Replaceable compares: constraints times members.
const maxReplacing = 20_000

var errNoUnion = errors.New("there is no union to compare with")

// compared is a comparison, and which of the constraints reject something that
// the union allows, or cannot be judged.
type compared struct {
	Comparison
	excess []bool
}

func compare(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint) (compared, error) {
	c := compared{excess: make([]bool, len(constraints))}
	p, owner, err := newComparison(ctx, crd, version, path, u, constraints, c.excess)
	if err != nil {
		return c, err
	}
	doubts, err := p.finish([]*union.Union{p.u})
	if err != nil {
		return c, err
	}
	f := &findings{problem: p, others: add(nil, Undecided, doubts...), doubtful: map[*prove.Check]bool{}}
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

// newComparison is the problem of constraints alone. Each check belongs to a constraint;
// those that cannot be evaluated are marked.
func newComparison(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, constraints []Constraint, unclear []bool) (p *problem, owner []int, err error) {
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
	for level, n := range p.Schemas {
		for _, t := range slices.Concat(n.Rules(), n.Constraints()) {
			if t.Key == "" {
				continue
			}
			of := having(constraints, t.Key, len(p.Schemas)-1-level)[t.Index]
			if p.Add(level, t) == nil {
				unclear[of] = true
				continue
			}
			owner = append(owner, of)
		}
	}
	p.Classify()
	return p, owner, nil
}

// compare looks for what the constraints accept although the union forbids it, and the
// reverse. Of each constraint it notes whether it rejects what the union allows when
// an object is created.
func (f *findings) compare(owner []int, excess []bool) error {
	p, s := f.problem, f.Space
	above := false
	for _, c := range p.Checks {
		c.Touches = true // all of them would go
		above = above || c.Level < len(p.Path)
	}
	legal, breaks := p.legal()
	for _, mode := range p.modes() {
		l := append(mode, p.new.exists)
		if err := f.accepted(breaks, false, append(l, p.accepts())...); err != nil {
			return err
		}
		l = append(l, legal)
		if above {
			// They may reject that it is not there, which is no business of the union.
			l = append(slices.Clone(mode), s.Implies(p.new.exists, legal))
		}
		var refusing []logic.Lit
		var any *prove.Example
		for i, c := range p.Checks {
			m, err := p.Possible(append(l, c.Holds.Not())...)
			if err := f.doubted(err, c.Name()+" may reject what the union allows"); err != nil {
				return err
			}
			if m == nil {
				continue
			}
			if e, err := p.Any(append(l, c.Holds.Not())...); e != nil {
				refusing, any = append(refusing, c.Holds.Not()), e
				excess[owner[i]] = excess[owner[i]] || e.Old == nil
			} else if err := f.unmade(err, m, "rejects", c); err != nil {
				return err
			}
		}
		if len(refusing) == 0 {
			continue
		}
		e, err := p.Smallest(nil, append(l, s.Or(refusing...))...)
		if err := f.unmade(err, nil, ""); err != nil {
			return err
		}
		if e == nil {
			e = any // not the smallest, but one there is
		}
		i := slices.IndexFunc(p.Checks, func(c *prove.Check) bool { return !e.Model(c.Holds) })
		f.differences = append(f.differences, difference{Example: e, check: p.Checks[i]})
	}
	return nil
}

// having are the indices of the constraints with a key, so many schemas further up.
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
