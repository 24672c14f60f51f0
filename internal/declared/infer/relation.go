package infer

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// relations finds presence relations: conditions that no union covers, and that only say which
// properties require or exclude each other. They are one declaration, or one for each condition if
// the conditions together are not proved. Only proved ones are reported.
func (f *finder) relations(o *candidateObject, conditions []*condition) error {
	var left []*condition
	var all []pairs
	for _, c := range conditions {
		if f.claimed(c.Constraint) {
			continue
		}
		if p, ok := o.pairsOf(c); ok {
			left, all = append(left, c), append(all, p)
		}
	}
	if len(left) == 0 {
		return nil
	}
	accepted, err := f.relate(o, left, all)
	if err != nil || accepted || len(left) == 1 {
		return err
	}
	for i := range left {
		if _, err := f.relate(o, left[i:i+1], all[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// claimed reports whether a union of the current object replaces the constraint.
func (f *finder) claimed(c verify.Constraint) bool {
	return slices.ContainsFunc(f.found[f.object], func(found Found) bool { return slices.Contains(found.Replaces, c) })
}

// relate adds the relations of conditions as one declaration, if it is proved.
func (f *finder) relate(o *candidateObject, within []*condition, all []pairs) (bool, error) {
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
	c := &candidate{candidateObject: o, union: u, within: within, replaced: within, tentative: true}
	if c.resolved = o.resolve(u); c.resolved == nil || len(u.Members) > maxMembers {
		return false, nil
	}
	found, err := f.attempt(c, c.resolved, within)
	if err != nil || found.Comparison.Verdict != verify.Equivalent {
		return false, err
	}
	found.Union = f.withMessages(c, found)
	f.add(found)
	return true, nil
}

// pairs are relations between two properties, by slot: the first one requires the second one, or
// excludes it.
type pairs struct{ required, apart [][2]int }

// pairsOf returns the relations that a condition states. ok is false if it states anything else.
func (o *candidateObject) pairsOf(c *condition) (p pairs, ok bool) {
	n := len(c.slots)
	if n < 2 || n > maxRelated || len(c.texts) > 0 || slices.ContainsFunc(c.slots, func(s int) bool { return !o.may[s] || c.sized[s] && !c.loose[s] }) {
		return p, false
	}
	t := c.table(o, -1)
	if _, few := t.members(); !few || !o.affords(t, 1) {
		return p, false
	}
	accepts := make([]bool, 1<<n) // by set of properties
	t.each(absent, func(object []value) {
		set := 0
		for i, slot := range c.slots {
			if c.isSet(slot, object[slot]) {
				set |= 1 << i
			}
		}
		accepts[set] = c.accepts(object)
	})
	has := func(set, i int) bool { return set>>i&1 == 1 }
	// some reports whether the condition accepts a set with i, and with or without j.
	some := func(i, j int, with bool) bool {
		for set, accepted := range accepts {
			if accepted && has(set, i) && has(set, j) == with {
				return true
			}
		}
		return false
	}
	for i := range n {
		for j := range n {
			switch {
			case i == j:
				if !some(i, i, true) {
					return p, false // it forbids the property
				}
			case !some(i, j, false):
				p.required = append(p.required, [2]int{i, j})
			case i < j && !some(i, j, true):
				p.apart = append(p.apart, [2]int{i, j})
			}
		}
	}
	for set, accepted := range accepts {
		broken := slices.ContainsFunc(p.required, func(r [2]int) bool { return has(set, r[0]) && !has(set, r[1]) }) ||
			slices.ContainsFunc(p.apart, func(r [2]int) bool { return has(set, r[0]) && has(set, r[1]) })
		if accepted == broken {
			return p, false
		}
	}
	for _, l := range [][][2]int{p.required, p.apart} {
		for i := range l {
			l[i] = [2]int{c.slots[l[i][0]], c.slots[l[i][1]]}
		}
	}
	return p, len(p.required)+len(p.apart) > 0
}

// maxRelated is the maximum number of properties in a condition with relations.
const maxRelated = 8

// wrongRelations returns objects with a single error of presence relations.
func wrongRelations(u *union.Union, try func(members ...int)) {
	// with returns the members that given members require, including these, but not the excluded one.
	with := func(excluded int, members ...int) []int {
		s := union.State{Present: make([]bool, len(u.Members))}
		for len(members) > 0 {
			for _, i := range members {
				s.Present[i] = true
			}
			members = nil
			for _, v := range u.Violations(s) {
				if v.Condition == union.Required && v.Member != excluded {
					members = append(members, v.Member)
				}
			}
		}
		var l []int
		for i, is := range s.Present {
			if is {
				l = append(l, i)
			}
		}
		return l
	}
	for _, r := range u.Relations() {
		for _, by := range r.Others {
			if r.Condition == union.Required {
				try(with(r.Member, by)...)
			} else {
				try(with(-1, by, r.Member)...)
			}
		}
	}
}
