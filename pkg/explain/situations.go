package explain

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// situations has, for every condition that can be violated, the smallest
// violation: the state, or change, that violates as little as possible besides
// it and sets as little as possible. An error says that there is no validator.
func (s *subject) situations() ([]Situation, error) {
	l := []Situation{}
	judges, err := s.judges()
	if err != nil {
		return nil, err
	}
	for _, target := range s.conditions() {
		if st, ok := s.smallestState(target); ok {
			if s.required && st.Value == "" && target.Condition == union.Selected {
				l = append(l, s.absent(judges, target, st))
				if !s.admitsEmpty() {
					continue
				}
			}
			l = append(l, s.situation(target, nil, &st, judges.of(nil, s.sample(st))))
		}
	}
	l = append(l, judges.contradictions()...)
	for _, target := range []change{{union.NotCleared, false}, {union.NotAllowed, false}, {union.NotAllowed, true}} {
		if old, new, ok := s.smallestChange(target, judges); ok {
			r := judges.of(s.sample(old), s.sample(new))
			l = append(l, s.situation(union.Violation{Condition: target.condition, Member: -1}, &old, &new, r))
		}
	}
	for i, r := range s.plan.Rules {
		if r.Kind == compile.Guard {
			situation, ok, err := s.removal(i, judges)
			if err != nil {
				return nil, err
			}
			if ok {
				l = append(l, situation)
			}
		}
	}
	return l, judges.err
}

// absent is the situation that a discriminator which the schema requires is not
// there: that is for the schema to say, whereas "" is for the rules.
func (s *subject) absent(j *judges, target union.Violation, st union.State) Situation {
	sample := s.sample(st)
	delete(sample, s.Discriminator)
	found := s.situation(target, nil, &st, j.of(nil, sample))
	found.New.Empty = false
	found.Situation = s.words(st, false)
	return found
}

// mostExamples is the number of members of which situations are shown: what users read
// of the others differs in nothing but the names.
const mostExamples = 50

// conditions are all that a state could violate, of many members those of the first.
func (s *subject) conditions() []union.Violation {
	l := []union.Violation{{Condition: union.Selected, Member: -1}, {Condition: union.Unmapped, Member: -1}}
	for i := range s.Members[:min(len(s.Members), mostExamples)] {
		l = append(l, union.Violation{Condition: union.Forbidden, Member: i}, union.Violation{Condition: union.Required, Member: i})
	}
	return append(l, union.Violation{Condition: union.TooMany, Member: -1}, union.Violation{Condition: union.TooFew, Member: -1})
}

// smallestState returns the smallest state that violates a condition; ok is
// false when none does.
func (s *subject) smallestState(target union.Violation) (best union.State, ok bool) {
	var values []string
	if !s.neverUnset() {
		values = append(values, "")
	}
	if s.Discriminator != "" {
		for i, m := range s.Members {
			if i < 2 || i == target.Member {
				values = append(values, m.Values[0])
				values = append(values, m.Required()[:min(len(m.Required()), 1)]...)
			}
		}
		values = append(values, s.others...)
		if s.anyValue() || target.Condition == union.Unmapped {
			values = append(values, s.otherValue())
		}
	}
	size := 0
	for _, v := range values {
		selected := s.MembersOf(v)
		others := slices.DeleteFunc(slices.Clone(selected), func(i int) bool { return i == target.Member })
		for _, members := range [][]int{{-1}, {target.Member}, selected, others, append(selected, target.Member), {0, min(1, len(s.Members)-1)}} {
			st := s.with(v, members...)
			violations := s.Violations(st)
			if n := len(violations)<<16 + s.weight(st); slices.Contains(violations, target) && (!ok || n < size) {
				best, size, ok = st, n, true
			}
		}
	}
	return best, ok
}

// weight is how much is set in a state. A value without a member weighs more than
// a member: it is the poorer example.
func (s *subject) weight(st union.State) int {
	n := 0
	switch {
	case st.Value == "":
	case len(s.MembersOf(st.Value)) == 0:
		n = 3
	default:
		n = 1
	}
	for _, p := range st.Present {
		if p {
			n++
		}
	}
	return n
}

// change is a kind of change: to something else, or to unset.
type change struct {
	condition union.Condition
	unset     bool
}

