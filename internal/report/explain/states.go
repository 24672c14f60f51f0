package explain

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/union"
)

// smallUnion is the maximum number of members that a row lists completely.
const smallUnion = 4

// memberless returns the known values that select no member.
func (s *unionPlan) memberless() []string {
	l := []string{}
	for _, v := range s.Values {
		if len(s.MembersOf(v)) == 0 {
			l = append(l, v)
		}
	}
	return l
}

// anyValue reports whether the discriminator may have unknown values.
func (s *unionPlan) anyValue() bool {
	return s.Discriminator != "" && len(s.enum) == 0
}

// fallback returns the server's default of the discriminator, or "".
func (s *unionPlan) fallback() string {
	var value any
	if union.Defaulted(&s.written) {
		_ = json.Unmarshal(s.written.Default.Raw, &value) // the server rejects a default of another type
	}
	return s.Type.Text(value)
}

// neverUnset reports whether the discriminator is never unset, because the server sets a default
// and the schema rejects "".
func (s *unionPlan) neverUnset() bool {
	admitsEmpty := s.Type == union.StringValue && (s.enum == nil || slices.Contains(s.enum, "")) && (s.written.MinLength == nil || *s.written.MinLength == 0)
	path := s.Path(s.Discriminator)
	return s.Unset != "" || s.fallback() != "" && !admitsEmpty && union.AlwaysThere(&s.schema, path[:len(path)-1])
}

// otherValue returns an unknown value of the discriminator.
func (s *unionPlan) otherValue() string {
	v, more := "Other", "X"
	if s.Type == union.IntegerValue {
		v, more = "1", "0"
	}
	for slices.Contains(s.Values, v) {
		v += more
	}
	return v
}

// stateWith returns the state with a value and with the members of these indices. It ignores -1.
func (s *unionPlan) stateWith(value string, members ...int) union.State {
	st := union.State{Value: value, Present: make([]bool, len(s.Members))}
	for _, i := range members {
		if i >= 0 {
			st.Present[i] = true
		}
	}
	return st
}

// Violations returns the conditions that a state violates.
func (s *unionPlan) Violations(st union.State) []union.Violation { return s.conditions.Broken(st, st) }

func (s *unionPlan) legal(st union.State) bool { return len(s.Violations(st)) == 0 }

// states describes all states, with one row for each group of values that select the same members.
// Without a discriminator there is one row.
func (s *unionPlan) states() []States {
	row := func(values []string, other bool, sample string) States {
		accepted, rejected := s.verdicts(sample)
		return States{Values: values, AnyOther: other, Accepted: accepted, Rejected: rejected}
	}
	if s.Discriminator == "" {
		return []States{row([]string{}, false, "")}
	}
	l := []States{}
	if !s.neverUnset() {
		l = append(l, row([]string{""}, false, ""))
	}
	for _, c := range s.Classes() {
		l = append(l, row(c.Values, false, c.Values[0]))
	}
	switch known := s.memberless(); {
	case len(known) > 0: // unknown values have the same effect
		l = append(l, row(known, s.anyValue(), known[0]))
	case s.anyValue():
		l = append(l, row([]string{}, true, s.otherValue()))
	}
	return l
}

// verdicts describes the members that may be set with a value, and the reasons why other states are
// rejected.
func (s *unionPlan) verdicts(value string) (string, []Rejection) {
	if s.Relates() {
		return "all others", s.related()
	}
	if s.Grouped() {
		return s.byGroup()
	}
	if accepted, rejected, ok := s.byNumber(value); ok {
		return accepted, rejected
	}
	selected := s.MembersOf(value)
	none, all := s.stateWith(value), s.stateWith(value, selected...)
	base, accepted := all, ""
	switch {
	case len(selected) > 0 && s.legal(all):
		accepted = s.belonging(value, selected)
	case s.legal(none):
		base, accepted = none, "none"
	default:
		// A violation by an object without members remains with any members.
		return "nothing", []Rejection{{"always", s.why(s.Violations(none))}}
	}
	type group struct{ prefix, why string }
	var order []group
	names := map[group][]string{}
	for i, m := range s.Members {
		st := union.State{Value: value, Present: slices.Clone(base.Present)}
		st.Present[i] = !st.Present[i]
		violations := s.Violations(st)
		if len(violations) == 0 {
			continue
		}
		g := group{"with ", s.why(violations)}
		if base.Present[i] {
			g.prefix = "without "
		}
		if !slices.Contains(order, g) {
			order = append(order, g)
		}
		names[g] = append(names[g], plain(m.Name))
	}
	rejected := []Rejection{}
	for _, g := range order {
		who := english.List(names[g], "or")
		if others := len(s.Members) - len(selected); g.prefix == "with " && len(names[g]) >= smallUnion && len(names[g]) == others {
			if who = "any other"; len(selected) == 0 {
				who = "any member"
			}
		}
		rejected = append(rejected, Rejection{g.prefix + who, g.why})
	}
	return accepted, rejected
}

// related describes the combinations that presence relations reject.
func (s *unionPlan) related() []Rejection {
	l := []Rejection{}
	for _, r := range s.Relations() {
		with, member := "with "+english.List(english.Each(s.NamesOf(r.Others), plain), "or"), plain(s.Members[r.Member].Name)
		if r.Condition == union.Forbidden {
			l = append(l, Rejection{with + ", and with " + member, "forbidden"})
		} else {
			l = append(l, Rejection{with + ", without " + member, "required"})
		}
	}
	return l
}

