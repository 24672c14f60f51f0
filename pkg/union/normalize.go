package union

import "slices"

// Algorithm is a way to normalize a union: it completes the intended change of a client that
// set only the discriminator or only a member. Both algorithms are from KEP-1027.
type Algorithm int

const (
	// KEP2019 is the algorithm of the KEP's first text. A changed discriminator clears
	// all members that it does not select. Otherwise a single added member clears the
	// others, and determines the discriminator.
	KEP2019 Algorithm = iota + 1
	// KEP2022 is the algorithm of the KEP's second text. The discriminator clears all
	// members that it does not select, and keeps a selected member that a client left out.
	// Without a discriminator, a single added member clears the others.
	KEP2022
)

var algorithms = names[Algorithm]{"kep-2019": KEP2019, "kep-2022": KEP2022}

// String returns the name of the algorithm.
func (a Algorithm) String() string { return algorithms.name(a) }

// AlgorithmNames returns the names of the algorithms, sorted. The caller owns the result.
func AlgorithmNames() []string { return algorithms.list() }

// AlgorithmNamed returns the algorithm with a name; ok is false if there is none.
func AlgorithmNamed(name string) (a Algorithm, ok bool) {
	a, ok = algorithms[name]
	return a, ok
}

// Algorithm returns the default algorithm for the union: KEP2022 or, if the discriminator may be
// deduced, KEP2019. The KEP's second text has no deduction.
func (u *Union) Algorithm() Algorithm {
	if u.Deduce {
		return KEP2019
	}
	return KEP2022
}

// OrDefault returns a or, if a is zero, the default algorithm for the union.
func (a Algorithm) OrDefault(u *Union) Algorithm {
	if a != 0 {
		return a
	}
	return u.Algorithm()
}

// Normalization is the change that normalizing makes to a union object.
type Normalization struct {
	// Clear are the indices of the members to clear. Keep are the indices of the members to
	// copy from the old object because the new object leaves them out. Both are sorted.
	Clear, Keep []int
	// Value is the new value of the discriminator; "" leaves it unchanged.
	Value string
}

// IsZero reports whether the object stays unchanged.
func (n Normalization) IsZero() bool { return len(n.Clear) == 0 && len(n.Keep) == 0 && n.Value == "" }

// Apply returns the normalized state. It shares nothing with s.
func (n Normalization) Apply(s State) State {
	s.Present = slices.Clone(s.Present)
	for _, i := range n.Clear {
		s.Present[i] = false
	}
	for _, i := range n.Keep {
		s.Present[i] = true
	}
	if n.Value != "" {
		s.Value = n.Value
	}
	return s
}

// Normalize returns the normalization of an object in state new that replaces one in state old; if
// old is nil, the object is created. If the normalized object would still violate the union,
// Normalize returns the violations and a zero Normalization: the KEP leaves them to validation.
//
// carried, unless nil, reports whether a member, given by index, has the value of the old object.
// Normalization then does not undo changes of the client: it clears only members that are carried
// over, only if the union switches, and keeps no members.
//
// Where the KEP is silent:
//   - A client that leaves the state unchanged does not write the union. The union stays as it is,
//     legal or not, so that unrelated updates do not change it in a stored object.
//   - Unsetting the discriminator is not a change, as in sigs.k8s.io/structured-merge-diff:
//     a client that does not know the discriminator leaves it out. With Unset, leaving it out is a
//     change to that value.
//   - An optional member that was left out stays unset; otherwise it could never be unset.
//   - AtLeastOne is not a union in the KEP, and stays unchanged.
func (u *Union) Normalize(a Algorithm, old *State, new State, carried func(member int) bool) (Normalization, []Violation) {
	before := State{Value: u.Unset, Present: make([]bool, len(u.Members))}
	if old != nil {
		before = *old
	}
	var n Normalization
	switch {
	case !u.Exclusive() || old != nil && old.Equal(new):
		return n, u.Judge(old, new)
	case u.Discriminator == "":
		n = u.respectAdded(before, new)
	case a == KEP2019:
		n = u.normalize2019(before, new, carried != nil)
	default:
		n = u.normalize2022(before, new, carried != nil)
	}
	if carried != nil {
		n.Keep = nil
		n.Clear = slices.DeleteFunc(n.Clear, func(i int) bool { return !carried(i) })
	}
	// Not Judge: if the union ratchets, Judge would accept a result that equals the old state,
	// and the client's change would be lost.
	after := n.Apply(new)
	l := u.Violations(after)
	if old != nil {
		l = append(l, u.ChangeViolations(*old, after)...)
	}
	if len(l) > 0 {
		return Normalization{}, l
	}
	return n, nil
}

// NormalizeMerged returns the normalization of an object in state s that was merged from other
// objects, such as a base and its overlays. The source of each field is unknown. The discriminator
// clears the members that it does not select. Without a set discriminator, two members are a
// violation, since either could be meant. Other conditions are left to validation: the API server
// may still set defaults.
func (u *Union) NormalizeMerged(s State) (Normalization, []Violation) {
	switch {
	case !u.Exclusive():
	case u.Discriminator != "" && s.Value != "":
		return u.respectValue(s), nil
	case len(u.PresentGroups(s)) > 1:
		return Normalization{}, []Violation{{TooMany, -1}}
	}
	return Normalization{}, nil
}

// normalize2022 implements KEP2022. If switched, it acts only on a changed discriminator.
func (u *Union) normalize2022(old, new State, switched bool) Normalization {
	switch {
	case new.Value == "" && u.Deduce:
		return u.respectAdded(old, new)
	case switched && new.Value == old.Value:
		return Normalization{}
	case new.Value == "" && u.Cardinality == ExactlyOne:
		return Normalization{} // KEP: "or fail the request if the discriminator is required"
	}
	n := u.respectValue(new)
	for i, m := range u.Members {
		if slices.Contains(m.Required(), new.Value) && !new.Present[i] && old.Present[i] {
			n.Keep = append(n.Keep, i)
		}
	}
	return n
}

// normalize2019 implements KEP2019. If switched, it does not restore the old discriminator.
func (u *Union) normalize2019(old, new State, switched bool) Normalization {
	if new.Value != "" && new.Value != old.Value {
		return u.respectValue(new)
	}
	n := u.respectAdded(old, new)
	after := n.Apply(new)
	one := after.Set()
	if len(one) != 1 {
		return n
	}
	m := u.Members[one[0]]
	switch {
	case slices.Contains(m.Values, new.Value):
	case len(u.MembersOf(m.Values[0])) > 1:
		return Normalization{} // the value selects further members
	case switched && m.Values[0] == old.Value:
		return Normalization{} // the client unset the discriminator
	default:
		n.Value = m.Values[0]
	}
	return n
}

// respectValue clears the members that the discriminator does not select.
func (u *Union) respectValue(s State) (n Normalization) {
	for i, m := range u.Members {
		if s.Present[i] && !slices.Contains(m.Values, s.Value) {
			n.Clear = append(n.Clear, i)
		}
	}
	return n
}

// respectAdded clears all other groups if exactly one group was added.
func (u *Union) respectAdded(old, new State) (n Normalization) {
	before := u.PresentGroups(old)
	added := slices.DeleteFunc(u.PresentGroups(new), func(g Group) bool {
		return slices.ContainsFunc(before, func(o Group) bool { return o.Name == g.Name })
	})
	if len(added) != 1 {
		return Normalization{}
	}
	for i := range u.Members {
		if new.Present[i] && !slices.Contains(added[0].Members, i) {
			n.Clear = append(n.Clear, i)
		}
	}
	return n
}
