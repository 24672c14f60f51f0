package compile

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// Possible returns every rule that compiling may write for the unions, whatever the budgets and the
// schemas around them: in each encoding, and with a removal guard on each ancestor. A rule that is
// not among them is not one of this package. Unions with errors have no rules.
func (c *Compilation) Possible() []Addition {
	k := c.compiler
	k.understand()
	var l []Addition
	for _, o := range k.objects {
		for _, u := range o.Unions {
			if u == nil {
				continue
			}
			l = append(l, Addition{Place: o.Place, Rules: k.possible(u)})
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
