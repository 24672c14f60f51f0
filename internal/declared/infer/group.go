package infer

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// maxGrouped is the maximum number of properties of a union with groups.
const maxGrouped = 8

// grouped finds the unions with groups of properties that are set together. It compares the sets of
// properties that all conditions on them accept with the sets that a union allows.
func (o *candidateObject) grouped(about []*condition) []*candidate {
	var l []*candidate
	for _, within := range connected(about) {
		var slots []int
		for _, c := range within {
			for _, s := range c.slots {
				if !slices.Contains(slots, s) {
					slots = append(slots, s)
				}
			}
		}
		if len(slots) < 3 || len(slots) > maxGrouped {
			continue
		}
		slices.Sort(slots)
		if accepted, ok := o.acceptedSets(within, slots); ok {
			if u := o.groupUnion(slots, accepted, within); u != nil {
				l = append(l, &candidate{candidateObject: o, union: u, within: within, tentative: true})
			}
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

// acceptedSets returns, for each set of the properties, whether all conditions accept it. Bit i of
// the index stands for slots[i]. ok is false if this is too much work.
func (o *candidateObject) acceptedSets(conditions []*condition, slots []int) (accepted []bool, ok bool) {
	accepted = make([]bool, 1<<len(slots))
	for _, c := range conditions {
		if !o.spend(len(accepted) * c.size) {
			return nil, false
		}
	}
	for set := range accepted {
		object := make([]value, len(o.names))
		for i, s := range slots {
			if set>>i&1 == 1 {
				object[s] = full
			}
		}
		accepted[set] = !slices.ContainsFunc(conditions, func(c *condition) bool { return !c.accepts(object) })
	}
	return accepted, true
}

// groupUnion returns the union that allows exactly the accepted sets of properties, or nil. Two
// properties are in one group if some accepted set has both.
func (o *candidateObject) groupUnion(slots []int, accepted []bool, within []*condition) *union.Union {
	group := make([]int, len(slots))
	for i := range group {
		group[i] = i
	}
	for set, ok := range accepted {
		first := -1
		for i := range slots {
			switch {
			case !ok || set>>i&1 == 0:
			case first < 0:
				first = group[i]
			case group[i] != first:
				was := group[i]
				for j := range group {
					if group[j] == was {
						group[j] = first
					}
				}
			}
		}
	}
	u := &union.Union{Cardinality: union.AtMostOne, Change: union.Allow}
	if !accepted[0] {
		u.Cardinality = union.ExactlyOne
	}
	several, done := 0, map[int]bool{}
	for i := range slots {
		if done[group[i]] {
			continue
		}
		done[group[i]] = true
		var members, optional []int // the required members come first
		touching := 0
		for j := range slots {
			if group[j] == group[i] {
				touching |= 1 << j
			}
		}
		for j := range slots {
			lacks := false
			for set, ok := range accepted {
				lacks = lacks || ok && set&touching != 0 && set>>j&1 == 0
			}
			switch {
			case touching>>j&1 == 0:
			case lacks:
				optional = append(optional, j)
			default:
				members = append(members, j)
			}
		}
		members = append(members, optional...)
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
		if len(members) > 1 {
			several++
		}
	}
	if several == 0 || len(done) < 2 {
		return nil
	}
	conditions := u.Conditions()
	for set, ok := range accepted {
		s := union.State{Present: make([]bool, len(u.Members))}
		for i, m := range u.Members {
			at := slices.IndexFunc(slots, func(slot int) bool { return o.names[slot] == m.Name })
			s.Present[i] = set>>at&1 == 1
		}
		if ok != (len(conditions.Broken(s, s)) == 0) {
			return nil
		}
	}
	return u
}