// smallestChange returns the smallest change from a state that is legal, beside the
// union as well, that violates a condition; ok is false when none does.
func (s *subject) smallestChange(target change, j *judges) (old, new union.State, ok bool) {
	if s.Change == union.Allow || (target.condition == union.NotCleared) != (s.Change == union.Clear) || target.unset && s.neverUnset() {
		return old, new, false
	}
	choices := s.choices()
	size := 0
	for i, from := range choices {
		if ok && i > mostExamples {
			break
		}
		if j.refuse(s.sample(from.state)) {
			continue
		}
		tos := choices
		if target.unset {
			tos = []choice{{Selection{}, s.with("")}}
		}
		for _, to := range tos {
			if !target.unset && to.Selection == (Selection{}) {
				continue
			}
			st := union.State{Value: to.state.Value, Present: slices.Clone(to.state.Present)}
			if target.condition == union.NotCleared {
				for i, p := range from.state.Present {
					st.Present[i] = st.Present[i] || p
				}
			}
			violated := s.ChangeViolations(from.state, st)
			if !slices.ContainsFunc(violated, func(v union.Violation) bool { return v.Condition == target.condition }) {
				continue
			}
			if n := len(s.Judge(&from.state, st))<<16 + s.weight(from.state) + s.weight(st); !ok || n < size {
				old, new, size, ok = from.state, st, n, true
			}
		}
	}
	return old, new, ok
}

// removal returns what a removal guard forbids; ok is false when it forbids
// nothing.
func (s *subject) removal(guard int, j *judges) (found Situation, ok bool, err error) {
	at := s.plan.Rules[guard].Place
	links := links(at.Path, s.plan.Place.Path)
	if links == nil {
		return Situation{}, false, nil
	}
	path := objectPath(at.Path)
	for _, c := range s.choices() {
		if s.Removable(c.state) || j.refuse(s.sample(c.state)) {
			continue
		}
		old := s.sample(c.state)
		for _, link := range slices.Backward(links) {
			old = map[string]any{link: old}
		}
		on, err := s.sampleSchema()
		if err != nil {
			return Situation{}, false, err
		}
		for _, link := range slices.Backward(links) {
			on = object(map[string]schema{link: on})
		}
		guards, err := newValidator(on, s.rulesAt(at))
		if err != nil {
			return Situation{}, false, err
		}
		errs := guards.errors(path, old, map[string]any{})
		found = s.situation(union.Violation{Condition: "removed", Member: -1}, &c.state, nil, reading{errs, make([]string, len(errs))})
		found.Situation = fmt.Sprintf("%s removed, which had %s", plain(path.Child(links[0]).String()), s.words(c.state, s.unsetIsEmpty()))
		return found, true, nil
	}
	return Situation{}, false, nil
}

// links are the properties that lead from one schema to another below it; nil
// when there is more than properties between them.
func links(from, to schemapath.Path) []string {
	if len(to) < len(from) || !to[:len(from)].Equal(from) || to[len(from):].HasElements() {
		return nil
	}
	return to[len(from):].Properties()
}

func (s *subject) situation(v union.Violation, old, new *union.State, r reading) Situation {
	out := Situation{Condition: string(v.Condition), Old: s.stated(old), New: s.stated(new), Errors: r.errors, ByHand: r.byHand}
	if v.Member >= 0 {
		out.Member = s.Members[v.Member].Name
	}
	empty := s.unsetIsEmpty()
	switch {
	case old != nil && new != nil:
		out.Situation = fmt.Sprintf("%s, updated to %s", s.words(*old, empty), s.words(*new, empty))
	case new != nil:
		out.Situation = s.words(*new, empty)
	}
	return out
}

// words describes a state; empty says that an unset discriminator is "" in it.
func (s *subject) words(st union.State, empty bool) string {
	var names []string
	for i, p := range st.Present {
		if p {
			names = append(names, plain(s.Members[i].Name))
		}
	}
	members := list(names, "and") + " set"
	if len(names) == 0 {
		members = "no member set"
	}
	switch {
	case s.Discriminator == "":
		return members
	case st.Value == "" && empty:
		return plain(s.Discriminator) + " '', " + members
	}
	return plain(s.Discriminator) + " " + quoted(st.Value) + ", " + members
}

func (s *subject) stated(st *union.State) *State {
	if st == nil {
		return nil
	}
	out := &State{Value: st.Value, Members: []string{}, EmptyMembers: []string{}}
	out.Empty = s.Discriminator != "" && st.Value == "" && s.unsetIsEmpty()
	for i, p := range st.Present {
		if p {
			out.Members = append(out.Members, s.Members[i].Name)
		}
	}
	return out
}

// ruleAt reports whether there is a rule at a place.
func ruleAt(r compile.RulePlan, p compile.Place) bool {
	return r.Place.Version == p.Version && r.Place.Path.Equal(p.Path)
}

// rulesAt are the rules of the union at a place.
func (s *subject) rulesAt(p compile.Place) []apiextensionsv1.ValidationRule {
	var l []apiextensionsv1.ValidationRule
	for i, r := range s.rules {
		if ruleAt(s.plan.Rules[i], p) {
			l = append(l, r.Validation())
		}
	}
	return l
}
