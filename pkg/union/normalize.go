package union

import "slices"

// Algorithm is a way to normalize a union: to understand what a client meant that set
// one thing and left another as it was. Both are KEP-1027's.
type Algorithm int

const (
	// KEP2019 is the algorithm of the KEP's first text: a changed discriminator clears
	// all members but its own; otherwise the one member that was added clears the
	// others, and decides the discriminator.
	KEP2019 Algorithm = iota + 1
	// KEP2022 is that of its second text: the discriminator clears all members but its
	// own, and keeps its own where a client left it out. Without one, the one member that
	// was added clears the others.
	KEP2022
)

var algorithms = names[Algorithm]{"kep-2019": KEP2019, "kep-2022": KEP2022}

// String returns the name of the algorithm.
func (a Algorithm) String() string { return algorithms.name(a) }

// AlgorithmNames returns the names of the algorithms, sorted. The caller owns the result.
func AlgorithmNames() []string { return algorithms.list() }

// AlgorithmNamed returns the algorithm with a name; ok is false when there is none.
func AlgorithmNamed(name string) (a Algorithm, ok bool) {
	a, ok = algorithms[name]
	return a, ok
}

// Algorithm is the one that suits the union: KEP2019 where the discriminator may be left
// out, which the second text does not know, else KEP2022.
func (u *Union) Algorithm() Algorithm {
	if u.Deduce {
		return KEP2019
	}
	return KEP2022
}

// For is the algorithm for a union: a itself or, when it is zero, the one that suits the
// union.
func (a Algorithm) For(u *Union) Algorithm {
	if a != 0 {
		return a
	}
	return u.Algorithm()
}

// Normalization is what normalizing does to a union object.
type Normalization struct {
	// Clear are the indices of the members that are cleared, Keep of those that stay as
	// the old object has them though the new one leaves them out. Both are ascending.
	Clear, Keep []int
	// Value is what the discriminator is set to; "" leaves it as it is.
	Value string
}

// IsZero reports whether the object stays as it is.
func (n Normalization) IsZero() bool { return len(n.Clear) == 0 && len(n.Keep) == 0 && n.Value == "" }

// Apply returns the state that s becomes, which shares nothing with s.
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

// Normalize returns what an algorithm does to an object in state new that replaces one in
// state old; with old nil the object is created. With violations nothing is done: the request
// would break them even after it, and the KEP leaves them to validation.
//
// carried, unless it is nil, reports whether the member with an index has the value of the
// old object. Then nothing is done that undoes what the client wrote: a member is cleared only
// if it is carried over and the union switches, and none is kept.
//
// Where the texts are silent:
//   - A client that leaves the state as it was does not write the union, which is left alone,
//     legal or not. Unrelated updates of a stored object that breaks the union change nothing in it.
//   - An unset discriminator is not a changed one, as in sigs.k8s.io/structured-merge-diff, for
//     a client that does not know it leaves it out.
//   - An optional member that was left out stays so, for otherwise it could never be unset.
//   - AtLeastOne is not a union to the KEP, and is left alone.
func (u *Union) Normalize(a Algorithm, old *State, new State, carried func(member int) bool) (Normalization, []Violation) {
	before := State{Present: make([]bool, len(u.Members))}
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
	// A result in the old state is not exempt from the conditions, even if the union ratchets:
	// the request would be dropped.
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

// NormalizeMerged returns what to do to an object in state s that is merged from others,
// such as a base and its overlays, where nobody knows which of them set what: the
// discriminator clears the members that it does not select. Where it is unset, or there is
// none, two members are a violation, since either could be meant. What else the union
// demands is for validation: the API server may fill it in.
func (u *Union) NormalizeMerged(s State) (Normalization, []Violation) {
	switch {
	case !u.Exclusive():
	case u.Discriminator != "" && s.Value != "":
		return u.respectValue(s), nil
	case s.count() > 1:
		return Normalization{}, []Violation{{TooMany, -1}}
	}
	return Normalization{}, nil
}

// normalize2022 does nothing without a changed discriminator if only a switch counts.
func (u *Union) normalize2022(old, new State, switched bool) Normalization {
	switch {
	case new.Value == "" && u.Deduce:
		return u.respectAdded(old, new)
	case switched && new.Value == old.Value:
		return Normalization{}
	case new.Value == "" && u.Cardinality == ExactlyOne:
		return Normalization{} // "or fail the request if the discriminator is required"
	}
	n := u.respectValue(new)
	for i, m := range u.Members {
		if slices.Contains(m.Required(), new.Value) && !new.Present[i] && old.Present[i] {
			n.Keep = append(n.Keep, i)
		}
	}
	return n
}

// normalize2019 does nothing that sets the old discriminator again if only a switch counts.
func (u *Union) normalize2019(old, new State, switched bool) Normalization {
	if new.Value != "" && new.Value != old.Value {
		return u.respectValue(new)
	}
	n := u.respectAdded(old, new)
	after := n.Apply(new)
	if after.count() != 1 {
		return n
	}
	one := slices.Index(after.Present, true)
	m := u.Members[one]
	switch {
	case slices.Contains(m.Values, new.Value):
	case len(u.MembersOf(m.Values[0])) > 1:
		return Normalization{} // one member does not tell the value
	case switched && m.Values[0] == old.Value:
		return Normalization{} // the client unset it
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

// respectAdded clears, if one member was added to others, those.
func (u *Union) respectAdded(old, new State) (n Normalization) {
	added := slices.DeleteFunc(u.indices(), func(i int) bool { return !new.Present[i] || old.Present[i] })
	if len(added) != 1 {
		return Normalization{}
	}
	for i := range u.Members {
		if new.Present[i] && i != added[0] {
			n.Clear = append(n.Clear, i)
		}
	}
	return n
}
