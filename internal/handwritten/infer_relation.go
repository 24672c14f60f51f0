package handwritten

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/union"
)

// relations finds presence relations: conditions that no union covers, and that only say which
// properties require or exclude each other. They are one declaration, or one for each condition if
// the conditions together are not proved. Only proved ones are reported.
func (f *finder) relations(o *candidateObject, conditions []*condition) error {
	var left []*condition
	var all []pairs
	for _, c := range conditions {
		if o.claimed(c.Constraint) {
			continue
		}
		if p, ok := o.pairsOf(c); ok {
			left, all = append(left, c), append(all, p)
		}
	}
	if len(left) == 0 {
		return nil
	}
	err := f.candidates(o, o.relation(left, all))
	for i := range left {
		if err == nil && len(left) > 1 && !o.claimed(left[i].Constraint) {
			err = f.candidates(o, o.relation(left[i:i+1], all[i:i+1]))
		}
	}
	return err
}

// claimed reports whether a union of the object replaces the constraint.
func (o *candidateObject) claimed(c verify.Constraint) bool {
	return slices.ContainsFunc(o.found, func(found Found) bool { return slices.Contains(found.Replaces, c) })
}

// relation returns the declaration of the relations of conditions, if it may be declared.
func (o *candidateObject) relation(within []*condition, all []pairs) []*candidate {
	u := &union.Union{Cardinality: union.AnyNumber, Change: union.Allow}
	at := map[int]int{}
	member := func(slot int) *union.Member {
		if _, ok := at[slot]; !ok {
			at[slot] = len(u.Members)
			u.Members = append(u.Members, union.Member{Name: o.names[slot], Empty: o.emptiness(slot, within)})
		}
		return &u.Members[at[slot]]
	}
	for _, p := range all {
		for _, r := range p.required {
			if m := member(r[0]); !slices.Contains(m.Requires, o.names[r[1]]) {
				m.Requires = append(m.Requires, o.names[r[1]])
			}
			member(r[1])
		}
		for _, r := range p.apart {
			if m := member(r[0]); !slices.Contains(m.Forbids, o.names[r[1]]) && !slices.Contains(member(r[1]).Forbids, m.Name) {
				m = member(r[0])
				m.Forbids = append(m.Forbids, o.names[r[1]])
			}
			member(r[1])
		}
	}
	c := &candidate{candidateObject: o, union: u, within: within, tentative: true}
	if len(u.Members) > maxMembers || !c.mayDeclare() {
		return nil
	}
	c.replaced = within
	return []*candidate{c}
}

// pairs are relations between two properties, by slot: the first one requires the second one, or
// excludes it.
type pairs struct{ required, apart [][2]int }

// pairsOf returns the relations that a condition states. ok is false if it states anything else.
func (o *candidateObject) pairsOf(c *condition) (p pairs, ok bool) {
	if len(c.slots) < 2 || len(c.texts) > 0 || slices.ContainsFunc(c.slots, func(s int) bool { return !o.may[s] || c.sized[s] && !c.loose[s] }) {
		return p, false
	}
	within := []*condition{c}
	var states, relations []logic.Lit // of two properties, and whether the condition excludes the state
	for _, i := range c.slots {
		for _, j := range c.slots {
			a, b := o.set(i, within), o.set(j, within)
			states = append(states, o.space.And(a, b), o.space.And(a, b.Not()))
		}
	}
	possible := o.possibilities(holding(within), states)
	for n, i := range c.slots {
		for m, j := range c.slots {
			at := 2 * (n*len(c.slots) + m)
			switch {
			case i == j:
				if !possible[at] {
					return p, false // it forbids the property
				}
			case !possible[at+1]:
				p.required = append(p.required, [2]int{i, j})
				relations = append(relations, states[at+1].Not())
			case n < m && !possible[at]:
				p.apart = append(p.apart, [2]int{i, j})
				relations = append(relations, states[at].Not())
			}
		}
	}
	return p, len(relations) > 0 && !o.possible(append(relations, c.holds.Not())...)
}
