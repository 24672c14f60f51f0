package compile

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// Possible returns every rule that compiling may write for the unions, whatever the budgets and the
// schemas around them: in each encoding, and with a removal guard on each ancestor. Unions with errors
// have no rules. With before, it also returns the rules from before an edit of the schema that requires
// a discriminator, or no longer does so: any other rule is not one of this package.
func (c *Compilation) Possible(before bool) []Addition {
	k := c.compiler
	k.understand()
	var l []Addition
	for _, o := range k.objects {
		for _, u := range o.Unions {
			if u == nil {
				continue
			}
			l = append(l, Addition{Place: o.Place, Rules: k.possible(u)})
			if before && u.Discriminator != "" && !u.Deduce && u.Unset == "" {
				l = append(l, Addition{Place: o.Place, Rules: k.possible(edited(u))})
			}
			for i, step := range slices.Backward(o.Path) {
				if _, ok := step.Property(); !ok || !u.Guarded() {
					break
				}
				if r, ok := rules.RemovalGuard(u, o.Path[i:].Properties()); ok {
					l = append(l, Addition{Place: o.Up(i), Rules: []rules.Rule{r}})
				}
			}
		}
	}
	for _, a := range l {
		for i, r := range a.Rules {
			a.Rules[i] = r.Trim(k.kube.features)
		}
	}
	return l
}

// edited returns the union before someone edited the schema of its discriminator, so that a rule has
// to require it and did not before, or the reverse.
func edited(u *union.Union) *union.Union {
	before := *u
	before.DiscriminatorRequired = u.Cardinality == union.ExactlyOne && !u.DiscriminatorRequired
	before.Cardinality = union.ExactlyOne
	return &before
}

// possible returns the rules of a union on its object in all encodings.
func (c *compiler) possible(u *union.Union) []rules.Rule {
	var l []rules.Rule
	for _, change := range comparisons(u, max(len(u.Members), 1)) {
		l = append(l, rules.Transition(u, change)...)
	}
	if u.Ratchet {
		for _, s := range c.ratchets(u) {
			l = append(l, rules.Ratcheting(u, s.encoding, s.ratchet)...)
		}
		return l
	}
	encodings := append(encodingsOf(groupings(max(len(u.Members), 1))), rules.Paired)
	if u.Discriminator != "" || len(u.Members) <= longestFine {
		encodings = append(encodings, rules.Fine)
	}
	for _, e := range encodings {
		l = append(l, rules.Static(u, e)...)
	}
	return l
}
