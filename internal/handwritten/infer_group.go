package handwritten

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// maxGrouped is the maximum number of properties of a union with groups.
const maxGrouped = 8

// grouped finds the unions with groups of properties that are set together. Only proved ones are
// reported.
func (o *candidateObject) grouped(about []*condition) []*candidate {
	var l []*candidate
	for _, within := range connected(about) {
		var slots []int
		for _, c := range within {
			slots = append(slots, c.slots...)
		}
		slices.Sort(slots)
		if slots = slices.Compact(slots); len(slots) < 3 || len(slots) > maxGrouped {
			continue
		}
		if u := o.groupUnion(slots, within); u != nil {
			l = append(l, &candidate{candidateObject: o, union: u, within: within, tentative: true})
		}
	}
	return l
}

// connected splits conditions into sets that have no property in common.
func connected(conditions []*condition) [][]*condition {
	var l [][]*condition
	for _, c := range conditions {
		joined := []*condition{c}
		l = slices.DeleteFunc(l, func(other []*condition) bool {
			shares := slices.ContainsFunc(other, func(k *condition) bool {
				return slices.ContainsFunc(k.slots, func(s int) bool { return slices.Contains(c.slots, s) })
			})
			if shares {
				joined = append(slices.Clone(other), joined...)
			}
			return shares
		})
		l = append(l, joined)
	}
	return l
}

// groupUnion returns the union whose groups are the properties that may be set together, or nil if there
// are no two groups, or no group has several properties.
func (o *candidateObject) groupUnion(slots []int, within []*condition) *union.Union {
	given := holding(within)
	var set, unset, pairs []logic.Lit
	for _, slot := range slots {
		set, unset = append(set, o.set(slot, within)), append(unset, o.set(slot, within).Not())
	}
	for i := range slots {
		for j := range i {
			pairs = append(pairs, o.space.And(set[i], set[j]))
		}
	}
	group := make([]int, len(slots)) // the first property of the group
	together := o.possibilities(given, pairs)
	for i := range slots {
		group[i] = i
		for j := range i {
			if together[i*(i-1)/2+j] {
				first, was := min(group[i], group[j]), max(group[i], group[j])
				for k := range i + 1 {
					if group[k] == was {
						group[k] = first
					}
				}
			}
		}
	}
	u := &union.Union{Cardinality: union.AtMostOne, Change: union.Allow}
	if !o.possible(append(given, unset...)...) {
		u.Cardinality = union.ExactlyOne
	}
	groups, several := 0, false
	for i := range slots {
		if group[i] != i {
			continue
		}
		groups++
		var inGroup, states []logic.Lit
		var members, optional []int // the required members come first
		var all []int
		for j := range slots {
			if group[j] == i {
				inGroup, states, all = append(inGroup, set[j]), append(states, unset[j]), append(all, j)
			}
		}
		lacks := o.possibilities(append(given, o.space.Or(inGroup...)), states)
		for k, j := range all {
			if lacks[k] {
				optional = append(optional, j)
			} else {
				members = append(members, j)
			}
		}
		members = append(members, optional...)
		several = several || len(members) > 1
		var names []string
		for _, j := range members {
			names = append(names, o.names[slots[j]])
		}
		name := union.GroupName(names...)
		for _, j := range members {
			m := union.Member{Name: o.names[slots[j]], Empty: o.emptiness(slots[j], within)}
			if len(members) > 1 {
				if m.Values = []string{name}; slices.Contains(optional, j) {
					m.Optional = m.Values
				}
			}
			u.Members = append(u.Members, m)
		}
	}
	if !several || groups < 2 {
		return nil
	}
	return u
}
