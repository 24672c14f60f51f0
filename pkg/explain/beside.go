package explain

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// refused is the condition of what the union allows, but something hand-written does not.
const refused = "refused"

// judges validate objects as the API server does, and tell what causes each error.
type judges struct {
	subject *subject
	server  *judge   // of the union and all constraints beside it
	union   *judge   // of the union
	each    []*judge // of each constraint, once it is asked for
	err     error    // the first
}

func (s *subject) judges() (*judges, error) {
	j := &judges{subject: s, each: make([]*judge, len(s.plan.Beside))}
	var err error
	if j.server, err = s.judge(true, s.plan.Beside...); err == nil && len(j.each) > 0 {
		j.union, err = s.judge(true)
	}
	return j, err
}

// reading is the lines of errors, and the hand-written constraint that causes each.
type reading struct{ errors, byHand []string }

// of returns what users read of an object, or of an update.
func (j *judges) of(old, new map[string]any) reading {
	r := reading{errors: j.server.errors(old, new)}
	r.byHand = make([]string, len(r.errors))
	if len(j.each) == 0 {
		return r
	}
	own := j.union.errors(old, new)
	const counted = "allOf" // the API server says how many of all that there are hold
	for i, line := range r.errors {
		if !slices.Contains(own, line) {
			r.byHand[i] = counted
		}
	}
	for k := 0; k < len(j.each) && slices.Contains(r.byHand, counted); k++ {
		for _, line := range j.alone(k, old, new) {
			if i := slices.Index(r.errors, line); i >= 0 && r.byHand[i] == counted {
				r.byHand[i] = j.subject.plan.Beside[k].Name
			}
		}
	}
	return r
}

// alone returns the errors of nothing but one constraint.
func (j *judges) alone(i int, old, new map[string]any) []string {
	if j.each[i] == nil && j.err == nil {
		j.each[i], j.err = j.subject.judge(false, j.subject.plan.Beside[i])
	}
	if j.err != nil {
		return nil
	}
	return j.each[i].errors(old, new)
}

// refuse reports whether a hand-written constraint rejects the creation of an object.
func (j *judges) refuse(sample map[string]any) bool {
	return len(j.each) > 0 && slices.ContainsFunc(j.of(nil, sample).byHand, func(by string) bool { return by != "" })
}

// contradictions has, for every hand-written constraint that rejects what the union allows,
// the first such state.
func (j *judges) contradictions() []Situation {
	s := j.subject
	var l []Situation
	seen := map[string]bool{}
	try := func(st union.State, empty ...int) {
		if len(seen) >= len(j.each) {
			return
		}
		r := j.of(nil, s.sample(st, empty...))
		fresh := false
		for _, by := range r.byHand {
			if by != "" && !seen[by] {
				seen[by], fresh = true, true
			}
		}
		if !fresh {
			return
		}
		found := s.situation(union.Violation{Condition: refused, Member: -1}, nil, &st, r)
		for _, i := range empty {
			found.New.EmptyMembers = append(found.New.EmptyMembers, s.Members[i].Name)
			found.Situation += ", " + plain(s.Members[i].Name) + " empty"
		}
		found.Situation += ", which the union allows"
		l = append(l, found)
	}
	legal := s.legalStates()
	for _, st := range legal {
		try(st)
	}
	for i, m := range s.Members[:min(len(s.Members), mostExamples)] {
		for _, st := range legal {
			if m.Empty != union.PresentWhenEmpty && !st.Present[i] {
				try(st, i)
			}
		}
	}
	return l
}

// legalStates are legal states, of many members those with the first.
func (s *subject) legalStates() []union.State {
	var l []union.State
	add := func(value string, members ...int) {
		if st := s.with(value, members...); s.legal(st) {
			l = append(l, st)
		}
	}
	if s.Discriminator == "" {
		add("")
		for i := range min(len(s.Members), mostExamples) {
			add("", i)
		}
		for i := range min(len(s.Members), mostExamples) {
			add("", i, (i+1)%len(s.Members))
		}
		return l
	}
	values := s.Values[:min(len(s.Values), mostExamples)]
	if !s.neverUnset() {
		values = append([]string{""}, values...)
	}
	if s.anyValue() && s.admitsOther() {
		values = append(slices.Clip(values), s.otherValue())
	}
	for _, v := range values {
		add(v)
		add(v, s.MembersOf(v)...)
	}
	return l
}