// belonging describes the members that a value selects, and which of them may stay unset.
func (s *unionPlan) belonging(value string, selected []int) string {
	var must, may []string
	for _, i := range selected {
		if m := s.Members[i]; slices.Contains(m.Optional, value) {
			may = append(may, plain(m.Name))
		} else {
			must = append(must, plain(m.Name))
		}
	}
	switch {
	case len(may) == 0:
		return english.List(must, "and")
	case len(must) > 0:
		return english.List(must, "and") + ", with or without " + english.List(may, "and")
	case len(may) > 1:
		return "any of " + english.List(may, "and") + ", or none"
	}
	return may[0] + " or none"
}

// byNumber describes a value for which only the number of set members matters. ok is false for
// other values.
func (s *unionPlan) byNumber(value string) (accepted string, rejected []Rejection, ok bool) {
	verdicts := map[int]string{} // by the number of members; 2 stands for more
	for _, members := range s.sets() {
		violations := s.Violations(s.stateWith(value, members...))
		for _, v := range violations {
			if v.Member >= 0 || v.Condition == union.Unmapped {
				return "", nil, false
			}
		}
		n := min(len(members), 2)
		why := s.why(violations)
		if before, seen := verdicts[n]; seen && before != why {
			return "", nil, false
		}
		verdicts[n] = why
	}
	when := []string{"with none", "with one", "with two or more"}
	key := ""
	rejected = []Rejection{}
	for n := range min(len(s.Members), 2) + 1 {
		if verdicts[n] == "" {
			key += string(rune('0' + n))
		} else {
			rejected = append(rejected, Rejection{when[n], verdicts[n]})
		}
	}
	words := map[string]string{
		"": "nothing", "0": "none", "1": "any one", "2": "two or more",
		"01": "none or any one", "12": "one or more", "02": "none, or two or more", "012": "any",
	}
	return words[key], rejected, true
}

// byGroup describes the states of a union with groups.
func (s *unionPlan) byGroup() (accepted string, rejected []Rejection) {
	var names []string
	groups := s.Groups()
	for _, g := range groups {
		names = append(names, s.belonging(g.Name, g.Members))
		if required := s.Require(g); len(required) > 0 {
			rejected = append(rejected, Rejection{"with a part of " + plain(g.Name) + " without " + english.List(english.Each(s.NamesOf(required), plain), "or"), "required"})
		}
	}
	accepted = english.List(names, "or")
	if none := s.stateWith(""); s.legal(none) {
		accepted = "none, or " + accepted
	} else {
		rejected = append(rejected, Rejection{"with none", s.why(s.Violations(none))})
	}
	all := s.stateWith("")
	for i := range all.Present {
		all.Present[i] = true
	}
	switch {
	case len(groups) == 1:
	case s.legal(all):
		accepted += ", or several of these"
	default:
		rejected = append(rejected, Rejection{"with two or more of these", s.why(s.Violations(all))})
	}
	return accepted, rejected
}

// sets returns sets of members. For a small union these are all sets. For other unions these are
// the sets of up to one member, a pair for each member, and the set of all members.
func (s *unionPlan) sets() [][]int {
	n := len(s.Members)
	var l [][]int
	if n <= smallUnion {
		for set := range 1 << n {
			var members []int
			for i := range n {
				if set>>i&1 == 1 {
					members = append(members, i)
				}
			}
			l = append(l, members)
		}
		return l
	}
	all := []int{}
	l = append(l, nil)
	for i := range n {
		all = append(all, i)
		l = append(l, []int{i}, []int{i, (i + 1) % n})
	}
	return append(l, all)
}

// why describes the violations of a state in a few words, or "" if there are none.
func (s *unionPlan) why(violations []union.Violation) string {
	var l []string
	for _, v := range violations {
		word := map[union.Condition]string{
			union.Forbidden: "forbidden", union.Required: "required", union.TooMany: "too many", union.TooFew: "too few",
			union.Selected: plain(s.Discriminator) + " is required", union.Unmapped: "not a value of a member",
		}[v.Condition]
		if !slices.Contains(l, word) {
			l = append(l, word)
		}
	}
	return english.List(l, "and")
}

// choice is a selection with a legal state of this selection.
type choice struct {
	Selection
	state union.State
}

// choices returns the selections of legal states, with the selected members set.
func (s *unionPlan) choices() []choice {
	var l []choice
	add := func(sel Selection, value string, members ...int) {
		for _, st := range []union.State{s.stateWith(value, members...), s.stateWith(value)} {
			if s.legal(st) {
				l = append(l, choice{sel, st})
				return
			}
		}
	}
	if !s.Exclusive() {
		return nil
	}
	if !s.neverUnset() {
		add(Selection{}, "")
	}
	if s.Discriminator == "" {
		for _, g := range s.Groups() {
			add(Selection{Value: g.Name}, "", g.Members...)
		}
		return l
	}
	for _, v := range s.Values {
		add(Selection{Value: v}, v, s.MembersOf(v)...)
	}
	if s.anyValue() {
		add(Selection{AnyOther: true}, s.otherValue())
	}
	return l
}

// changes returns the selections to which each selection may change.
func (s *unionPlan) changes() []Changes {
	l := []Changes{}
	choices, changes := s.choices(), s.Changes()
	for i, from := range choices {
		c := Changes{From: from.Selection, To: []Selection{}}
		for j, to := range choices {
			if i != j && len(changes.Broken(from.state, to.state)) == 0 { // both states are legal
				c.To = append(c.To, to.Selection)
			}
		}
		l = append(l, c)
	}
	return l
}
